"""Other calls of a recipe: the arguments that may decide something, and the recipe's variants with them.

A finding is about the call without arguments, and a fix has to leave all other calls as they are.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from mfsdp_lint.core.kept import NotKept
from mfsdp_lint.core.recipe import CALLED, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Plain, spell
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.python.entries import running
from mfsdp_lint.readers.python.entries.entries import Entry, open_parameters, positional_given
from mfsdp_lint.readers.python.entries.exposed import declared_keywords, is_boolean
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.interpreter import Interpreter, remembered
from mfsdp_lint.readers.python.state.parsing import parse
from mfsdp_lint.readers.python.state.paths import with_room
from mfsdp_lint.readers.python.values.objects import MISSING

MOST_CALLS = 40
"""Callers that configure a run are recipes themselves, and looked at as such. Of what others give this is enough."""

ANYTHING_ELSE = "anything else"
"""Stands for all texts that a function has no word for."""


@dataclass(frozen=True, slots=True, eq=False)
class FunctionCallers:
    """The callers of a function (see `Callers`); `number` says which of its recipes is asked about."""

    interp: Interpreter
    entry: Entry
    spans: Spans
    number: int = 0
    _known: dict[tuple[str, ...], tuple[Variant, ...]] = field(default_factory=dict, repr=False)
    _asked: list[bool] = field(default_factory=list, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return KeptCallers, (bool(self._asked or self._known),)

    @with_room
    def given(self, users: Sequence[str] = ()) -> Sequence[Mapping[str, Plain]]:
        """Return values for one parameter at a time: a switch's sides, texts it is compared with, callers' values."""
        self._asked.append(True)
        found = list(dict.fromkeys(_values(self.interp, self.entry, users)))
        return [{name: value} for name, _, value in found[:MOST_CALLS]]

    def variants(self, arguments: Mapping[str, Plain]) -> tuple[Variant, ...]:
        """Return every path through the function; none where it yields no configuration that can be known."""
        said = tuple(f"{CALLED} {name}={spell(value)}" for name, value in arguments.items())
        if said not in self._known:
            self._known[said] = tuple(replace(each, when=(*said, *each.when)) for each in self._variants(arguments))
        return self._known[said]

    @with_room
    def _variants(self, arguments: Mapping[str, Plain]) -> tuple[Variant, ...]:
        interp = self.interp
        entry = replace(self.entry, arguments={**(self.entry.arguments or {}), **arguments})
        found = running.evaluate(interp, entry, self.spans).found
        interp.pay(len(found))
        return found[self.number].recipe.variants if self.number < len(found) else ()


@dataclass(frozen=True, slots=True, eq=False)
class KeptCallers:
    """The callers of a recipe of an earlier run; `compared` says that they were asked for there."""

    compared: bool

    def given(self, users: Sequence[str] = ()) -> Sequence[Mapping[str, Plain]]:
        """Raise NotKept."""
        raise NotKept

    def variants(self, arguments: Mapping[str, Plain]) -> tuple[Variant, ...]:
        """Raise NotKept."""
        raise NotKept


_Value = str | int | float | bool | None


def _values(interp: Interpreter, entry: Entry, users: Sequence[str]) -> Iterator[tuple[str, type, _Value]]:
    """Yield the values of every parameter but its default, each with its type: True is not 1 here."""
    assert entry.function is not None
    parameters = entry.function.node.args
    annotations = {each.arg: each.annotation for each in (*parameters.args, *parameters.kwonlyargs)}
    names = [name for name in open_parameters(entry) if name not in (entry.arguments or {})]
    passed = list(_passed(interp, entry, names, users))
    for name in names:
        default = entry.function.defaults.get(name, MISSING)
        values: list[_Value] = []
        if isinstance(default, bool) or is_boolean(annotations.get(name)):
            values += (True, False)
        compared = [value for node in ast.walk(entry.function.node) for value in _compared(node, name)]
        values += (value for each in compared for value in (each, *_others(each)))
        values += [value for other, value in passed if other == name]
        yield from ((name, type(value), value) for value in values if not _same(value, default))
    for name in declared_keywords(interp, entry.function):
        if name not in annotations and name not in (entry.arguments or {}):
            yield from ((name, bool, value) for value in (True, False))


def _same(value: _Value, default: object) -> bool:
    return type(value) is type(default) and value == default


def _compared(node: ast.AST, name: str) -> Iterator[_Value]:
    """Yield the literals that a parameter is compared with."""
    match node:
        case ast.Compare(left=left, comparators=comparators):
            sides: list[ast.AST] = [left, *comparators]
        case ast.Match(subject=subject, cases=cases):
            sides = [subject, *(case.pattern for case in cases)]
        case _:
            return
    if any(isinstance(inner, ast.Name) and inner.id == name for side in sides for inner in ast.walk(side)):
        for side in sides:
            for inner in ast.walk(side):
                yield from _literal(inner)


def _others(compared: _Value) -> Iterator[_Value]:
    """Yield values for which a comparison may have the other result."""
    if isinstance(compared, str) or compared is None:
        yield ANYTHING_ELSE
    elif not isinstance(compared, bool):
        yield from (compared - 1, compared + 1)


def _literal(node: ast.AST) -> Iterator[_Value]:
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, (str, int, float))):
        yield node.value


def _passed(
    interp: Interpreter, entry: Entry, names: Sequence[str], users: Sequence[str]
) -> Iterator[tuple[str, _Value]]:
    """Yield the literals that calls of a function of this name give to its parameters, in all files at hand."""
    assert entry.function is not None
    called = entry.function.name
    positional = [each.arg for each in (*entry.function.node.args.posonlyargs, *entry.function.node.args.args)]
    positional = positional[positional_given(entry) :]
    for call in _calls(interp, called, users):
        pairs = [*zip(positional, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
        for name, value in pairs:
            if name is not None and name in names:
                yield from ((name, literal) for literal in _literal(value))


def _calls(interp: Interpreter, called: str, users: Sequence[str]) -> list[ast.Call]:
    """Return the calls of a function, also in files that say nothing about a training run."""
    found: list[ast.Call] = []
    for path in dict.fromkeys((*interp.finder.spellings.values(), *users)):
        text = interp.finder.sources.text_or_none(path)
        if text is not None and f"{called}(" in text:
            found += _calls_in(interp, path, text).get(called, ())
    return found


@remembered()
def _calls_in(interp: Interpreter, path: str, text: str) -> Mapping[str, list[ast.Call]]:
    """Return the calls in a file, by the last word of the called expression."""
    calls: dict[str, list[ast.Call]] = defaultdict(list)
    with suppress(Unreadable):
        for node in ast.walk(parse(path, text)):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                    calls[name].append(node)
    return calls
