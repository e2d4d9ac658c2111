"""Lists, tuples, sets, dictionaries; functions that walk over them, and that reduce them to one value."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.containers import any_of, make_set, make_tuple, set_entry
from mfsdp_lint.readers.python.eval.iteration import (
    LONGEST,
    called,
    elements,
    forget_rest,
    iterate,
    special,
    uncertain,
    walked,
)
from mfsdp_lint.readers.python.eval.methods import method, sort
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.library.text import settled
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.generators import GeneratorCall
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.paths import Raised, kept
from mfsdp_lint.readers.python.state.truth import join, truth
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.limits import weighs_little
from mfsdp_lint.readers.python.values.markers import FACTORY, HAZY
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    DictObject,
    Instance,
    IteratorObject,
    ListObject,
    Object,
    all_are,
    is_symbolic,
)


@models("builtins.list")
def _list(machine: Machine, call: Call) -> Object:
    items = elements(machine, call.argument(0, default=()), call.frame)
    return ListObject(None if items is None else list(items), machine.tick())


@models("builtins.sorted")
def _sorted(machine: Machine, call: Call) -> Object:
    items = iterate(machine, call.argument(0, default=()), call.frame)
    return ListObject(None if items is None else sort(machine, items, call.keywords, call.frame), machine.tick())


def _iterator(machine: Machine, items: list[Object] | None, walked: list[Object]) -> IteratorObject:
    made = IteratorObject(items, machine.tick())
    made.walked = [(one, one.items) for one in settled(machine, walked) if type(one) is ListObject]
    return made


@models("builtins.reversed")
def _reversed(machine: Machine, call: Call) -> Object:
    items = elements(machine, call.argument(0, default=()), call.frame)
    return _iterator(machine, None if items is None else items[::-1], call.arguments)


@models("builtins.iter")
def _iter(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    if isinstance(value, (IteratorObject, GeneratorCall)):
        return value
    if isinstance(value, Instance):
        own = walked(machine, value, call.frame)
        if own is not value or special(machine, value, "__next__") is not None:
            return own
    if len(call.arguments) > 1:
        return machine.unknown("iter()", not_none=True)
    return _iterator(machine, elements(machine, call.argument(0, default=()), call.frame), call.arguments)


models("builtins.tuple")(
    lambda machine, call: make_tuple(machine, elements(machine, call.argument(0, default=()), call.frame))
)
models("builtins.set", "builtins.frozenset")(
    lambda machine, call: make_set(machine, iterate(machine, call.argument(0, default=()), call.frame))
)


@models("builtins.dict", "collections.OrderedDict", "types.MappingProxyType")
def _dict(machine: Machine, call: Call) -> Object:
    made = DictObject({}, machine.tick())
    made.made = machine.note(call.node, call.frame, None, "default", None, None)
    method(machine, made, "update", call.passing([*call.arguments]))
    for keyword in getattr(call.node, "keywords", ()):
        if keyword.arg in call.keywords:
            set_entry(machine, made, keyword.arg, call.keywords[keyword.arg], call.node, call.frame, keyword)
    for name, value in call.keywords.items():
        if name == "**":
            made.writes[HAZY] = True
        elif name not in made.fields:
            set_entry(machine, made, name, value, call.node, call.frame)
    return made


@models("collections.defaultdict")
def _defaultdict(machine: Machine, call: Call) -> Object:
    made = _dict(machine, call.passing(call.arguments[1:], call.keywords))
    assert isinstance(made, DictObject)
    factory = machine.settle(call.argument(0))
    if factory is not None:
        made.writes[FACTORY] = factory
    return made


@models("builtins.range")
def _range(machine: Machine, call: Call) -> Object:
    arguments = settled(machine, call.arguments)
    if not all_are(arguments, int):
        return machine.unknown("range", not_none=True)
    try:
        found = range(*arguments)
    except (TypeError, ValueError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    return ListObject(list(found) if len(found) <= LONGEST else None, machine.tick())


@models("builtins.len")
def _len(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    if isinstance(value, (str, bytes, tuple)):
        return machine.unknown("len", not_none=True) if is_symbolic(value) else len(value)
    if isinstance(value, Instance):
        return invoke(machine, get_attribute(machine, value, "__len__", None, call.frame), call.passing([]))
    if isinstance(value, (ListObject, DictObject, frozenset)):
        items = iterate(machine, value, call.frame)
        return machine.unknown("len", not_none=True) if items is None else len(items)
    if isinstance(value, (int, float, type(None))):
        raise Raised("TypeError", "object has no len()")
    return machine.unknown("len", not_none=True)


@models("builtins.enumerate")
def _enumerate(machine: Machine, call: Call) -> Object:
    items = iterate(machine, call.argument(0, default=()), call.frame)
    start = call.argument(1, "start", 0)
    found = None if items is None or not isinstance(start, int) else list[Object](enumerate(items, start))
    return _iterator(machine, found, call.arguments[:1])


def _columns(machine: Machine, arguments: list[Object], frame: Frame) -> list[list[Object]] | None:
    columns = [iterate(machine, argument, frame) for argument in arguments]
    return None if None in columns else [column or [] for column in columns]


def _rows_of(machine: Machine, arguments: list[Object], frame: Frame) -> list[list[Object]] | None:
    """Return the elements that `zip` takes of each argument; of one with `__next__`, only as many as it needs."""
    sources = [walked(machine, argument, frame) for argument in settled(machine, arguments)]
    endless = [special(machine, source, "__next__") is not None for source in sources]
    finite = _columns(machine, [source for source, asked in zip(sources, endless, strict=True) if not asked], frame)
    if finite is None or not any(endless) or not finite:
        return finite if not any(endless) else None
    rows = min(map(len, finite))
    columns: list[list[Object]] = []
    for source, asked in zip(sources, endless, strict=True):
        if not asked:
            columns.append(finite.pop(0))
            continue
        behind = any(len(column) == rows for column in columns)
        taken: list[Object] = []
        try:
            while len(taken) < (rows if behind else rows + 1):
                taken.append(called(machine, source, "__next__", None, frame))
        except Raised as error:
            if error.name != "StopIteration":
                raise
        columns.append(taken)
    return columns


@models("builtins.zip")
def _zip(machine: Machine, call: Call) -> Object:
    columns = _rows_of(machine, call.arguments, call.frame)
    if columns is None:
        return _iterator(machine, None, call.arguments)
    if truth(machine, call.keywords.get("strict", False)) is True and len({len(column) for column in columns}) > 1:
        raise Raised("ValueError", "zip() arguments have different lengths")
    return _iterator(machine, None if _is_heavy(columns) else list(zip(*columns, strict=False)), call.arguments)


def _is_heavy(rows: Iterable[Iterable[Object]]) -> bool:
    """Tell whether one of the elements is a tuple that holds very much."""
    return any(type(item) is tuple and not weighs_little(item) for row in rows for item in row)


_MOST_TIMES = 64
"""The largest number that such a function may be given."""


def _rearranges(function: Callable[..., Iterator[Any]], all_walked: bool) -> Model:
    """Return the model of a function that rearranges the elements of all its arguments, or of the first."""

    def model(machine: Machine, call: Call) -> Object:
        walked = call.arguments if all_walked else call.arguments[:1]
        columns = _columns(machine, walked, call.frame)
        numbers = settled(machine, call.arguments[len(walked) :])
        keywords = {name: machine.settle(value) for name, value in call.keywords.items()}
        times = [*numbers, *(value for name, value in keywords.items() if name != "fillvalue")]
        if columns is None or not all(isinstance(each, int | None) and (each or 0) <= _MOST_TIMES for each in times):
            return _iterator(machine, None, walked)
        try:
            found = list(itertools.islice(function(*columns, *numbers, **keywords), LONGEST + 1))
        except (TypeError, ValueError) as error:
            raise Raised(type(error).__name__, str(error)) from None
        machine.charge(sum(map(len, found)))
        return _iterator(machine, found if len(found) <= LONGEST and not _is_heavy(found) else None, walked)

    return model


for _name in ("product", "zip_longest"):
    models(f"itertools.{_name}")(_rearranges(getattr(itertools, _name), all_walked=True))
for _name in ("combinations", "combinations_with_replacement", "pairwise", "permutations"):
    models(f"itertools.{_name}")(_rearranges(getattr(itertools, _name), all_walked=False))


@models("itertools.chain")
def _chain(machine: Machine, call: Call) -> Object:
    columns = [elements(machine, argument, call.frame) for argument in call.arguments]
    found = None if None in columns else [item for column in columns for item in column or ()]
    return _iterator(machine, found, call.arguments)


@models("builtins.map")
def _map(machine: Machine, call: Call) -> Object:
    columns = _columns(machine, call.arguments[1:], call.frame)
    if columns is None:
        return _iterator(machine, None, call.arguments[1:])
    rows = list(zip(*columns, strict=False))

    def make(found: Callable[[Object], Object]) -> None:
        for row in rows:
            found(invoke(machine, call.arguments[0], call.passing(list(row))))

    return _lazily(machine, make, call)


def _lazily(machine: Machine, make: Callable[[Callable[[Object], Object]], None], call: Call) -> Object:
    # Python makes each element when it is asked for: one that raises, or changes something, does so only then.
    found: list[Object] = []
    mark, born = len(machine.path.journal), machine.clock + 1
    error: Raised | None = None
    try:
        make(found.append)
    except Raised as raised:
        error = kept(raised)
    if machine.touched_older(mark, born) and not any(map(uncertain, found)):
        machine.rollback(mark)
        frame = call.frame
        inner = Frame(frame.module, "<lazy>", frame, frame, frame.node, machine.tick())
        inner.fields = dict(enumerate(call.arguments))
        return GeneratorCall(machine, inner, make)
    if error is not None:
        return IteratorObject(found, machine.tick(), error)
    return _iterator(machine, found, call.arguments[1:])


@models("builtins.filter")
def _filter(machine: Machine, call: Call) -> Object:
    items = iterate(machine, call.arguments[1], call.frame)
    if items is None:
        return _iterator(machine, None, call.arguments[1:])

    def make(kept: Callable[[Object], Object]) -> None:
        for item in items:
            value = item if call.arguments[0] is None else invoke(machine, call.arguments[0], call.passing([item]))
            known = known_truth(machine, value, call.node, call.frame)
            if known is not False:
                kept(item if known else join(machine, [item, MISSING]))

    return _lazily(machine, make, call)


@models("builtins.next")
def _next(machine: Machine, call: Call) -> Object:
    iterable = machine.settle(call.arguments[0])
    if isinstance(iterable, Instance):
        found = called(machine, iterable, "__next__", call.node, call.frame)
        return machine.unknown("next()") if found is MISSING else found
    if isinstance(iterable, GeneratorCall):
        if iterable.state == "open":
            forget_rest(machine, iterable)
        found = iterable.first()
        if found is not MISSING:
            return found
    elif not isinstance(iterable, IteratorObject) or iterable.items is None or iterable.is_stale:
        return machine.unknown()
    elif any(map(uncertain, iterable.items)):
        found = any_of(machine, [*iterable.items, *call.arguments[1:]])
        machine.put(iterable, "items", None)
        return found
    elif iterable.items:
        first: Object
        first, *rest = iterable.items
        machine.put(iterable, "items", rest)
        return first
    elif iterable.error is not None:
        raise iterable.error
    if len(call.arguments) > 1:
        return call.arguments[1]
    raise Raised("StopIteration", "")


models("builtins.slice")(
    lambda machine, call: (
        slice(*call.arguments)
        if all(isinstance(part, (int, type(None))) for part in call.arguments)
        else machine.unknown("slice")
    )
)
models("builtins.any")(lambda machine, call: _any_all(machine, call.arguments[0], True, call))


@models("builtins.all")
def _all(machine: Machine, call: Call) -> Object:
    return _any_all(machine, call.arguments[0], False, call)


def _any_all(machine: Machine, iterable: Object, wanted: bool, call: Call) -> Object:
    iterable = machine.settle(iterable)
    if isinstance(iterable, GeneratorCall) and iterable.state == "new":
        return _any_all_made(machine, iterable, wanted, call)
    error = None
    items: list[Object] | None
    if isinstance(iterable, IteratorObject) and iterable.error is not None:
        items, error = iterable.items, iterable.error
    else:
        items = iterate(machine, iterable, call.frame)
    if items is None:
        return machine.unknown("", not_none=True)
    answers = [known_truth(machine, item, call.node, call.frame) for item in items]
    if wanted in answers:
        return wanted
    if None in answers:
        return machine.unknown("", not_none=True)
    if error is not None:
        raise error
    return not wanted


class _Decided(BaseException):
    pass


def _any_all_made(machine: Machine, generator: GeneratorCall, wanted: bool, call: Call) -> Object:
    answers: list[bool | None] = []

    def look(item: Object) -> Object:
        answers.append(known_truth(machine, item, call.node, call.frame))
        if answers[-1] is wanted:
            raise _Decided
        return None

    with suppress(_Decided):
        generator.run(look)
    if None not in answers:
        return wanted in answers if wanted else False not in answers
    # It may have stopped before what it did.
    forget_rest(machine, generator)
    return machine.unknown("", not_none=True)


def _folds(operator: type, start: int) -> Model:
    """Return the model of a function that puts an operator between all elements."""

    def model(machine: Machine, call: Call) -> Object:
        items = iterate(machine, call.arguments[0], call.frame)
        if items is None:
            return machine.unknown("", not_none=True)
        total = call.argument(1, "start", start)
        for item in items:
            machine.step()
            total = binary(machine, operator, total, item)
        return total

    return model


models("builtins.sum")(_folds(ast.Add, 0))
models("math.prod")(_folds(ast.Mult, 1))


models("builtins.min")(lambda machine, call: _extreme(machine, False, call))
models("builtins.max")(lambda machine, call: _extreme(machine, True, call))


def _extreme(machine: Machine, largest: bool, call: Call) -> Object:
    arguments, keywords = settled(machine, call.arguments), call.keywords
    items = iterate(machine, arguments[0], call.frame) if len(arguments) == 1 else arguments
    if items is None:
        return machine.unknown("", not_none=True)
    if not items:
        if "default" in keywords:
            return keywords["default"]
        raise Raised("ValueError", "the sequence is empty")
    # Sorting keeps the order of equals: the first of the largest is the first of the reversed order.
    given = {key: value for key, value in keywords.items() if key == "key"}
    ordered = sort(machine, items, {**given, "reverse": largest}, call.frame)
    return machine.unknown("", not_none=True) if ordered is None else ordered[0]
