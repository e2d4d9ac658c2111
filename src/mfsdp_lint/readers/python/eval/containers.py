"""Lists, dictionaries, sets and strings: what they are made of, and their entries."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.attribute_writes import write
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import enum_members, is_enum, special
from mfsdp_lint.readers.python.eval.imports import import_module
from mfsdp_lint.readers.python.eval.iteration import called, iterate
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.forgetting import as_object, forget_reachable, part_of
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.own_argv import is_argv
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import OBJECT_LIMIT, join, over_options
from mfsdp_lint.readers.python.state.variables import (
    argv,
    changeable_argv,
    copied_environment,
    is_environment,
    no_text,
    own_argv,
    variable,
    words,
)
from mfsdp_lint.readers.python.values.bounds import weighs_little
from mfsdp_lint.readers.python.values.code import Call, plain
from mfsdp_lint.readers.python.values.markers import (
    EITHER,
    FACTORY,
    MAY_HAVE_CHANGED,
    METHOD_OF,
    QUESTION,
    ROW_OF,
    TAKEN_AWAY,
    UNKNOWN_KEYS,
)
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    ClassObject,
    ConfigTree,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Partial,
    SetObject,
    StandardObject,
    Unknown,
    blame,
    identical,
    is_constant,
    is_object,
    is_symbolic,
    obstacle_of,
    uncertain,
)


def as_mapping(interp: Interpreter, value: Object, node: Any, frame: Frame) -> Object:
    """Return the dictionary form of a configuration, or of an object with `keys` and `__getitem__`; any other value as
    it is.
    """
    value = interp.settle(value)
    if is_environment(value):
        return copied_environment(interp)
    if type(value) is StandardObject and (found := standard_objects.mapping(interp, value)) is not None:
        return found
    keys: Object = value if type(value) is ConfigTree else MISSING
    if special(interp, value, "__getitem__") is not None:
        keys = called(interp, value, "keys", node, frame)
    items = None if keys is MISSING else iterate(interp, keys, frame)
    if items is None or not all(map(hashable, items)):
        return value
    made = DictObject({}, interp.tick())
    made.fields = {key: entry(interp, value, key, node, frame) for key in items}
    if isinstance(value, ConfigTree):
        made.writes = {key: value.writes[key] for key in items if key in value.writes}
    return made


def present(interp: Interpreter, value: Choice) -> Object:
    """Return an element that may be missing as if it were there."""
    return join(interp, [option for option in value.options if option is not MISSING])


def make_set(interp: Interpreter, items: list[Object] | None) -> Object:
    """Make a set of the given elements; its elements are not known where they cannot be told apart."""
    items = None if items is None else list(map(interp.settle, items))
    if items is None or not all(isinstance(item, EnumMember) or is_constant(item) for item in items):
        return SetObject(None, interp.tick())
    return SetObject(list(dict.fromkeys(items)), interp.tick())


def make_tuple(interp: Interpreter, items: list[Object] | None) -> Object:
    """Make a tuple of the given elements, or a list in its place where some of them may be missing."""
    if items is None or not weighs_little(items):
        return interp.unknown("", not_none=True)
    whole = tuple(items)
    return some_of(interp, whole) if any(map(uncertain, whole)) else whole


def plain_key(interp: Interpreter, key: Object) -> Object:
    key = interp.settle(key)
    return tuple(map(interp.settle, key)) if type(key) is tuple else plain(key)


def entry(interp: Interpreter, holder: Object, key: Object, node: Any, frame: Frame) -> Object:
    """Evaluate `holder[key]`. Raises Raised where Python would."""
    holder, key = interp.settle(holder), plain_key(interp, key)
    if isinstance(key, Unknown):
        key = interp.key_of_row(holder, key, node, frame)
    if is_argv(holder) and (own := own_argv(interp)) is not MISSING:  # (`from sys import argv`)
        holder = own
    if isinstance(holder, Choice):
        return over_options(interp, holder, lambda option: entry(interp, option, key, node, frame))
    if isinstance(key, Choice) and isinstance(holder, (DictObject, ListObject, tuple)):
        return over_options(interp, key, lambda option: entry(interp, holder, option, node, frame))
    if isinstance(holder, DictObject):
        return _dict_entry(interp, holder, key, node, frame)
    if isinstance(holder, (ListObject, tuple, str, bytes, range)):
        return _sequence_entry(interp, holder, key)
    if isinstance(holder, Unknown):
        if type(holder) is StandardObject:
            return standard_objects.item(interp, holder, key)
        if type(holder) is ConfigTree and isinstance(key, str):
            return get_attribute(interp, holder, key, node, frame)
        if is_constant(key):
            holder = as_object(interp, holder)
            return part_of(interp, holder, ("entry", key), f"{holder.text}[{key!r}]")
        return interp.unknown()
    if isinstance(holder, ClassObject):
        if is_enum(interp, holder) and isinstance(key, str):
            members = enum_members(interp, holder)
            if key in members:
                return members[key]
            raise Raised("KeyError", key)
        if is_enum(interp, holder):
            interp.doubts += 1
            return join(interp, list(enum_members(interp, holder).values()) or [interp.unknown()])
        return holder
    if isinstance(holder, External) and holder.name == "sys.modules":
        name = interp.settle(key)
        if name == frame.module.fields.get("__name__"):
            return frame.module
        found = import_module(interp, name, frame.module) if isinstance(name, str) else None
        return found if isinstance(found, Module) else interp.unknown("module")
    if isinstance(holder, External):
        if holder.name == "sys.argv" and isinstance(key, slice) and (key.start or 0) > 0:
            # Nothing is given on the command line, unless whoever starts the program gives something.
            given = interp.started_with() or ()
            stop = key.stop - 1 if isinstance(key.stop, int) and key.stop > 0 else key.stop
            return words(interp, given[slice(key.start - 1, stop, key.step)], frame)
        if holder.name == "sys.argv" and isinstance(key, slice) and key.step is None and key.stop == 1:
            return ListObject([interp.unknown("sys.argv[0]", not_none=True)], interp.tick())
        if holder.name == "sys.argv" and isinstance(key, int) and key > 0:
            every = argv(interp, frame)
            return interp.word_not_given(key) if every is None else _sequence_entry(interp, every, key)
        if holder.name == "sys.version_info":
            is_from_first = isinstance(key, slice) and not key.start and key.step is None
            return holder if is_from_first else 3 if key == 0 and isinstance(key, int) else interp.unknown()
        return variable(interp, key, frame) if is_environment(holder) else External(holder.name)
    if isinstance(holder, Instance):
        return _ask(interp, holder, "__getitem__", [key], node, frame)
    if isinstance(holder, (int, float, complex, type(None))):
        raise Raised("TypeError", f"'{type(holder).__name__}' object is not subscriptable")
    return interp.unknown()


def _dict_entry(interp: Interpreter, holder: DictObject, key: Object, node: Any, frame: Frame) -> Object:
    if isinstance(key, slice):
        raise Raised("TypeError", "unhashable type: 'slice'")  # from Python 3.12 on it is a KeyError
    if not hashable(key):
        found = selected(interp, holder, key, entries_of(interp, holder))
        if type(found) is Choice and isinstance(key, Unknown) and isinstance(node, ast.Subscript):
            found.by = _picked_by(found, holder, key, ast.unparse(node.slice))
        return row(found, holder, key, node)
    found = holder.fields.get(key, MISSING)
    if found is MISSING:
        factory = holder.writes.get(FACTORY)
        if factory is not None and not holder.writes.get(MAY_HAVE_CHANGED):
            made = invoke(interp, factory, Call([], {}, node, frame))
            set_entry(interp, holder, key, made, node, frame)
            return made
        if holder.writes.get(MAY_HAVE_CHANGED):
            found = unseen_entry(interp, holder, key)
            interp.put(holder, key, found)
            return found
        raise Raised("KeyError", repr(key) if is_constant(key) else "")
    if uncertain(found):
        interp.doubts += 1
        return present(interp, found)
    return found


def _picked_by(
    found: Choice, holder: DictObject, key: Unknown, text: str
) -> tuple[Unknown, str, tuple[tuple[Object, ...], ...]] | None:
    """Return the key of an entry of a table as a choice has it; None where the table may have others."""
    if FACTORY in holder.writes or holder.writes.get(MAY_HAVE_CHANGED) or any(map(uncertain, holder.fields.values())):
        return None
    keys = tuple(
        tuple(each for each, value in holder.fields.items() if identical(value, option)) for option in found.options
    )
    return (key, text, keys) if sum(map(len, keys)) == len(holder.fields) else None


def row(found: Object, holder: DictObject, key: Object, node: Any) -> Object:
    """Note of an entry at an unknown key which function or class it is for each key, where the table has no others."""
    if type(found) is Unknown and isinstance(key, Unknown) and not holder.writes.keys() & {MAY_HAVE_CHANGED, FACTORY}:
        code = (Function, ClassObject, Partial, Bound, External, Native)
        if holder.fields and all(isinstance(each, code) for each in holder.fields.values()):
            found.fields[ROW_OF] = key, text_of_key(node), dict(holder.fields)
    return found


def text_of_key(node: Any) -> str:
    """Return the text of the key that an entry is asked for by: of `table[key]`, `table.get(key)` and the like."""
    asked = node.slice if isinstance(node, ast.Subscript) else node.args[0] if isinstance(node, ast.Call) else node
    return ast.unparse(asked)


def any_of(interp: Interpreter, items: Iterable[Object]) -> Object:
    """Return any one of these items, which one is not known: a write to it may be a write to any of them."""
    options = [option for option in _options(items) if option is not MISSING]
    if holds_objects(options):
        return _one_of(interp, options)
    found = interp.unknown()
    if any(isinstance(option, (Bound, Function, Partial)) for option in options):
        found.fields[METHOD_OF] = tuple(options)
    return found


def _one_of(interp: Interpreter, options: Sequence[Object]) -> Object:
    interp.doubts += 1  # there may be no such item
    return join(interp, options)


def selected(interp: Interpreter, holder: Object | range, key: Object, items: Iterable[Object]) -> Object:
    """Return the item of a collection at a key that is not known: the same item wherever it is read by the same key."""
    options = list(items)
    # (Of the constants and tuples of a table each may be meant; of a sequence of numbers hardly one is looked at.)
    is_plain = bool(options) and all(isinstance(each, (*CONSTANTS, tuple)) for each in options)
    has_all = type(holder) is DictObject and FACTORY not in holder.writes
    found = _one_of(interp, options) if is_plain and has_all else any_of(interp, options)
    if type(found) is not Choice:
        blame(found, obstacle_of(holder))
        return found
    question = (QUESTION, "entry", id(holder))
    earlier: Object = key.fields.get(question, MISSING) if isinstance(key, Unknown) else MISSING
    if isinstance(earlier, tuple) and identical(earlier[1], found.options):
        return earlier[2]
    made = Choice(found.options, is_selection=True)
    if isinstance(key, Unknown):
        key.fields[question] = (holder, found.options, made)  # the holder is kept, so that its number stays its own
    return made


def _options(items: Iterable[Object]) -> Iterator[Object]:
    for item in items:
        yield from item.options if isinstance(item, Choice) else (item,)


def entries_of(interp: Interpreter, holder: DictObject) -> list[Object]:
    """List the values that an entry of a dictionary may have."""
    if not holder.writes.get(MAY_HAVE_CHANGED):
        return list(holder.fields.values())
    return [*holder.fields.values(), *holder.writes.get(UNKNOWN_KEYS, ()), interp.unknown()]


def unseen_entry(interp: Interpreter, holder: DictObject, key: Object, *others: Object) -> Object:
    """Return an entry of a dictionary that is not fully known, or one of `others`."""
    objects = [*holder.writes.get(UNKNOWN_KEYS, ()), *filter(is_object, others)]
    found = interp.unknown(str(key))
    blame(found, obstacle_of(holder))
    return any_of(interp, [*objects, found]) if objects else found


def some_of(interp: Interpreter, holder: Object) -> Object:
    """Return a slice of a list or tuple with ends that are not known: any of its elements may be missing."""
    items = holder.items if isinstance(holder, ListObject) else holder
    if not isinstance(items, (list, tuple)) or not holds_objects(items):
        return interp.unknown()
    interp.doubts += 1
    return ListObject([join(interp, [item, MISSING]) for item in items], interp.tick())


def holds_objects(items: Iterable[Object]) -> bool:
    """Tell whether it matters which of these is taken: a write to that one is a write to no other."""
    return any(isinstance(option, (Instance, DictObject, ListObject, Unknown)) for option in _options(items))


def hashable(key: Object) -> bool:
    """Tell whether a key is known well enough to be a key of a dictionary."""
    if isinstance(key, tuple):
        return all(map(hashable, key))
    return not isinstance(key, (Unknown, Choice, ListObject, DictObject, Instance, slice))


def _sequence_entry(
    interp: Interpreter, holder: ListObject | tuple[Object, ...] | str | bytes | range, key: Object
) -> Object:
    items: Any = holder.items if isinstance(holder, ListObject) else holder
    if items is None or not isinstance(key, (int, slice)) or (isinstance(items, list) and any(map(uncertain, items))):
        if isinstance(key, (str, float, type(None))):
            raise Raised("TypeError", "indices must be integers or slices")
        return selected(interp, holder, key, items or ())
    if is_symbolic(items):
        return interp.unknown("", not_none=True)
    interp.charge(len(items))
    try:
        found: Object = items[key]
    except (IndexError, ValueError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    if isinstance(key, slice) and interp.piece(items, 0) is not None:
        interp.tell_pieces(found, [interp.piece(items, position) for position in range(len(items))[key]])
    return ListObject(found, interp.tick()) if isinstance(found, list) and isinstance(key, slice) else found


def _ask(interp: Interpreter, holder: Instance, name: str, given: list[Object], node: Any, frame: Frame) -> Object:
    """Return the result of a special method. Raises Raised("TypeError") where there is none."""
    try:
        method = get_attribute(interp, holder, name, None, frame)
    except Raised as error:
        raise Raised("TypeError" if error.name == "AttributeError" else error.name, error.text) from None
    return invoke(interp, method, Call(given, {}, node, frame))


def set_entry(
    interp: Interpreter, holder: Object, key: Object, value: Object, node: Any, frame: Frame, focus: Any = None
) -> None:
    """Run `holder[key] = value`, with its statement as the origin. Raises Raised where Python would."""
    holder, key = interp.settle(holder), plain_key(interp, key)
    if is_environment(holder):
        if (error := no_text(interp, value)) is not None:
            raise error
        holder = interp.path.environment
    if is_argv(holder):
        holder = changeable_argv(interp, node, frame)
    if isinstance(holder, DictObject):
        if hashable(key):
            write(interp, holder, key, value, node, frame, focus, "assigned")
        else:
            forget_reachable(interp, holder.view_of)
            interp.record(holder, MAY_HAVE_CHANGED, True)
            strays = holder.writes.get(UNKNOWN_KEYS, ())
            if len(strays) < OBJECT_LIMIT and holds_objects([value]):
                interp.record(holder, UNKNOWN_KEYS, (*strays, value))
            for known in list(holder.fields):
                interp.put(holder, known, join(interp, [holder.fields[known], value, interp.unknown()]))
    elif isinstance(holder, ListObject):
        _set_item(interp, holder, key, value)
    elif isinstance(holder, Unknown):
        holder = as_object(interp, holder)
        for one in holder.fields.get(EITHER, ()):
            forget_reachable(interp, one)
        if type(holder) is ConfigTree and isinstance(key, str):
            write(interp, holder, key, value, node, frame, focus, "assigned")
        elif is_constant(key):
            write(interp, holder, ("entry", key), value, node, frame, focus, "assigned")
        else:
            forget_reachable(interp, holder)
    elif isinstance(holder, Instance):
        _ask(interp, holder, "__setitem__", [key, value], node, frame)
    elif isinstance(holder, Choice):
        for option in holder.options:
            forget_reachable(interp, option)
    elif isinstance(holder, (*CONSTANTS, tuple)):
        raise Raised("TypeError", "object does not support item assignment")


def _set_item(interp: Interpreter, holder: ListObject, key: Object, value: Object) -> None:
    if holder.items is None:
        return
    items = list(holder.items)
    interp.charge(len(items))
    new: Any = value
    if isinstance(key, slice):
        new = value.items if isinstance(value, ListObject) else list(value) if isinstance(value, tuple) else None
        if new is None:
            interp.put(holder, "items", None)
            return
    elif not isinstance(key, int):
        interp.put(holder, "items", None)
        return
    if any(map(uncertain, items)):
        replaced = None if isinstance(key, slice) else [join(interp, [item, value]) for item in items]
        interp.put(holder, "items", replaced)
        return
    writes: list[Any] = [*(interp.writers(holder) or [None] * len(items))]
    by: Any = None
    if isinstance(key, slice):
        by = interp.writers(value) or [None] * len(new)
    try:
        items[key] = new
        writes[key] = by
    except (IndexError, ValueError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    if any(writes):
        interp.tell_pieces(items, writes)
    interp.put(holder, "items", items)


def delete_entry(interp: Interpreter, holder: Object, key: Object) -> None:
    """Run `del holder[key]`."""
    holder, key = interp.settle(holder), plain_key(interp, key)
    if is_environment(holder) and hashable(key):
        interp.put(interp.path.environment, key, None)
    elif is_environment(holder):
        forget_reachable(interp, interp.path.environment)
    elif isinstance(holder, DictObject):
        if not hashable(key):
            forget_reachable(interp, holder)
        elif key in holder.fields:
            interp.drop_entry(holder, key)
        elif not holder.writes.get(MAY_HAVE_CHANGED):
            raise Raised("KeyError", repr(key))
    elif isinstance(holder, ListObject) and holder.items is not None:
        items: Any = list(holder.items)
        if any(map(uncertain, items)):
            interp.put(holder, "items", [join(interp, [item, MISSING]) for item in items])
            return
        try:
            del items[key]
        except (IndexError, TypeError) as error:
            raise Raised(type(error).__name__, str(error)) from None
        interp.put(holder, "items", items)
    else:
        forget_reachable(interp, holder)


def absorbed_writes(target: DictObject, source: DictObject) -> dict[Any, Any]:
    """Return who wrote the entries of a dictionary that is updated with `source`: what neither holds it does not."""
    merged = {**target.writes, **source.writes}
    if TAKEN_AWAY in merged:
        taken = target.writes.get(TAKEN_AWAY, frozenset()) | source.writes.get(TAKEN_AWAY, frozenset())
        merged[TAKEN_AWAY] = frozenset(key for key in taken if _lacks(target, key) and _lacks(source, key))
    return merged


def _lacks(holder: DictObject, key: Any) -> bool:
    """Tell whether a dictionary surely has no entry for a key."""
    is_seen = not holder.writes.get(MAY_HAVE_CHANGED)
    return key not in holder.fields and (is_seen or key in holder.writes.get(TAKEN_AWAY, ()))


def absorbed(interp: Interpreter, fields: dict[Any, Object], source: DictObject) -> dict[Any, Object]:
    """Return the entries of a dictionary that is updated with `source`, whose own entries may be uncertain."""
    if source.writes.get(MAY_HAVE_CHANGED):
        # Any entry of the source that is not known may replace one that was.
        fields = {key: join(interp, [value, interp.unknown(str(key))]) for key, value in fields.items()}
    merged = {**fields, **source.fields}
    for key, value in source.fields.items():
        if uncertain(value):
            merged[key] = join(interp, [present(interp, value), fields.get(key, MISSING)])
    return merged
