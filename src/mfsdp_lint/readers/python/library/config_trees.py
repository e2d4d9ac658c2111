"""OmegaConf's configurations as trees of entries: made from objects, merged, changed, and applied to objects.

An entry that somebody changed has a write; what nobody changed is what it was where the tree was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.attributes import get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, opaque
from mfsdp_lint.readers.python.eval.comparisons import equal
from mfsdp_lint.readers.python.eval.iteration import uncertain
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.dtypes import DTYPES
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.identity import identical
from mfsdp_lint.readers.python.values.markers import HAZY, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ConfigTree,
    DictObject,
    External,
    Instance,
    ListObject,
    Object,
    Unknown,
    Write,
)


def make_tree(machine: Machine, text: str = "config") -> ConfigTree:
    """An empty tree."""
    made = ConfigTree(machine.tick(), text, True)
    made.fields[WHOLE] = True
    return made


def is_whole(tree: Object) -> bool:
    """Whether all entries of a tree, or of a dictionary, are known."""
    if isinstance(tree, ConfigTree):
        return tree.fields.get(WHOLE) is True
    return isinstance(tree, DictObject) and not tree.writes.get(HAZY)


def entries(tree: ConfigTree | DictObject) -> list[tuple[str, Object]]:
    """The entries of a tree or dictionary."""
    return [(key, value) for key, value in tree.fields.items() if isinstance(key, str)]


def tree_of(machine: Machine, value: Object, text: str = "config") -> Object:
    """A dataclass object, or a dictionary, as a tree; anything else as it is."""
    value = machine.settle(value)
    if _is_open(value):
        return machine.unknown(text)
    if isinstance(value, DictObject) and is_whole(value):
        names = [key for key in value.fields if isinstance(key, str)]
        known = len(names) == len(value.fields)
    elif isinstance(value, Instance) and (classes := _classes(value)):
        declared = dict.fromkeys(spec.name for cls in classes for spec in fields_of(machine, cls))
        names = [name for name in declared if name in value.fields]
        known = not value.writes.get(HAZY) and not any(opaque(machine, cls) for cls in classes)
    elif isinstance(value, ListObject) and value.items is not None:
        return ListObject([tree_of(machine, item, text) for item in value.items], machine.tick())
    else:
        return value
    made = make_tree(machine, text)
    for name in names:
        made.fields[name] = tree_of(machine, value.fields[name], f"{text}.{name}")
        if isinstance(value, DictObject) and isinstance(value.writes.get(name), Write):
            made.writes[name] = value.writes[name]
    if not known:
        made.fields[WHOLE] = False
    return made


def _classes(value: Instance) -> Sequence[ClassObject]:
    """The classes that an object may be of; none where one of them is not known."""
    options = value.cls.options if isinstance(value.cls, Choice) else (value.cls,)
    classes = [each for each in options if isinstance(each, ClassObject)]
    return classes if len(classes) == len(options) else ()


def _is_open(value: Object) -> bool:
    """Whether OmegaConf gives something else for a text: what another entry holds, or an error where nothing is."""
    return isinstance(value, str) and ("${" in value or value == "???")


def merge(machine: Machine, tree: ConfigTree, source: Object, node: Any, frame: Frame, struct: bool = False) -> None:
    """Merge a tree or dictionary into a tree. With `struct`, a key that the tree does not have raises Raised."""
    if isinstance(source, Instance):
        source = tree_of(machine, source)
    if not isinstance(source, (ConfigTree, DictObject)) or not is_whole(source) or _has_other_keys(source):
        havoc(machine, tree)
        return
    for key, value in entries(source):
        put(machine, tree, key, value, source.writes.get(key), node, frame, struct)


def _has_other_keys(source: ConfigTree | DictObject) -> bool:
    """Whether a dictionary has keys that are no text, as `on:` in YAML: trees do not hold them here."""
    return isinstance(source, DictObject) and not all(isinstance(key, str) for key in source.fields)


def put(
    machine: Machine,
    tree: ConfigTree,
    key: str,
    value: Object,
    write: Any,
    node: Any,
    frame: Frame,
    struct: bool = False,
) -> None:
    """Change one entry of a tree; dictionaries are merged. `write` is who says so, None: the call at hand."""
    former = tree.fields.get(key, MISSING)
    if _is_open(value):
        value = machine.unknown(key)
    if former is MISSING and struct and tree.fields.get(WHOLE) is True:
        raise Raised("OverridesError", f"Could not override '{key}'")
    write = write if isinstance(write, Write) else machine.note(node, frame, None, "assigned", value, None)
    if isinstance(value, (ConfigTree, DictObject)):
        if isinstance(former, ConfigTree):
            merge(machine, former, value, node, frame, struct)
            return
        if isinstance(former, (Unknown, Choice)):
            value = machine.unknown(key)
        else:
            made = make_tree(machine, f"{tree.text}.{key}")
            merge(machine, made, value, node, frame)
            value = made
    elif uncertain(value):
        value = join(machine, [former if option is MISSING else option for option in value.options])
    machine.put(tree, key, value)
    machine.record(tree, key, write)


def put_below(
    machine: Machine,
    tree: ConfigTree,
    path: str,
    value: Object,
    write: Any,
    node: Any,
    frame: Frame,
    struct: bool = False,
    force: bool = False,
) -> None:
    """`OmegaConf.update(tree, "a.b", value)`. `force` adds what is not there, even under `struct`."""
    *above, last = path.split(".")
    struct = struct and not force
    for part in above:
        here = machine.settle(tree.fields.get(part, MISSING))
        if here is MISSING and struct and tree.fields.get(WHOLE) is True:
            raise Raised("OverridesError", f"Could not override '{path}'")
        if not isinstance(here, ConfigTree):
            if isinstance(here, (Unknown, Choice, Instance)):
                put(machine, tree, part, machine.unknown(part), write, node, frame)
                return
            if struct and here is not MISSING:
                raise Raised("OverridesError", f"Could not override '{path}'")
            inner = make_tree(machine, f"{tree.text}.{part}")
            inner.fields[WHOLE] = tree.fields.get(WHOLE) is True
            machine.put(tree, part, inner)
            here = inner
        tree = here
    put(machine, tree, last, value, write, node, frame, struct)


def as_dictionary(machine: Machine, tree: Object) -> Object:
    """`OmegaConf.to_container`: plain dictionaries and lists."""
    if not isinstance(tree, ConfigTree):
        return tree
    made = DictObject({}, machine.tick())
    for key, value in entries(tree):
        made.fields[key] = as_dictionary(machine, value)
        if key in tree.writes:
            made.writes[key] = tree.writes[key]
    if not is_whole(tree):
        made.writes[HAZY] = True
    return made


def apply(machine: Machine, config: Object, changes: Object, node: Any, frame: Frame) -> None:
    """Set what the entries say, section by section, as upstream's `apply_overrides` does.

    What the object does not have is left out, and so is what it refuses.
    """
    changes = machine.settle(changes)
    if not isinstance(changes, (DictObject, ConfigTree)):
        havoc(machine, config)
        return
    if not is_whole(changes) and not isinstance(config, Unknown):
        havoc(machine, config)
    for key, value in entries(changes):
        if has_attribute(machine, config, key, node, frame) is False:
            continue
        try:
            _apply_one(machine, config, key, machine.settle(value), changes.writes.get(key), node, frame)
        except Raised:
            machine.doubts += 1


def _apply_one(machine: Machine, config: Object, key: str, value: Object, write: Any, node: Any, frame: Frame) -> None:
    current = machine.settle(get_attribute(machine, config, key, node, frame))
    if isinstance(value, (DictObject, ConfigTree)):
        if isinstance(current, (Instance, Choice)) or (isinstance(current, Unknown) and _is_changed(value)):
            if "_target_" in value.fields:
                _set(machine, config, key, machine.unknown(key, not_none=True), write, node, frame)
            else:
                apply(machine, current, value, node, frame)
        elif not isinstance(current, Unknown) and (write is not None or _is_changed(value)):
            _set(machine, config, key, as_dictionary(machine, value), write, node, frame)
        return
    if not isinstance(write, Write) and (identical(current, value) or equal(machine, current, value) is True):
        return
    if isinstance(current, External) and current.name.startswith("torch.") and isinstance(value, str):
        dtype = value.rpartition(".")[2]
        value = External(f"torch.{dtype}") if dtype in DTYPES else machine.unknown(key, not_none=True)
    _set(machine, config, key, value, write, node, frame)


def _is_changed(tree: ConfigTree | DictObject) -> bool:
    """Whether somebody changed an entry of a tree."""
    return any(
        isinstance(tree.writes.get(key), Write) or (isinstance(value, (ConfigTree, DictObject)) and _is_changed(value))
        for key, value in entries(tree)
    )


def _set(machine: Machine, config: Object, key: str, value: Object, write: Any, node: Any, frame: Frame) -> None:
    """`setattr(config, key, value)`, told where the value is said."""
    if not isinstance(write, Write) or write.module is None:
        set_attribute(machine, config, key, value, node, frame)
        return
    said = Frame(write.module, write.function, None, frame, node)
    set_attribute(machine, config, key, value, write.node, said, write.focus)
