"""Commands that a Python program starts → commands and scripts in the terms of a shell, each word where it is written.

A word keeps the place of its expression; where that is not seen, the place of the call.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeGuard

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import CWD
from mfsdp_lint.inputs.projects import beside
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.embedding_formats.held_texts import template_of_script, with_holes
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.eval.path_objects import folder_of, spelled
from mfsdp_lint.readers.python.library.subprocesses import literals
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import (
    Command,
    Said,
)
from mfsdp_lint.readers.python.state.texts import LOOKS, trace
from mfsdp_lint.readers.python.state.texts import Text as Words
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, TAKEN_AWAY
from mfsdp_lint.readers.python.values.objects import (
    External,
    Module,
    Object,
    Option,
    PartlyKnown,
    PathObject,
    Write,
)
from mfsdp_lint.readers.shell.script import Piece, Text, of_file, plain, standing_at
from mfsdp_lint.readers.shell.state import Held, HeldCommand, Variable

_DATA = (".yaml", ".yml", ".json", ".toml", ".csv", ".tsv", ".ini", ".cfg", ".env", ".txt", ".args", ".flags")

_SYMBOL = lazy_pattern(rf"({re.escape(CWD)}|<DIR:\d+>)")


class PlacedCommand:
    """A command in the terms of a shell; `place` is where the script at `path` starts it.

    `elsewhere` are files that the program may read instead of those that it reads here.
    """

    def __init__(self, interp: Interpreter, command: Command, path: str, elsewhere: Collection[str]) -> None:
        self.interp = interp
        self.command = command
        self.elsewhere = elsewhere
        self.lines: dict[str, Lines] = {}
        here = next((call for call in command.calls if call[0].path == path), command.calls[0])
        self.place = self._piece("", here[0], here[1])

    def held(self) -> Held | HeldCommand | None:
        """Return the command; None where it is not known what program it starts."""
        command = self.command
        variables = dict(self._variables())
        folder = self._folder()
        if command.script is not None:
            text = self._template()
            if text is None:
                text = tuple(
                    piece
                    for part in self._spelled([(piece,) for piece in self._filled_in(command.script)])
                    for piece in part
                )
            return Held(text, variables, folder, command.when)
        words = tuple(map(self._filled_in, command.words))
        if not words or words[0][0].text == HOLE:
            return None
        words = tuple(self._spelled(words))
        body = None if command.input is None else self._filled_in(command.input)
        return HeldCommand(words, self.place.span, variables, folder, command.when, body)

    def _template(self) -> Text | None:
        """Return the script that is a template in a file beside this one (with a blank behind its name, a command).

        airflow.apache.org/docs/apache-airflow/stable/core-concepts/operators.html, Jinja Templating
        """
        said = self.command.script.value if self.command.templated and self.command.script is not None else None
        if not isinstance(said, str) or not re.fullmatch(r"[\w./-]+", said):
            return None
        sources = self.interp.finder.sources
        path = beside(self.place.path, said)
        text = sources.text_or_none(path) if sources.exists(path) else None
        return None if text is None else template_of_script(of_file(path, text))

    def _spelled(self, words: Sequence[Text]) -> Iterator[Text]:
        """Yield words, and parts of a script, at the texts that spell them; what the call puts together is placed at
        the only text of the program, or of the data that it reads, that has the word or names it (`ckpt_format: x`).
        """
        flag: Piece | None = None  # the word in front, where that is a flag
        for number, word in enumerate(words):
            said, last = plain(word), word[-1]
            found = word
            if said.strip(f" \n\t{HOLE}") and len(word) == 1 and last.end - last.start != len(said):
                following = next((plain(each) for each in words[number + 1 :] if plain(each).strip()), "")
                found = self._place_of(said, last, flag, following) or word
            flag = flag if not said.strip() else found[-1] if said.startswith("-") else None
            yield found

    def _place_of(self, said: str, last: Piece, flag: Piece | None, following: str) -> Text | None:
        """Return a word at the text that spells it, or says its value; None where none is seen."""
        found = self._right_behind(said, flag) or self._in_a_text(said) or self._named(said, following)
        if found is None and said.startswith("--") and (own := self._in_a_text(said[2:])) is not None:
            # (The whole of a text in quotes is the name that a flag is made of, `f"--{name}"`; a word in one is any.)
            before, after = own[0].lines.text[own[0].start - 1], own[0].lines.text[own[0].end : own[0].end + 1]
            found = (standing_at(said, own[0]),) if before == after and before in "\"'" else None
        name, equals, value = said.partition("=")
        if found is None and equals and (own := self._in_a_text(value)) is not None:
            found = (standing_at(f"{name}=", last), *own)
        if found is None and flag is not None and not said.startswith("-"):
            # A value whose text is not seen is said where its flag is, sooner than where all are handed on.
            found = (standing_at(said, flag),)
        return found

    def _right_behind(self, said: str, flag: Piece | None) -> Text | None:
        """Return the place of a value: right behind the place of its flag, or of the name that the flag is made of."""
        if flag is None or not said:
            return None
        text = flag.lines.text
        match = re.compile(rf"[\s\"',:=]{{1,20}}(?P<said>{re.escape(said)})(?![\w.-])").match(text, flag.end)
        return None if match is None else (Piece(said, flag.path, flag.lines, *match.span("said")),)

    def _in_a_text(self, said: str) -> Text | None:
        """Return the place of a word in the only text in quotes that has it."""
        if not _SPELLED.fullmatch(said):
            return None
        word = re.compile(rf"(?<![\w.-]){re.escape(said)}(?![\w.-])")
        found: list[tuple[str, Lines, int]] = []
        for path, lines in self._texts():
            if said not in lines.text:
                continue
            if path.endswith(_DATA):
                found += [(path, lines, match.start()) for match in word.finditer(lines.text)]
                continue
            at = lines.text.find(said)
            for start, end in _quoted(lines.text):
                if at < start:  # (most literals are passed over without the expression)
                    at = lines.text.find(said, start)
                if at < 0:
                    break
                if at < end:
                    found += [(path, lines, match.start()) for match in word.finditer(lines.text, start, end)]
        if len(found) != 1:
            return None
        path, lines, at = found[0]
        return (Piece(said, path, lines, at, at + len(said)),)

    def _named(self, said: str, following: str) -> Text | None:
        """Return the place of a flag, or of an override, where its name stands in front of its value."""
        name, equals, value = said.removeprefix("--").partition("=")
        if not (equals or said.startswith("--")) or not re.fullmatch(r"[A-Za-z][\w.-]*", name):
            return None
        short = name.rpartition(".")[2]
        spelled = re.sub(r"[-_]", "[-_]", re.escape(short).replace("\\-", "-"))
        # (It begins with the name, for which texts are searched faster than for what may be in front of it.)
        pattern = re.compile(
            rf"(?P<name>{spelled})(?:(?<![\w-]{spelled})|(?<=--{spelled})(?<![\w-]--{spelled}))"
            r"[\"']?\]?\s*(?::|=(?!=))\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s,)}\]#]+)"
        )
        spellings = (short, short.replace("-", "_"), short.replace("_", "-"))
        found = [
            (path, lines, match)
            for path, lines in self._texts()
            if any(each in lines.text for each in spellings)
            for match in pattern.finditer(lines.text)
        ]
        alike = [each for each in found if _is_said(each[2]["value"], value if equals else following)]
        if len(found) != 1 and len(alike) != 1:
            return None
        path, lines, match = found[0] if len(found) == 1 else alike[0]
        start, own = match.start("value"), match["value"].strip("\"'")
        start += match["value"].index(own)
        flag = standing_at(said[: len(said) - len(value)], Piece("", path, lines, *match.span("name")))
        if not equals:
            return (flag,)
        place = Piece(own, path, lines, start, start + len(own))
        return (flag, place if own == value else standing_at(value, place))

    def _texts(self) -> Iterator[tuple[str, Lines]]:
        """Yield the files of the program, and those that it may read."""
        sources = self.interp.finder.sources
        own = [module.path for module in self.interp.finder.by_path.values() if module is not None]
        read = sorted(self.interp.dependencies.data - frozenset(self.elsewhere))
        data = (each for each in read if each.endswith(_DATA) and sources.exists(each))
        for path in dict.fromkeys((*own, *map(os.path.relpath, data))):
            yield path, self._lines_of(path)

    def note(self, files: dict[str, Text]) -> None:
        """Note the file that is written."""
        name = "".join(piece.text for piece in self._parts(self.command.writes, self.place))
        text = self._filled_in(self.command.script) if self.command.script is not None else ()
        files[name] = (*files.get(name, ()), *text) if self.command.adds else text

    def _filled_in(self, said: Said) -> Text:
        """Return a word, or a line; what a template fills in is not known."""
        text = self._text(said)
        return tuple(part for piece in text for part in with_holes(piece)) if self.command.templated else text

    def _folder(self) -> str | None:
        """Return the folder that a program is started in; None where it is this one, or not known, as behind `cd`."""
        if self.command.folder is None:
            return None
        said = "".join(piece.stands or piece.text for piece in self._text(Said(self.command.folder, None)))
        return None if HOLE in said else said

    def _variables(self) -> Iterator[tuple[str, Variable]]:
        """Yield the variables of the environment; an unknown value may be anything."""
        environment = self.command.environment
        if not environment.writes.get(MAY_HAVE_CHANGED):
            for name in table().variables.difference(filter(_is_name, environment.fields)):
                yield name, Variable(None, exported=True, unset=True, written=self.place)
        for name in environment.writes.get(TAKEN_AWAY, frozenset()) - environment.fields.keys():
            yield name, Variable(None, exported=True, unset=True, written=self.place)
        for name, value in environment.fields.items():
            if not _is_name(name):
                continue
            write = environment.writes.get(name)
            written = self._written(write)
            if value is None:
                yield name, Variable(None, exported=True, unset=True, written=written)
                continue
            focus = self._focus(write)
            text = self._parts(value, written or self.place if focus is None else focus)
            known = not any(HOLE in piece.text for piece in text)
            yield name, Variable((text,) if known else None, exported=True if known else None, written=written)

    def _written(self, write: object) -> Piece | None:
        """Return the place where a variable was set."""
        if isinstance(write, Write) and isinstance(write.node, Origin):
            return self._at(write.node.span)
        if not isinstance(write, Write) or write.module is None or not hasattr(write.node, "lineno"):
            return None
        return self._piece("", write.module, write.node)

    def _focus(self, write: object) -> Piece | None:
        if isinstance(write, Write) and isinstance(origin := write.node, Origin):
            place = self._at(origin.point)
            return place and replace(place, option=origin.option)
        if not isinstance(write, Write) or write.module is None or not hasattr(write.focus, "lineno"):
            return None
        return self._piece("", write.module, write.focus)

    def _text(self, said: Said) -> Text:
        """Return a word as a text that knows where it is written."""
        whole = said.value.said if isinstance(said.value, PartlyKnown) else said.value
        if isinstance(whole, str) and (parts := self.interp.finder.parts.get(whole)) is not None:
            return tuple(piece for part, place in parts if part for piece in self._part_of(part, place))
        if said.text is None:
            return self._parts(said.value, self.place)
        place = self._piece("", said.text.frame.module, said.text.node)
        self.interp.looks = LOOKS
        sources = trace(self.interp, said.text) if isinstance(said.value, str) and " " not in said.value else ()
        if sources and hasattr(sources[-1][1], "lineno"):
            place = self._piece("", sources[-1][0], sources[-1][1])
        return (standing_at(HOLE, place).splitting(),) if said.several else self._parts(said.value, place, said)

    def _part_of(self, part: str, place: Any) -> Text:
        """Return a part of a text that was filled in: a piece of the template, or a value with what gave it."""
        if isinstance(place, Words):
            return self._text(Said(part, place))
        found = self._at(place.point) if isinstance(place, Origin) else self._focus(place) or self._written(place)
        found = found or self.place
        is_there = found.lines.text[found.start : found.end] == part
        return (replace(found, text=part),) if is_there else self._parts(part, found)

    def _parts(self, value: Object, place: Piece, said: Said | None = None) -> Text:
        """Return the known parts of a value, all at one place; the folders in it are known from here alone."""
        text, option = _said(value)
        parts = [part for part in _SYMBOL.split(text) if part] or [""]
        if len(parts) == 1 and not _SYMBOL.fullmatch(text):
            return tuple(replace(each, option=option) for each in self._within(text, place, said))
        return tuple(self._part(part, place, option) for part in parts)

    def _part(self, part: str, place: Piece, option: str) -> Piece:
        if not _SYMBOL.fullmatch(part):
            return replace(standing_at(part, place), option=option)
        folder = folder_of(self.interp, part)
        module = self.command.calls[-1][0]
        stands = os.curdir if folder is None else spelled(folder, module)
        return replace(standing_at(HOLE, place), stands=stands.replace(os.sep, "/"))

    def _within(self, text: str, place: Piece, said: Said | None) -> Iterator[Piece]:
        """Yield a text at its own place in a literal, or each word of it that a literal has as it is."""
        whole = re.compile(rf"(?<![\w.-]){re.escape(text)}(?![\w.-])") if re.match(r"[\w.-]", text) else None
        match = whole.search(place.lines.text, place.start, place.end) if whole else None
        at = (
            match.start() if match else -1 if whole or not text else place.lines.text.find(text, place.start, place.end)
        )
        if at >= 0 or said is None or said.text is None or not text:
            yield standing_at(text, place) if at < 0 else Piece(text, place.path, place.lines, at, at + len(text))
            return
        places = [self._piece("", each.frame.module, each.node) for each in literals(said.text)]
        is_one = re.search(r"\s", text.strip()) is None
        for part in [text] if is_one else re.findall(r"\s+|\S+", text):
            word = re.compile(rf"(?<![\w.-]){re.escape(part)}(?![\w.-])")
            found = ((each, word.search(each.lines.text, each.start, each.end)) for each in places if part.strip())
            number, (there, match) = next(
                ((number, (each, match)) for number, (each, match) in enumerate(found) if match), (0, (place, None))
            )
            if match is None:
                yield standing_at(part, place)
                continue
            yield Piece(part, there.path, there.lines, *match.span())
            # The next word stands behind this one, or in another literal.
            places = [replace(there, start=match.end()), *places[number + 1 :], *places[:number]]

    def _piece(self, text: str, module: Module, node: Any) -> Piece:
        """Return a text at the place of an expression."""
        path = module.path
        lines = self._lines_of(path)
        if not lines.text:
            return Piece(text, path, lines, 0, 0)
        span = node.point if isinstance(node, Origin) else lines.of_node(path, node)
        if span.path != path:
            return Piece(text, path, lines, 0, 0)
        return Piece(text, path, lines, *lines.range(span))

    def _at(self, span: Span) -> Piece | None:
        """Return the place of what the program is started with, in the file that starts it."""
        lines = self._lines_of(span.path)
        return Piece("", span.path, lines, *lines.range(span)) if lines.text else None

    def _lines_of(self, path: str) -> Lines:
        if path not in self.lines:
            self.lines[path] = Lines(self.interp.finder.sources.text_or_none(path) or "")
        return self.lines[path]


_SPELLED = lazy_pattern(r"--?[A-Za-z][\w.-]+(?:=\S+)?|[A-Za-z_][\w.-]{3,}(?:=\S+)?")
"""Words that are looked for: flags, overrides, names; a number, and a short word, may stand anywhere."""


def _is_said(written: str, said: str) -> bool:
    """Tell whether a text of Python, YAML or TOML is a value as a command line says it."""
    own = written.strip("\"'")
    return own == said or own.lower() == said.lower() in ("true", "false", "none", "null")


@lru_cache(maxsize=64)
def _quoted(text: str) -> Sequence[tuple[int, int]]:
    """Return where the texts of a program in Python are, in their order, without those that only document it."""
    lines = Lines(text)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    documents = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    found = (
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in documents
    )
    return sorted(lines.range(lines.of_node("", each)) for each in found)


def _is_name(key: object) -> TypeGuard[str]:
    return isinstance(key, str) and key.isidentifier()


def _said(value: Object) -> tuple[str, str]:
    """Return the known text of a value, and the option or variable that it is the default of."""
    if isinstance(value, Option) and isinstance(value.default, str):
        return value.default, value.text
    if isinstance(value, PathObject):
        return value.path, ""
    if isinstance(value, PartlyKnown):
        return value.said, ""
    if isinstance(value, External) and value.name == "sys.executable":
        return "python", ""
    return (value, "") if isinstance(value, str) else (HOLE, "")
