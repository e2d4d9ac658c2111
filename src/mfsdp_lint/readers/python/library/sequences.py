"""Lists, tuples, sets, dictionaries and what walks over them."""

from __future__ import annotations

import ast
import math
from typing import Any

from mfsdp_lint.readers.python.attributes import get_attribute
from mfsdp_lint.readers.python.branches import known_truth, truth
from mfsdp_lint.readers.python.calls import call
from mfsdp_lint.readers.python.containers import LONGEST, iterate, make_set, method, set_entry
from mfsdp_lint.readers.python.library.registry import models, settled
from mfsdp_lint.readers.python.machine import Frame, Machine, Raised
from mfsdp_lint.readers.python.objects import (
    DictObject,
    Instance,
    ListObject,
    Object,
    is_constant,
)


def _elements(machine: Machine, arguments: list[Object], frame: Frame) -> list[Object] | None:
    return iterate(machine, arguments[0], frame) if arguments else []


@models("builtins.list", "builtins.reversed", "builtins.sorted", "builtins.iter")
def _list(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = _elements(machine, arguments, frame)
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else "list"
    if items is not None and name == "reversed":
        items = items[::-1]
    if items is not None and name == "sorted":
        items = sort(machine, items, keywords, frame)
    return ListObject(None if items is None else list(items), machine.tick())  # type: ignore[arg-type]


@models("builtins.tuple")
def _tuple(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = _elements(machine, arguments, frame)
    return machine.unknown("tuple", not_none=True) if items is None else tuple(items)


@models("builtins.set", "builtins.frozenset")
def _set(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return make_set(machine, _elements(machine, arguments, frame))


@models("builtins.dict", "collections.OrderedDict", "types.MappingProxyType")
def _dict(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    made = DictObject({}, machine.tick())
    made.made = machine.note(frame, node, None, "default", None, None)
    method(machine, made, "update", [*arguments], {}, frame, node)
    for keyword in getattr(node, "keywords", ()):
        if keyword.arg in keywords:
            set_entry(machine, made, keyword.arg, keywords[keyword.arg], frame, node, keyword)
    for name, value in keywords.items():
        if name == "**":
            made.writes["<hazy>"] = True
        elif name not in made.fields:
            set_entry(machine, made, name, value, frame, node)
    return made


@models("collections.defaultdict")
def _defaultdict(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    made = DictObject({}, machine.tick())
    made.writes["<hazy>"] = True
    return made


def sort(machine: Machine, items: list[Object], keywords: dict[str, Object], frame: Frame) -> list[Object] | None:
    """The elements in order, None where the order is not known."""
    key = keywords.get("key")
    keys = items if key is None else [call(machine, key, [item], {}, None, frame) for item in items]
    if not all(is_constant(one) for one in keys):
        return None
    order = sorted(
        range(len(items)), key=_Comparable(keys), reverse=truth(machine, keywords.get("reverse", False)) is True
    )
    return [items[index] for index in order]


class _Comparable:
    def __init__(self, keys: list[Object]) -> None:
        self.keys = keys
        try:
            sorted(keys)
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None

    def __call__(self, index: int) -> Object:
        return self.keys[index]


@models("builtins.range")
def _range(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    arguments = settled(machine, arguments)
    if not all(isinstance(argument, int) for argument in arguments):
        return machine.unknown("range", not_none=True)
    try:
        found = range(*arguments)
    except (TypeError, ValueError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    return ListObject(list(found) if len(found) <= LONGEST else None, machine.tick())  # type: ignore[arg-type]


@models("builtins.len")
def _len(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0])
    if isinstance(value, (str, bytes, tuple)):
        return len(value)
    if isinstance(value, Instance):
        return call(machine, get_attribute(machine, value, "__len__", frame), [], {}, node, frame)
    if isinstance(value, (ListObject, DictObject, frozenset)):
        items = iterate(machine, value, frame)
        return machine.unknown("len", not_none=True) if items is None else len(items)
    if isinstance(value, (int, float, type(None))):
        raise Raised("TypeError", "object has no len()")
    return machine.unknown("len", not_none=True)


@models("builtins.enumerate")
def _enumerate(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    items = _elements(machine, arguments, frame)
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", 0)
    if items is None or not isinstance(start, int):
        return ListObject(None, machine.tick())  # type: ignore[arg-type]
    return ListObject(list(enumerate(items, start)), machine.tick())


@models("builtins.zip", "itertools.zip_longest", "itertools.product", "itertools.chain")
def _zip(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    import itertools

    columns = [iterate(machine, argument, frame) for argument in arguments]
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else "zip"
    if None in columns or (keywords and name != "zip"):
        return ListObject(None, machine.tick())  # type: ignore[arg-type]
    known = [column or [] for column in columns]
    if name == "product":
        if math.prod(len(column) for column in known) > LONGEST:
            return ListObject(None, machine.tick())  # type: ignore[arg-type]
        return ListObject(list(itertools.product(*known)), machine.tick())
    if name == "chain":
        return ListObject(list(itertools.chain(*known)), machine.tick())
    if name == "zip_longest":
        return ListObject(list(itertools.zip_longest(*known)), machine.tick())
    if truth(machine, keywords.get("strict", False)) is True and len({len(column) for column in known}) > 1:
        raise Raised("ValueError", "zip() arguments have different lengths")
    return ListObject(list(zip(*known)), machine.tick())


@models("builtins.map")
def _map(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    columns = [iterate(machine, argument, frame) for argument in arguments[1:]]
    if None in columns:
        return ListObject(None, machine.tick())  # type: ignore[arg-type]
    rows = zip(*[column or [] for column in columns])
    return ListObject([call(machine, arguments[0], list(row), {}, node, frame) for row in rows], machine.tick())


@models("builtins.filter")
def _filter(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = iterate(machine, arguments[1], frame)
    kept: list[Object] = []
    for item in items or []:
        value = item if arguments[0] is None else call(machine, arguments[0], [item], {}, node, frame)
        known = known_truth(machine, value, frame, node)
        if known is None:
            return ListObject(None, machine.tick())  # type: ignore[arg-type]
        if known:
            kept.append(item)
    return ListObject(None if items is None else kept, machine.tick())  # type: ignore[arg-type]


@models("builtins.any", "builtins.all")
def _any_all(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = _elements(machine, arguments, frame)
    wanted = (ast.unparse(node.func) if isinstance(node, ast.Call) else "any") == "any"
    if items is None:
        return machine.unknown("", not_none=True)
    answers = [known_truth(machine, item, frame, node) for item in items]
    if wanted in answers:
        return wanted
    return machine.unknown("", not_none=True) if None in answers else not wanted


@models("builtins.sum")
def _sum(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    from mfsdp_lint.readers.python.expressions import binary

    items = _elements(machine, arguments, frame)
    if items is None:
        return machine.unknown("", not_none=True)
    total: Object = arguments[1] if len(arguments) > 1 else keywords.get("start", 0)
    for item in items:
        total = binary(machine, ast.Add, total, item)
    return total


@models("builtins.min", "builtins.max")
def _extreme(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = iterate(machine, arguments[0], frame) if len(arguments) == 1 else settled(machine, arguments)
    if items is None:
        return machine.unknown("", not_none=True)
    if not items:
        if "default" in keywords:
            return keywords["default"]
        raise Raised("ValueError", "the sequence is empty")
    ordered = sort(machine, items, {key: value for key, value in keywords.items() if key == "key"}, frame)
    if ordered is None:
        return machine.unknown("", not_none=True)
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "max"):
        return ordered[0]
    key = keywords.get("key")
    best = ordered[-1] if key is None else call(machine, key, [ordered[-1]], {}, node, frame)
    return next(
        item for item in items if (item if key is None else call(machine, key, [item], {}, node, frame)) == best
    )


@models("builtins.next")
def _next(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    iterable = machine.settle(arguments[0])
    items = iterate(machine, iterable, frame)
    # Only of a fresh generator is the next element the first one.
    if items is None or not isinstance(getattr(node, "args", [None])[0], (ast.GeneratorExp, ast.Call)):
        return machine.unknown()
    if items:
        return items[0]
    if len(arguments) > 1:
        return arguments[1]
    raise Raised("StopIteration", "")


@models("builtins.slice")
def _slice(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return (
        slice(*arguments)
        if all(isinstance(part, (int, type(None))) for part in arguments)
        else machine.unknown("slice")
    )
