"""Python scripts that start other programs: the starts that the evaluator saw, as commands and shell scripts.

A word keeps the place of its expression; where that is not seen, the place of the call.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.imports import closure
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.process import collect_new, without_collection
from mfsdp_lint.readers.command_lines import COMMAND_LINE
from mfsdp_lint.readers.embedding_formats.placed_commands import PlacedCommand
from mfsdp_lint.readers.embedding_formats.remote_calls import RemoteCalls, place_of
from mfsdp_lint.readers.given_words import HOLE, Given
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.addressed import ProgramEvaluation, Starts, Watch, note
from mfsdp_lint.readers.python.entries.given_files import (
    configurations_for,
    files_like,
    is_left_open,
    one_file,
    own_modules,
    what_it_says,
)
from mfsdp_lint.readers.python.eval.branches import one_key
from mfsdp_lint.readers.python.eval.classes import special
from mfsdp_lint.readers.python.eval.containers import text_of_key
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.library.subprocesses import start_out_of_sight
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
    with_room,
)
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    Bound,
    ClassObject,
    DictObject,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Option,
    Partial,
    Unknown,
    uncertain,
)
from mfsdp_lint.readers.relevance import TRAINING_PROGRAM
from mfsdp_lint.readers.shell.script import Text, plain
from mfsdp_lint.readers.shell.state import Held, HeldCommand, Variable

MENTIONS_LAUNCHER = lazy_pattern(
    r"\b(?:torchrun|accelerate|deepspeed|srun|sbatch|bash|python[\d.]*)\b|\.(?:sh|sbatch|slurm)\b"
    r"|sys\.executable|torch\.distributed\."
)


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
        if not is_left_open(path):
            return path
        files = files_like(self, path, frame) or configurations_for(
            own_modules(self), frame.module, self.finder.sources
        )
        if files is None:
            return path
        if not 0 < len(files) <= MOST_ROWS:
            self.files_left_out[what_it_says(path)] = len(files)
            files = files[:MOST_ROWS]
        if not files:
            return path
        meant, known = one_file(self, path, files, MOST_TURNS)
        # The others are read on other paths.
        self.read_elsewhere = frozenset(known.values()) - {known.get(str(meant), "")}
        return meant

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
    functions = list(entries.functions(interp, module))
    called = [replace(each, wrapper=None) for each in _called_out_of_sight(functions, text)]
    with evaluation.noting() as noted:
        interp.dependencies = Dependencies()
        for each in called:
            found += _started_by(interp, each, path, evaluation, refused)
    depends = interp.dependencies.depends_on_start or interp.shared_dependencies.depends_on_start
    if interp.given is not None and not (found or depends):
        evaluation.idle[path] = noted
    return found


def _called_out_of_sight(every: Sequence[entries.Entry], text: str) -> list[entries.Entry]:
    """Return the functions that start something and are handed on to a framework, which calls them: by a decorator
    (`modal run`, `invoke`), or by their names. What one with a decorator calls is not called by itself.
    """
    nodes = [each.function.node for each in every if each.function is not None]
    functions = {each.name: each for each in nodes if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    starting = {name for name, each in functions.items() if _mentions_launcher(text, each)}
    if not starting:
        return []
    said = {name: _text_of(text, each) for name, each in functions.items()}
    called = {name: functions.keys() & set(_WORD.findall(own)) - {name} for name, own in said.items()}
    leading = closure(starting, lambda name: (each for each, names in called.items() if name in names))
    decorated = {name for name in leading if functions[name].decorator_list}
    inside = closure(decorated, lambda name: called[name]).keys() - decorated
    named = {name for name in starting - inside if len(re.findall(rf"\b{name}\b", text)) > 1}
    return [each for each in every if each.function is not None and each.function.name in decorated | named]


_WORD = lazy_pattern(r"[^\W\d]\w*")


@lru_cache(maxsize=1024)
def _mentions_launcher(text: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return MENTIONS_LAUNCHER.search(_text_of(text, function)) is not None


def _text_of(text: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the text of a function. (`ast.get_source_segment` would split the file's for each of them.)"""
    lines = Lines(text)
    return lines.cut(lines.of_node("", function))


def _started_by(
    interp: Interpreter, entry: entries.Entry, path: str, evaluation: ProgramEvaluation, refused: list[Unfollowed]
) -> list[Held | HeldCommand]:
    """Return the commands that a script, or a function of it, starts on every path."""
    found: list[Held | HeldCommand] = []
    kept: dict[str, list[Held | HeldCommand]] = defaultdict(list)
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
        started: list[Held | HeldCommand] = []
        for command in interp.path.launches.commands:
            elsewhere = interp.read_elsewhere if isinstance(interp, _Watching) else ()
            placed = PlacedCommand(interp, command, path, elsewhere)
            if command.writes is not None:
                placed.note(files)
                continue
            held = placed.held()
            if held is not None:
                started.append(_as_called(replace(held, files=dict(files)), command, path, interp))
        when = interp.path.when
        started += _left_for_others(files, started, when)
        for each in started:
            alike = kept[_said_by(each)]
            if each not in alike:
                alike.append(each)
                found.append(each)
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


_SCRIPT = lazy_pattern(r"[^/]*\.(?:sh|bash|sbatch|slurm)\Z")


def _left_for_others(
    files: Mapping[str, Text], started: Sequence[Held | HeldCommand], when: tuple[str, ...]
) -> Iterator[Held]:
    """Yield the scripts for a scheduler that a program writes and does not start: somebody submits them."""
    said = "\n".join(map(_said_by, started))
    for name, text in islice(files.items(), MOST_ROWS):
        script = _SCRIPT.search(name)
        if script is not None and script[0] not in said and _TRAINS.search(plain(text)):
            yield Held(text, when=when)


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
