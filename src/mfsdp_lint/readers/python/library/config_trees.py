"""OmegaConf's configurations as trees of entries: made from objects, merged, changed, and applied to objects.

A changed entry has a write; any other entry has the value of the object that the tree was made from. An interpolation
(`${other.entry}`, `${.beside}`, `text ${inside}`, `${oc.env:NAME,default}`, as of OmegaConf 2.3) is worked out whenever
it is read, from what the tree holds then. One that names a resolver of the program, or an entry that is not there, is
unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.overrides import NoOverride, read_element
from mfsdp_lint.readers.python.eval import attributes
from mfsdp_lint.readers.python.eval.attribute_writes import AS_ENTRY, set_attribute
from mfsdp_lint.readers.python.eval.attributes import get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.classes import enum_members, fields_of, opaque
from mfsdp_lint.readers.python.eval.iteration import text_of_parts
from mfsdp_lint.readers.python.eval.operators import equal
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised, RefusedCall
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.state.variables import variable
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import LACKED, MAY_HAVE_CHANGED, SCHEMA, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    DTYPES,
    MISSING,
    OVERRIDE,
    Choice,
    ClassObject,
    ConfigTree,
    DictObject,
    EnumMember,
    External,
    Frame,
    Instance,
    Interpolation,
    Lacked,
    ListObject,
    Object,
    Unknown,
    Write,
    blame,
    derived,
    identical,
    lacked_by,
    obstacle_of,
    uncertain,
)


def make_tree(interp: Interpreter, text: str = "config", above: ConfigTree | None = None) -> ConfigTree:
    """Make an empty tree, or an empty part of the one `above`."""
    made = ConfigTree(interp.tick(), text, True)
    made.above = above
    made.fields[WHOLE] = True
    return made


def is_whole(tree: Object) -> bool:
    """Tell whether all entries of a tree, or of a dictionary, are known."""
    if isinstance(tree, ConfigTree):
        return tree.fields.get(WHOLE) is True
    return isinstance(tree, DictObject) and not tree.writes.get(MAY_HAVE_CHANGED)


def entries(tree: ConfigTree | DictObject) -> list[tuple[str, Object]]:
    """Return the entries of a tree or dictionary."""
    return [(key, value) for key, value in tree.fields.items() if isinstance(key, str)]


def tree_of(interp: Interpreter, value: Object, text: str = "config", above: ConfigTree | None = None) -> Object:
    """Turn a dataclass object, or a dictionary, into a tree; return anything else as it is."""
    value = interp.settle(value)
    if is_interpolation(value):
        return Interpolation(interp.tick(), value)
    if isinstance(value, DictObject) and is_whole(value):
        names = [key for key in value.fields if isinstance(key, str)]
        known = len(names) == len(value.fields)
    elif isinstance(value, Instance) and (classes := _classes(value)):
        declared = dict.fromkeys(spec.name for cls in classes for spec in fields_of(interp, cls))
        names = [name for name in declared if name in value.fields]
        known = not value.writes.get(MAY_HAVE_CHANGED) and not any(opaque(interp, cls) for cls in classes)
    elif isinstance(value, ListObject) and value.items is not None:
        return ListObject([tree_of(interp, item, text) for item in value.items], interp.tick())
    else:
        return value
    made = make_tree(interp, text, above)
    for name in names:
        made.fields[name] = tree_of(interp, value.fields[name], f"{text}.{name}", made)
        if isinstance(value, DictObject) and isinstance(value.writes.get(name), Write):
            made.writes[name] = value.writes[name]
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
        made.fields[SCHEMA] = value.cls
    if not known:
        made.fields[WHOLE] = False
    return made


def _classes(value: Instance) -> Sequence[ClassObject]:
    """Return the classes that an object may be of; none where one of them is not known."""
    options = value.cls.options if isinstance(value.cls, Choice) else (value.cls,)
    classes = [each for each in options if isinstance(each, ClassObject)]
    return classes if len(classes) == len(options) else ()


def _as_entry(interp: Interpreter, tree: ConfigTree, value: Object) -> Object:
    """Return the entry that a tree makes of a value that an attribute or item of it is given: a copy of its own."""
    if isinstance(value, ConfigTree):
        value = deep_copy(interp, value)
        assert isinstance(value, ConfigTree)
        value.above = tree
        return value
    if isinstance(value, DictObject) or is_interpolation(value):
        return tree_of(interp, value, tree.text, tree)
    return value


AS_ENTRY.append(_as_entry)


def merge(interp: Interpreter, tree: ConfigTree, source: Object, call: Call, struct: bool = False) -> None:
    """Merge a tree or dictionary into a tree. With `struct`, a key that the tree does not have is refused."""
    if isinstance(source, Instance):
        source = tree_of(interp, source)
    if isinstance(source, DictObject) and not all(isinstance(key, str) for key in source.fields):
        source = None  # trees do not hold other keys here, as `on:` in YAML
    if not isinstance(source, (ConfigTree, DictObject)) or not is_whole(source):
        forget_because_of(interp, tree, source)
        blame(tree, obstacle_of(source))
        return
    for key, value in entries(source):
        put(interp, tree, key, value, source.writes.get(key), call, struct)


def forget_because_of(interp: Interpreter, owner: Object, unknown: Object) -> None:
    """Forget what an object holds, as something unknown lies over it, for the reason why that is unknown."""
    with interp.blaming(obstacle_of(unknown) or interp.obstacle):
        forget_reachable(interp, owner)


def all_lacked(tree: Object, above: str = "") -> Iterator[tuple[str, Lacked]]:
    """Yield the writes to names that a tree, or one in it, does not have, with the path of the name."""
    if isinstance(tree, ConfigTree):
        yield from ((f"{above}{each.name}", each) for each in lacked_by(tree))
        for key, value in entries(tree):
            yield from all_lacked(value, f"{above}{key}.")


def meant(tree: Object, path: str) -> str:
    """Return the existing path that is most like a path that a tree does not have; "" where none is."""
    section, _, name = path.rpartition(".")
    for part in filter(None, section.split(".")):
        tree = tree.fields.get(part) if isinstance(tree, ConfigTree) else None
    known = [key for key, _ in entries(tree)] if isinstance(tree, ConfigTree) else []
    close = nearest(name, known, cutoff=0.75)
    return f"{section}.{close[0]}".lstrip(".") if close else ""


def _lacks(interp: Interpreter, owner: ConfigTree | Instance, *more: Lacked) -> None:
    """Remember writes to names that a tree or an object does not have."""
    if more:
        interp.put(owner, LACKED, (*lacked_by(owner), *more))


def put(
    interp: Interpreter, tree: ConfigTree, key: str, value: Object, write: Any, call: Call, struct: bool = False
) -> None:
    """Change one entry of a tree; dictionaries are merged. `write` is the write to record, None: this call.

    A write that start-up refuses under `struct` is remembered for the rules to report, and the program is followed
    without it.
    """
    former = tree.fields.get(key, MISSING)
    if is_interpolation(value):
        value = Interpolation(interp.tick(), value)
    elif isinstance(value, Interpolation):
        value = Interpolation(interp.tick(), value.text)
    if isinstance(former, EnumMember) and isinstance(value, (str, int)) and SCHEMA in tree.fields:
        value = _member(interp, former.cls, value)
    write = write if isinstance(write, Write) else interp.note(call.node, call.frame, None, "assigned", value, None)
    if former is MISSING and struct and tree.fields.get(WHOLE) is True:
        _lacks(interp, tree, Lacked(key, "", write, refused=True))
        return
    if isinstance(value, (ConfigTree, DictObject)):
        if isinstance(former, ConfigTree):
            merge(interp, former, value, call, struct)
            return
        if isinstance(former, (Unknown, Choice)):
            value = interp.unknown(key)
        else:
            made = make_tree(interp, f"{tree.text}.{key}", tree)
            merge(interp, made, value, call)
            value = made
    elif uncertain(value):
        value = join(interp, [former if option is MISSING else option for option in value.options])
    interp.put(tree, key, value)
    interp.record(tree, key, write)


def _member(interp: Interpreter, cls: ClassObject, value: str | int) -> Object:
    """Return the member of an enumeration that a typed entry takes for its name or its value (omegaconf 2.4.0,
    nodes.py, `EnumNode.validate_and_convert_to_enum`; 2.3 refuses a value that is a text). Raises Raised where there is
    none.
    """
    members = enum_members(interp, cls)
    found = members.get(value.removeprefix(f"{cls.name}.")) if isinstance(value, str) else None
    if found is None and not isinstance(value, bool):
        found = next((each for each in members.values() if identical(each.value, value)), None)
    if found is None:
        raise Raised("ValidationError", f"Invalid value '{value}', expected one of [{', '.join(members)}]")
    return found


def put_below(
    interp: Interpreter,
    tree: ConfigTree,
    path: str,
    value: Object,
    write: Any,
    call: Call,
    struct: bool = False,
    force: bool = False,
) -> None:
    """Change the entry at a path, as `OmegaConf.update(tree, "a.b", value)`.

    `force` adds a missing entry even under `struct`. Raises RefusedCall under `struct` for an entry of a value that
    is no mapping.
    """
    *above, last = path.split(".")
    struct = struct and not force
    for depth, part in enumerate(above, 1):
        here = interp.settle(tree.fields.get(part, MISSING))
        if here is MISSING and struct and tree.fields.get(WHOLE) is True:
            _lacks(interp, tree, Lacked(part, ".".join((*above[depth:], last)), write, refused=True))
            return
        if not isinstance(here, ConfigTree):
            is_section = type(here) is Unknown  # of which nothing is known but what is put there
            if isinstance(here, (Unknown, Choice, Instance)) and not is_section:
                put(interp, tree, part, interp.unknown(part), write, call)
                return
            if struct and here is not MISSING and not is_section:
                raise RefusedCall(f"Could not override '{path}'", name="OverridesError")
            inner = make_tree(interp, f"{tree.text}.{part}", tree)
            inner.fields[WHOLE] = tree.fields.get(WHOLE) is True and not is_section
            interp.put(tree, part, inner)
            here = inner
        tree = here
    put(interp, tree, last, value, write, call, struct)


def read_entry(interp: Interpreter, tree: ConfigTree, key: str, frame: Frame) -> tuple[Object, Any]:
    """Return the value of an entry, and the write that decides it, None where there is none."""
    value = tree.fields[key]
    if not isinstance(value, Interpolation):
        return value, tree.writes.get(key)
    found = interpolated(interp, tree, value, frame)
    return found, tree.writes.get(key) if value.found is None else value.found[0].writes.get(value.found[1])


def as_dictionary(interp: Interpreter, tree: Object, frame: Frame, resolved: bool = True) -> Object:
    """Convert a tree to plain dictionaries and lists (`OmegaConf.to_container`); interpolations that are not `resolved`
    stay texts.
    """
    if not isinstance(tree, ConfigTree):
        return tree
    made = DictObject({}, interp.tick())
    for key, value in entries(tree):
        write = tree.writes.get(key)
        if isinstance(value, Interpolation):
            value, write = read_entry(interp, tree, key, frame) if resolved else (value.text, write)
        made.fields[key] = as_dictionary(interp, value, frame, resolved)
        if write is not None:
            made.writes[key] = write
    if lacked := lacked_by(tree):
        made.writes[LACKED] = lacked
    if not is_whole(tree):
        made.writes[MAY_HAVE_CHANGED] = True
    return made


def as_objects(interp: Interpreter, tree: Object, call: Call) -> Object:
    """Convert a tree to objects of the dataclasses that it was made from, and to plain dictionaries and lists
    (`OmegaConf.to_object`).
    """
    schema = tree.fields.get(SCHEMA) if isinstance(tree, ConfigTree) else None
    if not isinstance(tree, ConfigTree) or not isinstance(schema, ClassObject) or not is_whole(tree):
        return as_dictionary(interp, tree, call.frame)
    found = {key: read_entry(interp, tree, key, call.frame) for key, _ in entries(tree)}
    values = {key: as_objects(interp, interp.settle(value), call) for key, (value, _) in found.items()}
    names = {spec.name for spec in fields_of(interp, schema) if spec.init}
    made = invoke(interp, schema, call.passing([], {key: value for key, value in values.items() if key in names}))
    if isinstance(made, Instance):
        made.writes = {key: write for key, (_, write) in found.items() if key in made.fields and write is not None}
    return made


def apply(interp: Interpreter, config: Object, changes: Object, call: Call) -> None:
    """Set the values of the entries, section by section, as upstream's `apply_overrides` does.

    An entry that the object does not have is left out, for rules to report; so is an entry that it refuses.
    """
    changes = interp.settle(changes)
    if not isinstance(changes, (DictObject, ConfigTree)):
        forget_because_of(interp, config, changes)
        return
    if not is_whole(changes) and not isinstance(config, Unknown):
        forget_because_of(interp, config, changes)
    if isinstance(config, Instance):
        _lacks(interp, config, *lacked_by(changes))
    for key, value in entries(changes):
        if has_attribute(interp, config, key, call.node, call.frame) is False:
            write = changes.writes.get(key)
            if isinstance(config, Instance) and isinstance(write, Write):
                _lacks(interp, config, Lacked(key, "", write, refused=False))
            continue
        write = changes.writes.get(key)
        if isinstance(changes, ConfigTree):
            value, write = read_entry(interp, changes, key, call.frame)
        try:
            _apply_one(interp, config, key, interp.settle(value), write, call)
        except Raised:
            interp.doubts += 1


def _apply_one(interp: Interpreter, config: Object, key: str, value: Object, write: Any, call: Call) -> None:
    current = interp.settle(get_attribute(interp, config, key, call.node, call.frame))
    if isinstance(value, (DictObject, ConfigTree)):
        if isinstance(current, (Instance, Choice)) or (isinstance(current, Unknown) and _is_changed(value)):
            if "_target_" in value.fields:
                _set(interp, config, key, interp.unknown(key, not_none=True), write, call)
            else:
                apply(interp, current, value, call)
        elif not isinstance(current, Unknown) and (write is not None or _is_changed(value)):
            _set(interp, config, key, as_dictionary(interp, value, call.frame), write, call)
        return
    if not isinstance(write, Write) and (identical(current, value) or equal(interp, current, value) is True):
        return
    if isinstance(current, External) and current.name.startswith("torch.") and isinstance(value, str):
        dtype = value.rpartition(".")[2]
        value = External(f"torch.{dtype}") if dtype in DTYPES else interp.unknown(key, not_none=True)
    _set(interp, config, key, value, write, call)


def _is_changed(tree: ConfigTree | DictObject) -> bool:
    """Tell whether the program changed an entry of a tree."""
    return any(
        isinstance(tree.writes.get(key), Write) or (isinstance(value, (ConfigTree, DictObject)) and _is_changed(value))
        for key, value in entries(tree)
    )


def _set(interp: Interpreter, config: Object, key: str, value: Object, write: Any, call: Call) -> None:
    """Set an attribute as `setattr(config, key, value)`, recorded at the place that states the value."""
    if not isinstance(write, Write) or write.module is None:
        set_attribute(interp, config, key, value, call.node, call.frame)
        return
    said = Frame(write.module, write.function, None, call.frame, call.node)
    how = OVERRIDE if write.how == OVERRIDE else "assigned"
    set_attribute(interp, config, key, value, write.node, said, write.focus, how)


_INNERMOST = lazy_pattern(r"\$\{(?P<said>[^${}]*)\}")
_KEY = lazy_pattern(r"(?P<dots>\.*)(?P<path>[^.\[\]:]+(?:\.[^.\[\]:]+)*)")
_QUOTED = lazy_pattern(r"""(?P<quote>["'])(?P<text>[^"'\\]*)(?P=quote)""")
_DEEPEST = 20


def is_interpolation(value: Object) -> TypeGuard[str]:
    """Tell whether a text in a tree stands for something else: OmegaConf works it out, or it is missing (`???`)."""
    return isinstance(value, str) and ("${" in value or value == "???")


class _NotInterpolated(Exception):
    """The value of an interpolation is not known."""


class _NoEntry(_NotInterpolated):
    """The entry that an interpolation names is surely not there."""


def interpolated(interp: Interpreter, tree: ConfigTree, entry: Interpolation, frame: Frame) -> Object:
    """Return the value of an interpolation that is an entry of a tree."""
    try:
        value, entry.found = _value(interp, tree, entry.text, frame, _DEEPEST)
    except _NotInterpolated:
        entry.found = None
        return interp.unknown(entry.text)
    return value


Found = tuple[ConfigTree, str] | None


def _value(interp: Interpreter, tree: ConfigTree, text: str, frame: Frame, left: int) -> tuple[Object, Found]:
    """Return the value of a text with interpolations, and the entry whose value it is. Raises _NotInterpolated.

    With other characters around one that is not known it is a text all the same.
    """
    if "\\" in text or text == "???" or not left:
        raise _NotInterpolated
    parts: list[Object] = []
    while (inner := _INNERMOST.search(text)) is not None:
        value: Object = MISSING
        found: Found = None
        try:
            value, found = _said(interp, tree, inner["said"], frame, left - 1)
        except _NotInterpolated as error:
            if isinstance(error, _NoEntry) or inner.span() == (0, len(text)):
                raise
        if inner.span() == (0, len(text)):
            return (derived(value, *parts) if parts else value), found
        known = interp.settle(value)
        said = str(known) if isinstance(known, CONSTANTS) else HOLE
        if "${" in said:
            raise _NotInterpolated
        parts += [value] if said != HOLE else []
        text = text[: inner.start()] + said + text[inner.end() :]
    if "${" in text:
        raise _NotInterpolated
    return text_of_parts(interp, [text], parts), None


def _said(interp: Interpreter, tree: ConfigTree, said: str, frame: Frame, left: int) -> tuple[Object, Found]:
    """Return what is between the braces of an interpolation. Raises _NotInterpolated."""
    if HOLE in said:
        raise _NotInterpolated
    resolver, colon, rest = said.partition(":")
    name, comma, default = (each.strip() for each in rest.partition(","))
    if not colon:
        key = said.strip()
        named = _KEY.fullmatch(key)
        if named is None:
            raise _NotInterpolated
        above: ConfigTree | None = tree
        for _ in named["dots"][1:]:
            above = above.above if above is not None else None
        while not named["dots"] and above is not None and above.above is not None:
            above = above.above
        holder: Object = above
        *parts, last = named["path"].split(".")
        for part in parts:
            holder = _entry(interp, holder, part, frame, left)[0]
        value, found = _entry(interp, holder, last, frame, left)
        assert isinstance(holder, ConfigTree)
        return value, found or (holder, last)
    match resolver.strip():
        case "oc.env" if name.isidentifier():
            return (variable(interp, name, frame, default) if comma else variable(interp, name, frame)), None
        case "oc.select":
            try:
                return _said(interp, tree, name, frame, left)
            except _NoEntry:
                return (_decoded(default) if comma else None), None
        case "oc.decode":
            quoted = _QUOTED.fullmatch(rest.strip())
            if quoted is not None:
                return _decoded(quoted["text"]), None
    raise _NotInterpolated


def _decoded(text: str) -> Object:
    """Return the value of a text in OmegaConf's grammar. Raises _NotInterpolated."""
    try:
        element = read_element(text)
    except NoOverride:
        raise _NotInterpolated from None
    if not isinstance(element, Known) or not isinstance(element.value, CONSTANTS):
        raise _NotInterpolated
    return element.value


def _entry(interp: Interpreter, holder: Object, key: str, frame: Frame, left: int) -> tuple[Object, Found]:
    holder = interp.settle(holder)
    value = holder.fields.get(key, MISSING) if isinstance(holder, ConfigTree) else MISSING
    if value is MISSING:
        raise _NoEntry if isinstance(holder, ConfigTree) and is_whole(holder) else _NotInterpolated
    if isinstance(value, Interpolation) and isinstance(holder, ConfigTree):
        return _value(interp, holder, value.text, frame, left - 1)
    return value, None


attributes.INTERPOLATED.append(interpolated)
