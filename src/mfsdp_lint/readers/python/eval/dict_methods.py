"""Methods of dictionaries."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.readers.python.eval.attribute_writes import write
from mfsdp_lint.readers.python.eval.containers import (
    absorbed,
    as_mapping,
    entries_of,
    hashable,
    plain_key,
    present,
    selected,
    set_entry,
    unseen_entry,
)
from mfsdp_lint.readers.python.eval.iteration import iterate, uncertain
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.joining import join, part_of_each
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.truth import truth
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY, STRAY
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    ListObject,
    Object,
    SetObject,
    Unknown,
    Write,
    all_are,
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
