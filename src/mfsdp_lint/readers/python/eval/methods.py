"""Methods of dictionaries, lists, sets, strings and numbers."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.readers.python.eval.attribute_writes import write
from mfsdp_lint.readers.python.eval.containers import (
    absorbed,
    any_of,
    as_mapping,
    delete_entry,
    entries_of,
    entry,
    hashable,
    holds_objects,
    make_set,
    plain_key,
    present,
    selected,
    set_entry,
    unseen_entry,
)
from mfsdp_lint.readers.python.eval.iteration import LONGEST, elements, forget_rest, iterate, uncertain
from mfsdp_lint.readers.python.eval.operators import binary, contains, equal
from mfsdp_lint.readers.python.eval.standard_objects import LARGEST_FACTOR, NotKnown, answer
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.generators import Coroutine, GeneratorCall, awaited
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join, part_of_each, truth
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.limits import LONGEST_LIST, LONGEST_TEXT, can_format, is_small
from mfsdp_lint.readers.python.values.markers import HAZY, STRAY
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    ListObject,
    Object,
    SetObject,
    Unknown,
    Write,
    all_are,
    is_constant,
    is_symbolic,
)


def dict_method(machine: Machine, owner: DictObject, name: str, call: Call) -> Object:
    """Evaluate `owner.name(...)` of a dictionary. Raises Raised where Python would."""
    hazy = bool(owner.writes.get(HAZY))
    if hazy and name in ("values", "items"):
        for value in owner.writes.get(STRAY, ()):
            havoc(machine, value)  # who walks over them may write to them
    if owner.view_of is not None and name in ("pop", "popitem", "clear"):
        havoc(machine, owner)
    match name, call.arguments:
        case "get", [key, *rest]:
            fallback = rest[0] if rest else call.keywords.get("default")
            return _get(machine, owner, plain_key(machine, key), fallback)
        case "pop", [key, *rest]:
            found = _get(machine, owner, plain_key(machine, key), rest[0] if rest else MISSING)
            if found is MISSING:
                raise Raised("KeyError", str(key))
            if hashable(key):
                machine.drop_entry(owner, plain_key(machine, key))
            else:
                havoc(machine, owner)
            if uncertain(found):
                machine.doubts += 1
                return present(machine, found)
            return found
        case "setdefault", [key, *rest]:
            found = _get(machine, owner, plain_key(machine, key), MISSING)
            default = rest[0] if rest else None
            if found is MISSING or uncertain(found):
                found = default if found is MISSING else join(machine, [present(machine, found), default])
                set_entry(machine, owner, key, found, call.node, call.frame)
            elif isinstance(found, Unknown):
                set_entry(machine, owner, key, found, call.node, call.frame)
            return found
        case "keys", []:
            items = iterate(machine, owner, call.frame)
            return ListObject(items, machine.tick()) if items is None else SetObject(items, machine.tick())
        case "values", []:
            return ListObject(None if hazy else list(owner.fields.values()), machine.tick())
        case "items", []:
            pairs = None if hazy else [_pair(machine, *pair) for pair in owner.fields.items()]
            return ListObject(pairs, machine.tick())
        case "copy", []:
            copied = DictObject(dict(owner.fields), machine.tick())
            copied.writes = dict(owner.writes)
            return copied
        case "update" | "__ior__", _:
            _update(machine, owner, call)
            return owner if name == "__ior__" else None
        case "clear", []:
            for key in reversed(list(owner.fields)):
                machine.drop(owner, key)
            return None
        case "move_to_end", [key] if not hazy and hashable(key):
            _move(machine, owner, plain_key(machine, key), call.keywords)
            return None
        case "popitem", [*which] if not hazy:
            if not owner.fields:
                raise Raised("KeyError", "popitem(): dictionary is empty")
            last = truth(machine, which[0] if which else call.keywords.get("last", True))
            if last is None:
                havoc(machine, owner)
                return machine.unknown("popitem()", not_none=True)
            key = list(owner.fields)[-1 if last else 0]
            value = owner.fields[key]
            machine.drop_entry(owner, key)
            return (key, value)
        case "fromkeys", [keys, *rest]:
            items = iterate(machine, keys, call.frame)
            return (
                machine.unknown()
                if items is None
                else DictObject(dict.fromkeys(items, rest[0] if rest else None), machine.tick())
            )
    if name not in _LOOKING:
        havoc(machine, owner)
    return machine.unknown()


_LOOKING = frozenset(
    ("get", "keys", "values", "items", "copy", "fromkeys", "__len__", "__iter__", "__reversed__", "__eq__", "__ne__",
     "__or__", "__ror__", "__repr__", "__str__", "__sizeof__", "__class__", "__hash__", "__format__", "__doc__")
)  # fmt: skip
"""Methods that leave a dictionary as it is, however they are called."""


def _move(machine: Machine, owner: DictObject, key: Object, keywords: dict[str, Object]) -> None:
    if key not in owner.fields:
        raise Raised("KeyError", str(key))
    value = owner.fields[key]
    others = {other: item for other, item in owner.fields.items() if other != key}
    machine.drop_entry(owner, key)
    machine.put(owner, key, value)
    last = truth(machine, keywords.get("last", True))
    if last is False:
        for other, item in others.items():
            machine.drop_entry(owner, other)
            machine.put(owner, other, item)
    elif last is None:
        havoc(machine, owner)


def _pair(machine: Machine, key: Object, value: Object) -> Object:
    return Choice(((key, present(machine, value)), MISSING)) if uncertain(value) else (key, value)


def _get(machine: Machine, owner: DictObject, key: Object, fallback: Object) -> Object:
    if isinstance(key, Choice):
        return part_of_each(machine, key, [_get(machine, owner, option, fallback) for option in key.options])
    if not hashable(key):
        return selected(machine, owner, key, [*entries_of(machine, owner), fallback])
    found = owner.fields.get(key, MISSING)
    if found is MISSING:
        return unseen_entry(machine, owner, key, fallback) if owner.writes.get(HAZY) else fallback
    if isinstance(found, Choice) and MISSING in found.options:
        return join(machine, [fallback if option is MISSING else option for option in found.options])
    return found


def _update(machine: Machine, owner: DictObject, call: Call) -> None:
    for argument in [as_mapping(machine, argument, call.node, call.frame) for argument in call.arguments]:
        if isinstance(argument, DictObject):
            for key, value in absorbed(machine, owner.fields, argument).items():
                if key not in argument.fields:
                    machine.put(owner, key, value)
                    continue
                source = argument.writes.get(key)
                if isinstance(source, Write) and isinstance(source.node, Origin) and source.module:  # it stands in data
                    said = Frame(source.module, source.function, None, call.frame, call.node)
                    write(machine, owner, key, value, source.node, said, source.focus, "assigned")
                    continue
                focus = (
                    source.focus
                    if source is not None and source is not True and source.module is call.frame.module
                    else None
                )
                write(machine, owner, key, value, call.node, call.frame, focus, "assigned")
            if argument.writes.get(HAZY):
                machine.record(owner, HAZY, True)
            continue
        pairs = iterate(machine, argument, call.frame)
        if pairs is None or not all_are(pairs, tuple) or any(len(pair) != 2 for pair in pairs):
            havoc(machine, owner)
            continue
        for pair in pairs:
            set_entry(machine, owner, pair[0], pair[1], call.node, call.frame)
    for key, value in call.keywords.items():
        if key == "**":
            havoc(machine, owner)
        else:
            write(machine, owner, key, value, call.node, call.frame, None, "assigned")


def sort(machine: Machine, items: list[Object], keywords: dict[str, Object], frame: Frame) -> list[Object] | None:
    """Sort the elements; None where the order is not known."""
    key = keywords.get("key")
    given = items if key is None else [invoke(machine, key, Call([item], {}, None, frame)) for item in items]
    keys = list(map(machine.settle, given))
    if not all(is_constant(one) for one in keys) or is_symbolic(*keys):
        return [any_of(machine, items)] * len(items) if key is not None and holds_objects(items) else None
    order = sorted(
        range(len(items)), key=_Comparable(keys), reverse=truth(machine, keywords.get("reverse", False)) is True
    )
    return [items[index] for index in order]


class _Comparable:
    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys
        try:
            sorted(keys)
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None

    def __call__(self, index: int) -> Any:
        return self.keys[index]


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
    if name == "translate":
        with suppress(NotKnown):
            return answer(machine, owner.translate, arguments, keywords, LARGEST_FACTOR)
        return machine.unknown("", not_none=True)
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
    if name.startswith("__") or name == "format_map":
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
    return name != "to_bytes" or not any(isinstance(item, int) and item > LONGEST for item in given)


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
