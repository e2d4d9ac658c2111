"""Launches in files of which nobody knows the format: a job of a scheduler, a pipeline, an infrastructure as code.

A command line is known by itself, wherever it stands: a launcher, or Python, and behind it a program. What is around it
is looked at as any format may have it: in a document of mappings, keys that speak of an environment, of arguments, and
of variables; in any other text, blocks between marks, texts in quotes, and lists of texts.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.discover import HEAD
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.command_lines import COMMAND_LINE, FOLDER_KEYS, is_launcher
from mfsdp_lint.readers.embedding_formats.blocks import blocks_of, environment_at
from mfsdp_lint.readers.embedding_formats.held_texts import (
    Variables,
    entries,
    environment,
    filled_in,
    held,
    items,
    joined,
    said,
    script_of,
    template_of_script,
    text_of,
)
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.library.text_places import NoData, Placed
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed, plain, standing_at
from mfsdp_lint.readers.shell.state import Held
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_ENVIRONMENT = lazy_pattern(r"(?i)(?:\w*_)?env(?:s|ironment|_?vars?)?(?:[_-]?(?:variables|vars))?")
_ARGUMENTS = lazy_pattern(r"(?i)\w*arg(?:ument)?s|parameters|options|flags")
_VARIABLES = lazy_pattern(r"(?i)\w*(?:vars|variables|param(?:eter)?s|inputs|values|config)")
_FOLDER = lazy_pattern(FOLDER_KEYS, re.IGNORECASE)
_PROSE = lazy_pattern(r"(?i)\w*(?:description|help|title|comment|doc|notes?|message|summary|name|label)")


def job_scripts(document: YamlDocument, root: Node) -> Iterator[Held]:
    """Yield the command lines of a document, each with the environment of the sections around it."""
    own = entries(document, root)
    tasks = entries(document, own.get("tasks"))
    if not (calls := list(_calls_of_tasks(document, tasks))):
        yield from _in_section(document, root, {}, {})
        return
    values = _with_values(document, own, {})
    around = environment(document, own["env"], partial(filled_in, values)) if "env" in own else {}
    for name, task in tasks.items():
        given = [with_them for called, with_them in calls if called == name]
        if not given or entries(document, task).keys().isdisjoint({"internal", "requires"}):
            given.insert(0, {})
        for each in given:
            yield from _in_section(document, task, around, {**values, **_with_values(document, each, values)})


def _calls_of_tasks(document: YamlDocument, tasks: Mapping[str, Node]) -> Iterator[tuple[str, Mapping[str, Node]]]:
    """Yield the tasks that others of a Taskfile call, each with the section of the call (taskfile.dev, "Calling another
    task"): its variables lie over the file's, and below the task's own.
    """
    for task in tasks.values():
        own = entries(document, task)
        for key in ("cmds", "deps"):
            for item in items(document, own.get(key)):
                call = entries(document, item)
                if "task" in call and "vars" in call:
                    yield said(document, call["task"]) or "", call


def _in_section(document: YamlDocument, node: Node, around: Variables, values: Mapping[str, Text]) -> Iterator[Held]:
    target = document.follow(node)
    if isinstance(target, SequenceNode):
        for item in target.items:
            yield from _in_section(document, item, around, values)
    if not isinstance(target, MappingNode):
        return
    own = entries(document, target)
    folders = [text for name, each in own.items() if _FOLDER.fullmatch(name) and (text := said(document, each))]
    for each in _of_section(document, own, around, values):
        is_here = len(folders) == 1 and each.folder is None and not folders[0].startswith(("/", "~", "$", "{"))
        yield replace(each, folder=folders[0]) if is_here else each


def _of_section(
    document: YamlDocument, own: Mapping[str, Node], around: Variables, values: Mapping[str, Text]
) -> Iterator[Held]:
    values = _with_values(document, own, values)
    fill = partial(filled_in, values)
    # Tasks of pixi run in an activated environment (pixi.sh, the `activation` table).
    for name, each in (*entries(document, own.get("activation")).items(), *own.items()):
        if _ENVIRONMENT.fullmatch(name):
            around = {**around, **environment(document, each, fill)}
    arguments = [each for name, each in own.items() if _ARGUMENTS.fullmatch(name) and _is_list(document, each)]
    for name, each in own.items():
        if _PROSE.fullmatch(name) or (_ENVIRONMENT.fullmatch(name) and not _has_sections(document, each)):
            continue
        if isinstance(document.follow(each), ScalarNode):
            text = fill(text_of(document, each))
            if name == "cmd" and document.path.endswith(".toml"):  # words, as poe and pdm split them, and no script
                text = tuple(replace(piece, text=piece.text.replace("\n", " ")) for piece in text)
            if COMMAND_LINE.search(plain(text)):
                yield from held(text, around)
            elif is_launcher(plain(text)) and arguments:
                yield from held(_of_words(document, [each, *arguments], fill), around)
        elif not _is_list(document, each):
            yield from _in_section(document, each, around, values)
        elif any(COMMAND_LINE.search(said(document, item) or "") for item in items(document, each)[1:]) or (
            COMMAND_LINE.search(said(document, items(document, each)[0]) or "")
        ):
            words = _of_words(document, [each], fill)
            yield from held(words if _starts(document, each) else _of_lines(document, each, fill), around)
        elif _starts(document, each):
            behind_it = [other for other in arguments if other is not each]
            yield from held(_of_words(document, [each, *behind_it], fill), around)


def _has_sections(document: YamlDocument, node: Node) -> bool:
    """Tell whether a mapping is one of sections, and not of variables (`[tool.hatch.envs.default]`)."""
    return any(isinstance(document.follow(each), MappingNode) for each in entries(document, node).values())


def _is_list(document: YamlDocument, node: Node) -> bool:
    """Tell whether a node is a list of texts."""
    target = document.follow(node)
    return (
        isinstance(target, SequenceNode)
        and bool(target.items)
        and all(isinstance(document.follow(item), ScalarNode) for item in target.items)
    )


def _starts(document: YamlDocument, node: Node) -> bool:
    """Tell whether the items of a list are the words of a command that starts a program."""
    words = [said(document, item) or "" for item in items(document, node)]
    first = words[0].rpartition("/")[2]
    names_script = len(words) > 1 and COMMAND_LINE.search(f"bash {words[1]}")
    is_shell = re.fullmatch(r"(?:ba|da|z)?sh", first) and (
        names_script or (len(words) > 2 and words[1].startswith("-"))
    )
    return bool(is_shell) or any(is_launcher(word.rpartition("/")[2]) for word in words[:-1])


def _of_words(document: YamlDocument, parts: Sequence[Node], fill: partial[Text]) -> Text:
    return script_of([fill(text_of(document, item)) for part in parts for item in items(document, part)])


def _of_lines(document: YamlDocument, node: Node, fill: partial[Text]) -> Text:
    return joined([fill(text_of(document, item)) for item in items(document, node)])


def _with_values(document: YamlDocument, own: Mapping[str, Node], values: Mapping[str, Text]) -> dict[str, Text]:
    """Return these values that placeholders may have with those of a section: `vars: {NAME: value}`, or what a command
    prints.
    """
    found = dict(values)
    for name, each in own.items():
        if _VARIABLES.fullmatch(name):
            for key, value in entries(document, each).items():
                inner = entries(document, value)
                text = text_of(document, inner.get("default", inner.get("value", inner.get("sh"))) if inner else value)
                text = filled_in(found, text)
                if text and "$" not in plain(text):
                    found[key] = _printed_by(text) if "sh" in inner else text
                else:
                    found.pop(key, None)
    return found


def _printed_by(command: Text) -> Text:
    """Return the words that a command prints, as the text of a script (taskfile.dev, dynamic variables).

    In place of its name the shell reads them as it does words of the script: with quotes, others than `$(…)` gives.
    """
    first, last = command[0], command[-1]
    return (standing_at("$({ ", first), *command, standing_at("; } | xargs)", last))


_BLOCK = lazy_pattern(
    r'"""(?P<double>.*?)"""'
    r"|'''(?P<single>.*?)'''"
    r"|`(?P<back>[^`]*)`",
    re.DOTALL,
)
_HERE = lazy_pattern(r"<<[-~]?[ ]?[\"']?(?P<mark>[A-Za-z_]\w*)[\"']?[^\n]*\n")
_FIRST_WORD = lazy_pattern(r"^[ \t]*(?P<word>[A-Za-z_]\w*)\b", re.MULTILINE)
_STRING = r"\"(?:\\.|[^\"\\\n]){0,4000}\"|'(?:\\.|[^'\\\n]){0,4000}'"
_STRINGS = lazy_pattern(rf"(?:{_STRING})(?:\s*(?:\+\s*|\.\s+)?(?:{_STRING}))*")
_ONE = lazy_pattern(_STRING)
_KEY = lazy_pattern(r"\s*(?:[-*]\s+)?(?:[\w.$/\"'-]+(?:\[[^]]*\])?\s*(?::=|\?=|=>|=|:)\s*)?(?P<at>)")
_LOGICAL = lazy_pattern(r"(?:[^\n\\]|\\\n|\\.)+")
_COMMENT = lazy_pattern(r"\s*(?:#|//|;|--\s|dnl\b)")
_BRACED = lazy_pattern(
    r"(?<!\$)\{[A-Za-z_][\w.\[\]]*\}|\$\{[\w-]+(?:[.(]|\[(?![@*]\]))[^}]*\}|<%.*?%>|@[A-Z][A-Z0-9_]+@|\{%.*?%\}"
)
_ESCAPED = lazy_pattern(r"\$(?=\$\{)")
"""The sign that keeps a variable for the shell (Terraform's and Nomad's templates, Compose)."""


def toml_scripts(path: str, text: str) -> Iterator[Held]:
    """Yield the command lines of a TOML text, which is looked at as a document; none of a text that is not TOML."""
    from mfsdp_lint.readers.python.library.data import from_toml

    document = YamlDocument(path, Lines(text))

    def node(placed: Placed, start: int, end: int) -> Node:
        """Make the node of an entry; what has no place of its own is looked for in that of the entry around it."""
        if placed.origin is not None and (span := placed.origin.focus) is not None:
            own = document.lines.range(span)
            start, end = own if own[0] > start or own[1] < end else (start, end)
        if isinstance(placed.value, dict):
            entries: list[tuple[Node, Node]] = []
            for name, each in placed.value.items():
                found = re.compile(rf"(?<![\w-]){re.escape(name)}[\"']?\s*=").search(text, start, end)
                inner = node(each, found.end() if found else start, end)
                entries.append((ScalarNode(start, start, start, "str", name, ""), inner))
            return MappingNode(start, end, start, "map", tuple(entries), True, 1, 1)
        if isinstance(placed.value, list):
            elements: list[Node] = []
            at = start
            for each in placed.value:
                elements.append(node(replace(each, origin=None), at, end))
                at = elements[-1].end if elements[-1].end < end else at
            return SequenceNode(start, end, start, "seq", tuple(elements), True, 1, 1)
        value = placed.value
        said = str(value).lower() if isinstance(value, bool) else str(value)
        at = text.find(said, start, end) if said and "\n" not in said else -1
        start, end = (at, at + len(said)) if at >= 0 else (start, end)
        return ScalarNode(start, end, start, "str", said, "|" if "\n" in said else '"')

    with suppress(NoData):
        yield from job_scripts(document, node(from_toml(path, text), 0, len(text)))


def text_scripts(path: str, text: str, sources: Sources) -> Iterator[Held]:
    """Yield the command lines of any text, each with the environment of the blocks around it."""
    lines, text = Lines(text), text[:HEAD]
    blocks = blocks_of(path, lines, text)
    for each in _of_text(path, lines, text):
        around = environment_at(blocks, each.text[0].start)
        values = {f"env.{name}": value for name, given in around.items() if (value := given.text)}
        yield replace(each, text=filled_in(values, each.text), variables=around)


def _of_text(path: str, lines: Lines, text: str) -> Iterator[Held]:
    """Yield the command lines of any text: in blocks, in lists of texts, in texts within quotes, on lines."""
    left = text
    placeholders = (_BRACED, _OTHER_VARIABLE) if other_shell(path, text) else (_BRACED,)

    def piece(start: int, end: int) -> Text:
        found = filled((Piece(text[start:end], path, lines, start, end),), _OF_TOX, _by_default)
        found = template_of_script(found)
        for pattern in placeholders:
            found = filled(found, pattern, holed)
        return filled(found, _ESCAPED, lambda found, piece: ())

    def take(start: int, end: int) -> None:
        nonlocal left
        left = left[:start] + re.sub(r"[^\n]", " ", left[start:end]) + left[end:]

    for start, end in _here_documents(text):
        if COMMAND_LINE.search(text, start, end):
            take(start, end)
            yield from held(filled(piece(start, end), _TWICE, lambda found, piece: ()))
    for block in _BLOCK.finditer(left):
        kind = next(name for name in ("double", "single", "back") if block[name] is not None)
        if COMMAND_LINE.search(block[kind]):
            take(*block.span())
            yield from held(filled(piece(*block.span(kind)), _TWICE, lambda found, piece: ()))
    for start, end in _lists(left):
        words = [
            piece(first + 1, last - 1) if quoted else (replace(piece(first, last)[0], text=HOLE),)
            for first, last, quoted in _items(left, start, end)
        ]
        words = [word or piece(start, start + 1)[:0] for word in words]
        launcher = next((n for n, word in enumerate(words) if is_launcher(plain(word).rpartition("/")[2])), None)
        before = None if launcher is not None else _program_before(left, start)
        if before is not None:
            words = [piece(*before), *words]
        if (launcher is not None or before is not None) and all(words):
            take(start, end)
            yield from held(script_of(words))
    for strings in _STRINGS.finditer(left):
        parts = [
            piece(strings.start() + each.start() + 1, strings.start() + each.end() - 1)
            for each in _ONE.finditer(strings[0])
        ]
        whole = tuple(one for part in parts for one in part)
        if COMMAND_LINE.search(plain(whole)):
            take(*strings.span())
            yield from held(whole)
    for line in _LOGICAL.finditer(left):
        if COMMAND_LINE.search(line[0]) and not _COMMENT.match(line[0]):
            key = _KEY.match(line[0])
            start = line.start() + (key.start("at") if key else 0)
            yield from held(piece(start, line.end()))


_OF_TOX = lazy_pattern(r"\{(?:posargs|env:(?P<name>\w+))(?::(?P<default>[^{}]*))?\}")
"""Placeholders of tox for its own arguments and for a variable; both may have a default (tox.wiki, "Substitutions")."""


def _by_default(found: re.Match[str], piece: Piece) -> Iterable[Piece]:
    """Return what a placeholder of tox is where nobody gives anything; of a variable somebody may."""
    option = f"${found['name']}" if found["name"] else ""
    if found["default"] is not None:
        yield replace(piece.cut(*found.span("default")), option=option)
    elif option:
        yield from holed(found, piece, option=option)


_OTHER_SHELL = lazy_pattern(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?(?P<name>fish|t?csh|xonsh|elvish|nu|pwsh)\b")
_BY_NAME = {".fish": "fish", ".csh": "csh", ".tcsh": "tcsh", ".xsh": "xonsh", ".nu": "nu", ".ps1": "PowerShell"}
_OTHER_VARIABLE = lazy_pattern(r"\$\{?[A-Za-z_][\w:]*\}?|\$\(|(?<!\S)@[A-Za-z_(]\w*")


def other_shell(path: str, text: str) -> str:
    """Return the shell of another language that a script is for: of that, only its command lines are understood. Return
    "" for any other file.
    """
    said = _OTHER_SHELL.match(text)
    return said["name"] if said else _BY_NAME.get(os.path.splitext(path)[1], "")


def unfollowed_shell(path: str, text: str) -> Unfollowed | None:
    """Return what is told of a script for a shell of another language; None for any other file."""
    name = other_shell(path, text)
    launch = COMMAND_LINE.search(text) if name else None
    if launch is None:
        return None
    place = Lines(text).span(path, *launch.span())
    return Unfollowed.of_launch(path, place, "out of sight", f"what a script for {name} sets is not followed")


def _here_documents(text: str) -> Iterator[tuple[int, int]]:
    """Yield the texts between `<<MARK` and the next line that begins with the mark."""
    lines: dict[str, list[int]] = {}
    for line in _FIRST_WORD.finditer(text):
        lines.setdefault(line["word"], []).append(line.start())
    at = 0
    for begin in _HERE.finditer(text):
        ends = lines.get(begin["mark"], [])
        number = bisect_left(ends, begin.end())
        if begin.start() >= at and number < len(ends):
            yield begin.end(), ends[number]
            at = ends[number]


_TWICE = lazy_pattern(r"\\(?=\\\n)")
"""A text between marks has two backslashes at the end of a line."""


def _lists(text: str) -> Iterator[tuple[int, int]]:
    """Yield the innermost lists in brackets that have a text, without the brackets."""
    for found in re.finditer(r"\[(?P<inside>[^\[\]]*)\]", text):
        if _ONE.search(found["inside"]):
            yield found.span("inside")


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the items of a list, each with whether it is a text alone."""
    for found in re.finditer(rf"(?:{_STRING}|#[^\n]*|[^,\"'])+", text[start:end]):
        inner = found[0]
        first = start + found.start() + len(inner) - len(inner.lstrip())
        last = start + found.start() + len(inner.rstrip())
        if first < last and not text[first:last].startswith(("#", "//")):
            yield first, last, bool(_ONE.fullmatch(text[first:last]))


def _program_before(text: str, at: int) -> tuple[int, int] | None:
    """Return the place of a launcher that a text right in front of a list names (`command = "torchrun"`)."""
    found = [
        each for each in _ONE.finditer(text, max(at - 400, 0), at) if is_launcher(each[0][1:-1].rpartition("/")[2])
    ]
    return (found[-1].start() + 1, found[-1].end() - 1) if found else None
