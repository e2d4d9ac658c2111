"""Python scripts that start other programs: the starts that the evaluator saw, as commands and shell scripts.

A word keeps the place of its expression; where that is not seen, the place of the call.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeGuard

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Span, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import CWD
from mfsdp_lint.inputs.projects import beside, shown
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.process import collect_new, without_collection
from mfsdp_lint.readers.command_lines import COMMAND_LINE
from mfsdp_lint.readers.embedding_formats.given_files import configurations_for
from mfsdp_lint.readers.embedding_formats.held_texts import template_of_script, with_holes
from mfsdp_lint.readers.embedding_formats.remote_calls import RemoteCalls, place_of
from mfsdp_lint.readers.given_words import HOLE, Given
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.addressed import ProgramEvaluation, Starts, Watch, note
from mfsdp_lint.readers.python.eval.branches import one_key
from mfsdp_lint.readers.python.eval.classes import special
from mfsdp_lint.readers.python.eval.containers import text_of_key
from mfsdp_lint.readers.python.eval.path_objects import folder_of, like, spelled
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.library.subprocesses import literals, start_out_of_sight
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.parsing import parse
from mfsdp_lint.readers.python.state.paths import (
    LONG_PATIENCE,
    CannotJoin,
    Command,
    Dependencies,
    OutOfSteps,
    Raised,
    RefusedCall,
    Said,
    with_room,
)
from mfsdp_lint.readers.python.state.texts import LOOKS, trace
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassObject,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Option,
    Partial,
    PartlyKnown,
    PathObject,
    Unknown,
    Write,
    uncertain,
)
from mfsdp_lint.readers.relevance import TRAINING_PROGRAM
from mfsdp_lint.readers.shell.script import Piece, Text, of_file, plain, standing_at
from mfsdp_lint.readers.shell.state import Held, HeldCommand, Variable

MENTIONS_LAUNCHER = lazy_pattern(
    r"\b(?:torchrun|accelerate|deepspeed|srun|sbatch|bash|python[\d.]*)\b|\.(?:sh|sbatch|slurm)\b"
    r"|sys\.executable|torch\.distributed\."
)

_DATA = (".yaml", ".yml", ".json", ".toml", ".csv", ".tsv", ".ini", ".cfg", ".env", ".txt", ".args", ".flags")

_SYMBOL = lazy_pattern(rf"({re.escape(CWD)}|<DIR:\d+>)")


def commands(
    path: str,
    programs: Programs,
    given: Given | None = None,
    refused: list[Unfollowed] | None = None,
    patience: int = LONG_PATIENCE,
) -> Sequence[Held | HeldCommand]:
    """Return the commands that a script starts, on every path; none where the file is no script. It is started with
    the words and variables that are `given`, or without any. `refused` receives what surely fails before it starts.
    """
    evaluation = programs.evaluation
    starts = evaluation.known_starts(path, given, patience)
    if starts is None:
        fails: list[Unfollowed] = []
        with evaluation.noting() as noted:
            found = _watched(path, programs, given, fails, patience)
        starts = Starts(given, patience, found, fails, noted, evaluation.ran)
        evaluation.keep_starts(path, starts)
    if refused is not None:
        refused += starts.refused
    return starts.found


def _watched(
    path: str, programs: Programs, given: Given | None, refused: list[Unfollowed], patience: int
) -> list[Held | HeldCommand]:
    """Run a script, and return the commands that it starts."""
    asked, evaluation = programs.asked, programs.evaluation
    watch = evaluation.watching(path, given)
    if watch is None:
        finder = ModuleFinder(asked.sources, asked.search_path, asked.relevance)
        finder.spell(asked.every)
        finder.ask_for([path])
        watch = Watch(path, _Watching(finder, asked.knowledge(), outside=asked.environment))
    interp = watch.interp
    interp.patience, interp.given, interp.dependencies = patience, given, Dependencies()
    asked.sources.note(watch.texts)
    evaluation.watched = None  # (what a fault leaves behind is not used again)
    with without_collection(), asked.sources.recording(watch.texts):
        found = _commands(interp, path, evaluation, refused)
        collect_new()
    evaluation.watched = watch
    return found


_TRAINS = lazy_pattern(rf"(?<![\w./-])[\w./-]*\b{TRAINING_PROGRAM}")


def _said_by(started: Held | HeldCommand) -> str:
    return plain(started.text) if isinstance(started, Held) else " ".join(map(plain, started.words))


def overlooked(path: str, text: str, started: Sequence[Held | HeldCommand]) -> Unfollowed | None:
    """Return the first word of a command, or line among others, in a Python file that names a training program, where
    no start has it.
    """
    if any(map(_TRAINS.search, map(_said_by, started))):
        return None
    try:
        tree = parse(path, text)
    except Unreadable:  # told where the file itself is read
        return None
    for node in ast.walk(tree):
        for word in node.elts if isinstance(node, ast.List | ast.Tuple) else ():
            parts = word.values if isinstance(word, ast.JoinedStr) and word.values else [word]
            texts = [str(each.value) if isinstance(each, ast.Constant) else HOLE for each in parts]
            line = COMMAND_LINE.search("".join(texts))
            if _TRAINS.fullmatch(texts[-1]) or (line is not None and _TRAINS.search(line[0])):
                why = "no start of this program is followed, or its words are not known"
                return Unfollowed.of_launch(path, Lines(text).of_node(path, word), "out of sight", why)
    return None


MOST_ROWS = 16
"""Rows of a table that a program is started with, one after the other."""

MOST_PATHS = 64
"""Ways through a script that are followed for what they start."""

MOST_TURNS = 6
"""Decisions about rows and other things on one path, of two sides each."""


def _rows(holder: Object) -> Sequence[Object]:
    """Return the keys of a table whose rows are all known; none for other values."""
    if isinstance(holder, DictObject) and not holder.writes.get(MAY_HAVE_CHANGED):
        return () if any(map(uncertain, holder.fields.values())) else tuple(holder.fields)
    items = holder.items if isinstance(holder, ListObject) else holder
    if isinstance(items, list | tuple) and all(isinstance(each, DictObject | Instance) for each in items):
        return range(len(items))
    return ()


class _Watching(Interpreter):
    """A machine that keeps what is started, and runs a program with each row of a table whose key is not known."""

    tries_files = True

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.large_tables: dict[ast.AST, tuple[Module, int]] = {}
        self.files_left_out: dict[str, int] = {}
        self.read_elsewhere: frozenset[str] = frozenset()

    def left_out(self, entry: entries.Entry, path: str) -> Iterator[Unfollowed]:
        """Yield the tables of which no row is told apart; each once."""
        spans = Spans(self)
        for node, (module, rows) in self.large_tables.items():
            if module.path == path:
                why = f"any of {rows} rows may be meant here; up to {MOST_ROWS} are followed one by one"
                yield Unfollowed.of_launch(path, spans.of(module, node), "limit", why)
        for text, files in self.files_left_out.items():
            why = f"any of {files} files may be {text}; {MOST_ROWS} are followed one by one"
            if not files:
                why = f"no file of the project has the keys that are read of {text}"
            yield Unfollowed.of_launch(path, Span(path, entry.line, 1, entry.line, 1), "argument", why)
        self.large_tables.clear()
        self.files_left_out.clear()

    def starting(self, command: Command, instead_of: Command | None = None) -> None:
        former = (key for key, each in self.path.launches.fields.items() if each is instead_of)
        self.put(self.path.launches, next(former, self.tick()), command)

    def may_start(self, value: object) -> bool:
        match value:
            case Partial(function=function):
                return self.may_start(function)
            case Bound(function=function, owner=Instance(cls=ClassObject(node=ast.AST() as called))):
                pass
            case Instance(cls=ClassObject(node=ast.AST() as called)):
                function = special(self, value, "__call__")
            case Function(node=called):
                function = value
            case _:
                return False
        if not isinstance(function, Function) or not function.module.is_own:
            return False
        # (A method may start what it starts through the others of its class.)
        return _mentions_launcher(self.finder.sources.text_or_none(function.module.path) or "", called)

    def file_meant(self, path: Object, frame: Frame) -> Object:
        if not isinstance(path, Unknown) or (type(path) is Option and path.default not in (None, MISSING)):
            return path
        named = like(self, path, frame.module) if isinstance(path, PartlyKnown) else []
        files = named or configurations_for(self._own_modules(), frame.module, self.finder.sources)
        if files is None:
            return path
        text = path.text or "its configuration"
        if not 0 < len(files) <= MOST_ROWS:
            self.files_left_out[text] = len(files)
            files = files[:MOST_ROWS]
        if not files:
            return path
        known = {f"{self.finder.symbol(os.path.dirname(file))}/{os.path.basename(file)}": file for file in files}
        meant = one_key(self, path, list(known), text, MOST_TURNS, lambda value: shown(known[str(value)]))
        # The others are read on other paths.
        self.read_elsewhere = frozenset(known.values()) - {known.get(str(meant), "")}
        return meant

    def _own_modules(self) -> list[Module]:
        return [each for each in self.finder.by_path.values() if each is not None and each.is_own]

    def key_of_row(self, holder: Object, key: Object, node: Any, frame: Frame) -> Object:
        rows = _rows(holder)
        if not rows or not isinstance(key, Unknown):
            return key
        if len(rows) > MOST_ROWS:
            self.large_tables[node] = frame.module, len(rows)
            return key
        return one_key(self, key, rows, text_of_key(node), MOST_TURNS)

    def out_of_sight(self, name: str, call: object) -> None:
        if isinstance(call, Call):
            start_out_of_sight(self, name, call)


@with_room
def _commands(
    interp: Interpreter, path: str, evaluation: ProgramEvaluation, refused: list[Unfollowed]
) -> list[Held | HeldCommand]:
    module = interp.finder.load(path)
    if module is None:
        return []
    # What a file only makes, others may start: Airflow imports it.
    entry = entries.script(interp, module) or entries.Entry(module.name.rpartition(".")[2], module, "script", 1)
    found = _started_by(interp, entry, path, evaluation, refused)
    if not found and interp.given is None and "add_argument" in (interp.finder.sources.text_or_none(path) or ""):
        # An option without a default may be one that has to be given.
        interp.needed = True
        try:
            found = _started_by(interp, entry, path, evaluation, [])
        finally:
            interp.needed = False
    if found or (interp.given is not None and evaluation.known_as_idle(path)):
        return found
    text = interp.finder.sources.text_or_none(path) or ""
    called = [
        replace(each, wrapper=None)
        for each in entries.functions(interp, module)
        if each.function is not None and _is_called_out_of_sight(each.function.node, text)
    ]
    with evaluation.noting() as noted:
        interp.dependencies = Dependencies()
        for each in called:
            found += _started_by(interp, each, path, evaluation, refused)
    depends = interp.dependencies.depends_on_start or interp.shared_dependencies.depends_on_start
    if interp.given is not None and not (found or depends):
        evaluation.idle[path] = noted
    return found


def _is_called_out_of_sight(function: ast.AST, text: str) -> bool:
    """Tell whether a function that starts something is handed on to a framework, which calls it: by a decorator
    (`modal run`, `invoke`), or by its name.
    """
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    is_handed_on = function.decorator_list or len(re.findall(rf"\b{function.name}\b", text)) > 1
    return bool(is_handed_on) and _mentions_launcher(text, function)


@lru_cache(maxsize=1024)
def _mentions_launcher(text: str, function: ast.AST) -> bool:
    return MENTIONS_LAUNCHER.search(ast.get_source_segment(text, function) or "") is not None


def _started_by(
    interp: Interpreter, entry: entries.Entry, path: str, evaluation: ProgramEvaluation, refused: list[Unfollowed]
) -> list[Held | HeldCommand]:
    """Return the commands that a script, or a function of it, starts on every path."""
    found: list[Held | HeldCommand] = []
    pending: list[tuple[bool, ...]] = [()]
    for _ in range(MOST_PATHS):
        if not pending:
            break
        prefix = pending.pop()
        interp.begin(prefix)
        # Programs that were started before it ended are started.
        with suppress(Raised, RecursionError, OutOfSteps, CannotJoin):
            try:
                if entry.function is None:
                    running.run_script(interp, entry, {})
                else:
                    arguments, unknown = running.arguments_of(interp, entry)
                    running.call_function(interp, entry, {**dict(_by_default(interp, entry)), **arguments}, unknown)
            except RefusedCall as error:
                refused += _refusal(interp, entry, path, error)
                raise
        pending += running.other_sides(interp, prefix)
        files: dict[str, Text] = {}
        for command in interp.path.launches.commands:
            placed = _PlacedCommand(interp, command, path)
            if command.writes is not None:
                placed.note(files)
                continue
            held = placed.held()
            held = None if held is None else _as_called(replace(held, files=dict(files)), command, path, interp)
            found += [held] if held is not None and held not in found else []
    interp.finish()
    note(evaluation.asked, evaluation.ran, interp, entry, interp.dependencies)
    trains = any(map(_TRAINS.search, map(_said_by, found)))
    if isinstance(interp, _Watching) and trains:
        refused += interp.left_out(entry, path)
    if pending and trains:
        span = Span(path, entry.line, 1, entry.line, 1)
        why = f"more than {MOST_PATHS} ways lead through {entry.name}, and the others are not followed"
        refused.append(Unfollowed.of_launch(path, span, "limit", why))
    return found


def _as_called(held: Held | HeldCommand, command: Command, path: str, interp: Interpreter) -> Held | HeldCommand:
    """Return a command with the variables that a framework gives the function which starts it, or the object that a
    call made of it, if that is called elsewhere. Of those that the program has written as well it is not known which
    counts.
    """
    if not command.environment.writes.get(MAY_HAVE_CHANGED):
        return held  # it has none but its own
    remote = _remote_calls(path, interp.finder.sources.text_or_none(path) or "")
    if remote is None:
        return held
    given: dict[str, Variable] = {}
    made: dict[str, Variable] = {}
    here = [(node, function) for module, node, function in reversed(command.calls) if module.path == path]
    places = [place_of(node) for node, _ in here if isinstance(node, ast.Call)]
    for node, function in here:
        given |= remote.of_function(function.rpartition(".")[2], places)
        made |= remote.made.get(place_of(node), {}) if isinstance(node, ast.Call) else {}
    for module, node, _ in reversed(command.handed):
        given |= remote.of_call(node) if module.path == path and isinstance(node, ast.Call) else {}
    # What it had changed before the framework starts it gives way to what the framework sets.
    own = held.variables.keys() if not command.handed else frozenset().union(*(names for *_, names in command.handed))
    outside = {name for name, each in held.variables.items() if each.unset}
    changed = {name: Variable(None) if name in own else each for name, each in given.items()}
    changed |= {name: Variable(None) if name in own - outside else each for name, each in made.items()}
    return replace(held, variables={**held.variables, **changed})


@lru_cache(maxsize=16)
def _remote_calls(path: str, text: str) -> RemoteCalls | None:
    try:
        return RemoteCalls(path, parse(path, text), Lines(text))
    except Unreadable:
        return None


def _by_default(interp: Interpreter, entry: entries.Entry) -> Iterator[tuple[str, Object]]:
    """Yield the parameters that a framework makes options of: who starts the function may give others."""
    for name in entries.open_parameters(entry):
        default = interp.settle(entries.default(entry, name))
        if isinstance(default, CONSTANTS):
            yield name, Option(interp.tick(), name, default)


def _refusal(interp: Interpreter, entry: entries.Entry, path: str, error: RefusedCall) -> Iterator[Unfollowed]:
    """Yield the failure of a script that surely gives a program, or its own environment, what is no text."""
    if error.module is None or error.module.path != path or error.keyword or error.lacking or interp.path.taken:
        return
    spans = Spans(interp)
    span = spans.of(error.module, error.node)
    text, name = f"{error.name}: {error.text}", entry.qualified_name
    yield Unfollowed(entry.name, name, path, span.line, "launch", "raises", text, span, error=error.name, certain=True)


class _PlacedCommand:
    """A command in the terms of a shell; `place` is where the script at `path` starts it."""

    def __init__(self, interp: Interpreter, command: Command, path: str) -> None:
        self.interp = interp
        self.command = command
        self.lines: dict[str, Lines] = {}
        here = next((call for call in command.calls if call[0].path == path), command.calls[0])
        self.place = self._piece("", here[0], here[1])

    def held(self) -> Held | HeldCommand | None:
        """Return the command; None where it is not known what program it starts."""
        command = self.command
        variables = dict(self._variables())
        known, folder = self._folder()
        if not known:
            return None
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
        elsewhere = self.interp.read_elsewhere if isinstance(self.interp, _Watching) else frozenset()
        read = sorted(self.interp.dependencies.data - elsewhere)
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

    def _folder(self) -> tuple[bool, str | None]:
        """Tell whether the folder that a program is started in is known, and return that folder."""
        if self.command.folder is None:
            return True, None
        said = "".join(piece.stands or piece.text for piece in self._text(Said(self.command.folder, None)))
        return HOLE not in said, said

    def _variables(self) -> Iterator[tuple[str, Variable]]:
        """Yield the variables of the environment; an unknown value may be anything."""
        environment = self.command.environment
        if not environment.writes.get(MAY_HAVE_CHANGED):
            for name in table().variables.difference(filter(_is_name, environment.fields)):
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
        if said.text is None:
            return self._parts(said.value, self.place)
        place = self._piece("", said.text.frame.module, said.text.node)
        self.interp.looks = LOOKS
        sources = trace(self.interp, said.text) if isinstance(said.value, str) and " " not in said.value else ()
        if sources and hasattr(sources[-1][1], "lineno"):
            place = self._piece("", sources[-1][0], sources[-1][1])
        return (standing_at(HOLE, place).splitting(),) if said.several else self._parts(said.value, place, said)

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
