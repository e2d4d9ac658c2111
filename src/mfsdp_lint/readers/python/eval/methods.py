"""Methods of lists, sets, strings and numbers; those of dictionaries are in dict_methods.py."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.comparisons import contains, equal
from mfsdp_lint.readers.python.eval.containers import (
    any_of,
    delete_entry,
    entry,
    make_set,
    set_entry,
)
from mfsdp_lint.readers.python.eval.dict_methods import dict_method
from mfsdp_lint.readers.python.eval.iteration import LONGEST, elements, forget_rest, iterate, uncertain
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.eval.sorting import sort
from mfsdp_lint.readers.python.state.generators import Coroutine, GeneratorCall, awaited
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.limits import LONGEST_LIST, LONGEST_TEXT, can_format, is_small
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    DictObject,
    EnumMember,
    ListObject,
    Object,
    SetObject,
    all_are,
    is_constant,
    is_symbolic,
)


def method(machine: Machine, owner: Object, name: str, call: Call) -> Object:
    """Evaluate `owner.name(...)` of a built-in type."""
    arguments = call.arguments
    owner = machine.settle(owner)
    arguments = [machine.settle(argument) for argument in arguments]
    match name, arguments:
        case "__getitem__", [key]:
            return entry(machine, owner, key, call.node, call.frame)
        case "__setitem__", [key, value]:
            focus = call.node.args[-1] if isinstance(call.node, ast.Call) and call.node.args else None
            set_entry(machine, owner, key, value, call.node, call.frame, focus)
            return None
        case "__delitem__", [key]:
            delete_entry(machine, owner, key)
            return None
        case "__contains__", [item]:
            found = contains(machine, owner, item, call.frame)
            return machine.unknown("", not_none=True) if found is None else found
    if isinstance(owner, GeneratorCall):
        return _generator_method(machine, owner, name)
    if isinstance(owner, Coroutine):
        return None if name == "close" else awaited(machine, owner)
    if isinstance(owner, DictObject):
        return dict_method(machine, owner, name, call.passing(arguments, call.keywords))
    if isinstance(owner, SetObject):
        return _set_method(machine, owner, name, arguments, call.frame)
    if isinstance(owner, ListObject):
        return _list_method(machine, owner, name, arguments, call.keywords, call.frame)
    return _constant_method(machine, owner, name, arguments, call.keywords, call.frame)


def _generator_method(machine: Machine, owner: GeneratorCall, name: str) -> Object:
    if name in ("__next__", "__enter__") or (name == "send" and owner.state == "new"):
        found = owner.first() if owner.state == "new" else MISSING
        if found is not MISSING:
            return found
    # What it does between here and its end is not told apart.
    if owner.state == "open":
        forget_rest(machine, owner)
    return machine.unknown(f"{name}()")


OPERATORS = {
    "__add__": ast.Add, "__sub__": ast.Sub, "__mul__": ast.Mult, "__truediv__": ast.Div, "__floordiv__": ast.FloorDiv,
    "__mod__": ast.Mod, "__pow__": ast.Pow, "__or__": ast.BitOr, "__and__": ast.BitAnd, "__xor__": ast.BitXor,
}  # fmt: skip


def _constant_method(
    machine: Machine, owner: Any, name: str, arguments: list[Object], keywords: dict[str, Object], frame: Frame
) -> Object:
    if name == "join" and isinstance(owner, str) and len(arguments) == 1:
        items = iterate(machine, arguments[0], frame)
        if items is None or not all_are(items, str):
            return machine.unknown("", not_none=True)
        if sum(map(len, items)) + len(owner) * len(items) > LONGEST_TEXT:
            return machine.unknown("", not_none=True)
        return owner.join(items)
    if name in OPERATORS and len(arguments) == 1:
        return binary(machine, OPERATORS[name], owner, arguments[0])
    plain_arguments = [
        tuple(item.items) if isinstance(item, ListObject) and item.items is not None else item for item in arguments
    ]
    given = [*plain_arguments, *keywords.values()]
    if not all(map(is_constant, given)) or not _is_small_work(owner, name, given):
        return machine.unknown("", not_none=True)
    if name != "format" and is_symbolic(owner, *arguments):
        return machine.unknown("", not_none=True)
    try:
        found = getattr(owner, name)(*plain_arguments, **keywords)
    except Exception as error:
        raise Raised(type(error).__name__, str(error)) from None
    if isinstance(found, list):
        return ListObject(found, machine.tick())
    return found if is_constant(found) and is_small(found) else machine.unknown("", not_none=True)


def _is_small_work(owner: Any, name: str, given: list[Any]) -> bool:
    """Tell whether a method's result cannot be much larger than its inputs."""
    if name.startswith("__") or name in ("translate", "format_map"):
        return False
    if name == "format":
        return isinstance(owner, str) and can_format(owner, given)
    if isinstance(owner, (str, bytes)):
        if name == "replace":
            longest = max([len(item) for item in given if isinstance(item, (str, bytes))], default=0)
            return len(owner) * longest <= LONGEST_TEXT
        return not any(isinstance(item, int) and abs(item) > LONGEST for item in given) or name in (
            "find", "index", "count", "rfind", "rindex", "startswith", "endswith", "split", "rsplit",
        )  # fmt: skip
    return name != "to_bytes"


def _list_method(
    machine: Machine, owner: ListObject, name: str, arguments: list[Object], keywords: dict[str, Object], frame: Frame
) -> Object:
    items = owner.items
    if items is None:
        return (
            machine.unknown()
            if name not in ("append", "extend", "insert", "remove", "clear", "sort", "reverse")
            else None
        )
    if name in ("pop", "insert", "remove", "index", "count") and any(map(uncertain, items)):
        return _of_uncertain(machine, owner, name, items)
    match name, arguments:
        case "append", [item]:
            machine.charge(len(items))
            machine.put(owner, "items", [*items, item])
            return None
        case "extend", [more]:
            added = elements(machine, more, frame)
            if added is not None and len(items) + len(added) > LONGEST_LIST:
                added = None
            machine.put(owner, "items", None if added is None else items + added)
            return None
        case "insert", [int(index), item]:
            changed = list(items)
            changed.insert(index, item)
            machine.put(owner, "items", changed)
            return None
        case "pop", [] | [int()]:
            changed = list(items)
            position: Any = arguments[0] if arguments else -1
            try:
                found: Object = changed.pop(position)
            except IndexError as error:
                raise Raised("IndexError", str(error)) from None
            machine.put(owner, "items", changed)
            return found
        case "copy", []:
            return ListObject(items, machine.tick())
        case "clear", []:
            machine.put(owner, "items", [])
            return None
        case "reverse", []:
            machine.put(owner, "items", items[::-1])
            return None
        case "index" | "count" | "remove", [item]:
            return _search(machine, owner, name, items, item)
        case "sort", []:
            machine.put(owner, "items", sort(machine, items, keywords, frame))
            return None
    machine.put(owner, "items", None)
    return any_of(machine, items)


def _of_uncertain(machine: Machine, owner: ListObject, name: str, items: list[Object]) -> Object:
    """Evaluate a method that depends on the positions of elements, some of which may be missing."""
    machine.doubts += 1
    if name in ("pop", "remove"):
        machine.put(owner, "items", [join(machine, [item, MISSING]) for item in items])
    elif name == "insert":
        machine.put(owner, "items", None)
    if name == "pop":
        return any_of(machine, items)
    return None if name in ("insert", "remove") else machine.unknown("", not_none=True)


def _search(machine: Machine, owner: ListObject, name: str, items: list[Object], item: Object) -> Object:
    answers = [equal(machine, one, item) for one in items]
    if name == "count":
        return sum(map(bool, answers)) if None not in answers else machine.unknown("", not_none=True)
    position = next((index for index, answer in enumerate(answers) if answer is not False), None)
    if position is None:
        raise Raised("ValueError", "not in list")
    if answers[position] is None:
        if name == "remove":
            machine.put(owner, "items", None)
            return None
        return machine.unknown("", not_none=True)
    if name == "index":
        return position
    machine.put(owner, "items", [*items[:position], *items[position + 1 :]])
    return None


def _set_method(machine: Machine, owner: SetObject, name: str, arguments: list[Object], frame: Frame) -> Object:
    items = owner.items
    others = (
        [iterate(machine, argument, frame) for argument in arguments]
        if name not in ("add", "discard", "remove")
        else []
    )
    if items is None or None in others or not all(map(is_constant, arguments if not others else [])):
        if name in ("add", "discard", "remove", "update", "clear", "pop"):
            machine.put(owner, "items", None)
            return None
        return machine.unknown("", not_none=True)
    if any(not (is_constant(item) or isinstance(item, EnumMember)) for other in others for item in other or []):
        return machine.unknown("", not_none=True)
    known = dict.fromkeys(items)
    match name:
        case "add":
            known[arguments[0]] = None
        case "discard":
            known.pop(arguments[0], None)
        case "remove":
            if arguments[0] not in known:
                raise Raised("KeyError", str(arguments[0]))
            known.pop(arguments[0])
        case "update":
            for other in others:
                known.update(dict.fromkeys(other or []))
        case "clear":
            known = {}
        case "copy":
            return SetObject(list(items), machine.tick())
        case "union":
            return make_set(machine, [*items, *(item for other in others for item in other or [])])
        case "intersection":
            return make_set(machine, [item for item in items if all(item in (other or []) for other in others)])
        case "difference":
            return make_set(machine, [item for item in items if not any(item in (other or []) for other in others)])
        case "issubset":
            return set(items) <= set(others[0] or [])
        case "issuperset":
            return set(items) >= set(others[0] or [])
        case "isdisjoint":
            return set(items).isdisjoint(others[0] or [])
        case _:
            machine.put(owner, "items", None)
            return machine.unknown()
    machine.put(owner, "items", list(known))
    return None
