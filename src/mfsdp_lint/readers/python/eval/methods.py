"""Methods of dictionaries, lists, sets, strings and numbers."""

from __future__ import annotations

import ast
import string
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from mfsdp_lint.core.lines import Lines
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
    row,
    selected,
    set_entry,
    unseen_entry,
)
from mfsdp_lint.readers.python.eval.iteration import (
    LONGEST,
    elements,
    forget_rest,
    iterate,
    known_part,
    text_of_parts,
)
from mfsdp_lint.readers.python.eval.operators import binary, contains, equal, ordering_key
from mfsdp_lint.readers.python.eval.standard_objects import LARGEST_FACTOR, NotKnown, answer
from mfsdp_lint.readers.python.state.calling import Coroutine, GeneratorCall, awaited, invoke, run_block
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join, part_of_each, truth
from mfsdp_lint.readers.python.values.bounds import LONGEST_LIST, LONGEST_TEXT, can_format, is_small
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, UNKNOWN_KEYS
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    Frame,
    Function,
    ListObject,
    Object,
    PathObject,
    Place,
    SetObject,
    Unknown,
    Write,
    all_are,
    is_constant,
    is_symbolic,
    uncertain,
)


def dict_method(interp: Interpreter, owner: DictObject, name: str, call: Call) -> Object:
    """Evaluate `owner.name(...)` of a dictionary. Raises Raised where Python would."""
    hazy = bool(owner.writes.get(MAY_HAVE_CHANGED))
    if hazy and name in ("values", "items"):
        for value in owner.writes.get(UNKNOWN_KEYS, ()):
            forget_reachable(interp, value)  # who walks over them may write to them
    if owner.view_of is not None and name in ("pop", "popitem", "clear"):
        forget_reachable(interp, owner)
    match name, call.arguments:
        case "get", [key, *rest]:
            fallback = rest[0] if rest else call.keywords.get("default")
            key = plain_key(interp, key)
            key = interp.key_of_row(owner, key, call.node, call.frame) if isinstance(key, Unknown) else key
            found = _get(interp, owner, key, fallback)
            return row(found, owner, key, call.node) if fallback is None else found
        case "pop", [key, *rest]:
            found = _get(interp, owner, plain_key(interp, key), rest[0] if rest else MISSING)
            if found is MISSING:
                raise Raised("KeyError", str(key))
            if hashable(key):
                interp.drop_entry(owner, plain_key(interp, key))
            else:
                forget_reachable(interp, owner)
            if uncertain(found):
                interp.doubts += 1
                return present(interp, found)
            return found
        case "setdefault", [key, *rest]:
            found = _get(interp, owner, plain_key(interp, key), MISSING)
            default = rest[0] if rest else None
            if found is MISSING or uncertain(found):
                found = default if found is MISSING else join(interp, [present(interp, found), default])
                set_entry(interp, owner, key, found, call.node, call.frame)
            elif isinstance(found, Unknown):
                set_entry(interp, owner, key, found, call.node, call.frame)
            return found
        case "keys", []:
            items = iterate(interp, owner, call.frame)
            return ListObject(items, interp.tick()) if items is None else SetObject(items, interp.tick())
        case "values", []:
            return ListObject(None if hazy else list(owner.fields.values()), interp.tick())
        case "items", []:
            pairs = None if hazy else [_pair(interp, *pair) for pair in owner.fields.items()]
            for key, pair in zip(owner.writes and owner.fields, pairs or (), strict=False):
                interp.tell_pieces(pair, (None, owner.writes.get(key)))
            return ListObject(pairs, interp.tick())
        case "copy", []:
            copied = DictObject(dict(owner.fields), interp.tick())
            copied.writes = dict(owner.writes)
            return copied
        case "update" | "__ior__" | "__init__", _:
            _update(interp, owner, call)
            return owner if name == "__ior__" else None
        case "clear", []:
            for key in reversed(list(owner.fields)):
                interp.drop(owner, key)
            return None
        case "move_to_end", [key] if not hazy and hashable(key):
            _move(interp, owner, plain_key(interp, key), call.keywords)
            return None
        case "popitem", [*which] if not hazy:
            if not owner.fields:
                raise Raised("KeyError", "popitem(): dictionary is empty")
            last = truth(interp, which[0] if which else call.keywords.get("last", True))
            if last is None:
                forget_reachable(interp, owner)
                return interp.unknown("popitem()", not_none=True)
            key = list(owner.fields)[-1 if last else 0]
            value = owner.fields[key]
            interp.drop_entry(owner, key)
            return (key, value)
        case "fromkeys", [keys, *rest]:
            items = iterate(interp, keys, call.frame)
            if items is None:
                return interp.unknown()
            made = DictObject({}, interp.tick())
            for key in items:
                set_entry(interp, made, key, rest[0] if rest else None, call.node, call.frame, call.expression(1))
            return made
    if name not in _LOOKING:
        forget_reachable(interp, owner)
    return interp.unknown()


_LOOKING = frozenset(
    ("get", "keys", "values", "items", "copy", "fromkeys", "__len__", "__iter__", "__reversed__", "__eq__", "__ne__",
     "__or__", "__ror__", "__repr__", "__str__", "__sizeof__", "__class__", "__hash__", "__format__", "__doc__")
)  # fmt: skip
"""Methods that leave a dictionary as it is, however they are called."""


def _move(interp: Interpreter, owner: DictObject, key: Object, keywords: dict[str, Object]) -> None:
    if key not in owner.fields:
        raise Raised("KeyError", str(key))
    value = owner.fields[key]
    others = {other: item for other, item in owner.fields.items() if other != key}
    interp.drop_entry(owner, key)
    interp.put(owner, key, value)
    last = truth(interp, keywords.get("last", True))
    if last is False:
        for other, item in others.items():
            interp.drop_entry(owner, other)
            interp.put(owner, other, item)
    elif last is None:
        forget_reachable(interp, owner)


def _pair(interp: Interpreter, key: Object, value: Object) -> Object:
    return Choice(((key, present(interp, value)), MISSING)) if uncertain(value) else (key, value)


def _get(interp: Interpreter, owner: DictObject, key: Object, fallback: Object) -> Object:
    if isinstance(key, Choice):
        return part_of_each(interp, key, [_get(interp, owner, option, fallback) for option in key.options])
    if not hashable(key):
        return selected(interp, owner, key, [*entries_of(interp, owner), fallback])
    found = owner.fields.get(key, MISSING)
    if found is MISSING:
        return unseen_entry(interp, owner, key, fallback) if owner.writes.get(MAY_HAVE_CHANGED) else fallback
    if isinstance(found, Choice) and MISSING in found.options:
        return join(interp, [fallback if option is MISSING else option for option in found.options])
    return found


def _update(interp: Interpreter, owner: DictObject, call: Call) -> None:
    for argument in [as_mapping(interp, argument, call.node, call.frame) for argument in call.arguments]:
        if isinstance(argument, DictObject):
            for key, value in absorbed(interp, owner.fields, argument).items():
                if key not in argument.fields:
                    interp.put(owner, key, value)
                    continue
                source = argument.writes.get(key)
                if isinstance(source, Write) and isinstance(source.node, Origin) and source.module is None:
                    interp.put(owner, key, value)  # whoever starts the program says it
                    interp.record(owner, key, source)
                    continue
                if isinstance(source, Write) and isinstance(source.node, Origin):  # it stands in data
                    said = Frame(source.module, source.function, None, call.frame, call.node)
                    write(interp, owner, key, value, source.node, said, source.focus, "assigned")
                    continue
                focus = source if isinstance(source, Write) else None
                write(interp, owner, key, value, call.node, call.frame, focus, "assigned")
            if argument.writes.get(MAY_HAVE_CHANGED):
                interp.record(owner, MAY_HAVE_CHANGED, True)
            continue
        given = iterate(interp, argument, call.frame)
        pairs = [_as_tuple(each) for each in ([None] if given is None else given)]
        if given is None or not all_are(pairs, tuple) or any(len(pair) != 2 for pair in pairs):
            forget_reachable(interp, owner)
            continue
        for pair, each in zip(pairs, given, strict=True):
            set_entry(interp, owner, pair[0], pair[1], call.node, call.frame, interp.piece(each, 1))
    for key, value in call.keywords.items():
        if key == "**":
            forget_reachable(interp, owner)
        else:
            write(interp, owner, key, value, call.node, call.frame, call.focus.get(key), "assigned")


def _as_tuple(pair: Object) -> Any:
    """Return a list of known elements as a tuple; any other value as it is."""
    return tuple(pair.items) if type(pair) is ListObject and pair.items is not None else pair


def sort(interp: Interpreter, items: list[Object], keywords: dict[str, Object], frame: Frame) -> list[Object] | None:
    """Sort the elements; None where the order is not known."""
    key = keywords.get("key")
    given = items if key is None else [invoke(interp, key, Call([item], {}, None, frame)) for item in items]
    keys = _as_names([ordering_key(interp, interp.settle(each)) for each in given])
    if not all(is_constant(one) for one in keys) or is_symbolic(*keys):
        return [any_of(interp, items)] * len(items) if key is not None and holds_objects(items) else None
    order = sorted(
        range(len(items)), key=_Comparable(keys), reverse=truth(interp, keywords.get("reverse", False)) is True
    )
    return [items[index] for index in order]


def _as_names(keys: list[Object]) -> list[Object]:
    """Return paths below one folder of the tree as their names below it, which have the same order; others as they are.

    (Python compares paths part by part.)
    """
    texts = [one.path if type(one) is PathObject else one for one in keys]
    starts = {text.partition("/")[0] for text in texts if isinstance(text, str)}
    if len(starts) != 1 or not all(isinstance(text, str) and text.startswith("<DIR:") for text in texts):
        return keys
    below = [str(text).partition("/")[2] for text in texts]
    if any(map(is_symbolic, below)):
        return keys
    are_paths = all(type(one) is PathObject for one in keys)
    return [tuple(name.split("/")) if are_paths else name for name in below]


class _Comparable:
    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys
        try:
            sorted(keys)
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None

    def __call__(self, index: int) -> Any:
        return self.keys[index]


def method(interp: Interpreter, owner: Object, name: str, call: Call) -> Object:
    """Evaluate `owner.name(...)` of a built-in type."""
    owner = interp.settle(owner)
    settled = [interp.settle(argument) for argument in call.arguments]
    if name == "append" and len(settled) == 1 and isinstance(settled[0], str):
        settled = call.arguments  # a word of the command line stays one
    call = call.passing(settled, call.keywords)
    match name, call.arguments:
        case "__getitem__", [key]:
            return entry(interp, owner, key, call.node, call.frame)
        case "__setitem__", [key, value]:
            focus = call.node.args[-1] if isinstance(call.node, ast.Call) and call.node.args else None
            set_entry(interp, owner, key, value, call.node, call.frame, focus)
            return None
        case "__delitem__", [key]:
            delete_entry(interp, owner, key)
            return None
        case "__contains__", [item]:
            found = contains(interp, owner, item, call.frame)
            return interp.unknown("", not_none=True) if found is None else found
    if isinstance(owner, GeneratorCall):
        if name in ("__next__", "__enter__") or (name == "send" and owner.state == "new"):
            first = owner.first() if owner.state == "new" else MISSING
            if first is not MISSING:
                return first
        rest = (
            _behind_yield(owner.frame.code.body) if owner.managed and isinstance(owner.frame.code, Function) else None
        )
        if name == "__exit__" and owner.state == "open" and rest is not None and call.argument(0, default=1) is None:
            interp.put(owner, "state", "done")
            run_block(interp, rest, owner.frame)
            return False
        # What it does between here and its end is not told apart.
        with interp.blaming(_blamed(call) or interp.obstacle):
            if owner.state == "open":
                forget_rest(interp, owner)
            return interp.unknown(f"{name}()")
    if isinstance(owner, Coroutine):
        return None if name == "close" else awaited(interp, owner)
    if isinstance(owner, DictObject):
        return dict_method(interp, owner, name, call)
    if isinstance(owner, SetObject):
        return _set_method(interp, owner, name, call)
    if isinstance(owner, ListObject):
        return _list_method(interp, owner, name, call)
    return _constant_method(interp, owner, name, call)


def _blamed(call: Call) -> Place | None:
    """Return a call of the project's own text as the obstacle to what it may have changed."""
    known = call.frame.module.is_project and isinstance(call.node, ast.Call)
    return (call.frame.module, call.node, call.frame.function) if known else None


def _behind_yield(body: list[ast.stmt]) -> list[ast.stmt] | None:
    """Return the statements that run behind the only `yield` of a function, if nothing raises; None if it is elsewhere
    than in its own lines or in those of a `try`.
    """
    yielding = [
        at for at, each in enumerate(body) if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(each))
    ]
    match [body[at] for at in yielding]:
        case [ast.Expr(value=ast.Yield()) | ast.Assign(value=ast.Yield())]:
            return body[yielding[0] + 1 :]
        case [ast.Try() as guarded] if (inner := _behind_yield(guarded.body)) is not None:
            return [*inner, *guarded.orelse, *guarded.finalbody, *body[yielding[0] + 1 :]]
    return None


OPERATORS = {
    "__add__": ast.Add, "__sub__": ast.Sub, "__mul__": ast.Mult, "__truediv__": ast.Div, "__floordiv__": ast.FloorDiv,
    "__mod__": ast.Mod, "__pow__": ast.Pow, "__or__": ast.BitOr, "__and__": ast.BitAnd, "__xor__": ast.BitXor,
}  # fmt: skip


def _constant_method(interp: Interpreter, owner: Any, name: str, call: Call) -> Object:
    arguments, keywords = call.arguments, call.keywords
    if name == "join" and isinstance(owner, str) and len(arguments) == 1:
        items = iterate(interp, arguments[0], call.frame)
        if items is not None and not all_are(items, str):
            return _partly_joined(interp, owner, [interp.settle(each) for each in items])
        if items is None or sum(map(len, items)) + len(owner) * len(items) > LONGEST_TEXT:
            return interp.unknown("", not_none=True)
        return owner.join(items)
    if name == "translate":
        with suppress(NotKnown):
            if len(owner) <= LARGEST_FACTOR:
                return answer(interp, owner.translate, arguments, keywords, LARGEST_FACTOR)
        return interp.unknown("", not_none=True)
    if name in OPERATORS and len(arguments) == 1:
        return binary(interp, OPERATORS[name], owner, arguments[0])
    plain_arguments = [
        tuple(item.items) if isinstance(item, ListObject) and item.items is not None else item for item in arguments
    ]
    given = [*plain_arguments, *keywords.values()]
    if name == "format" and isinstance(owner, str) and not all(map(is_constant, given)):
        return _partly_formatted(interp, owner, call)
    if not all(map(is_constant, given)) or not _is_small_work(owner, name, given):
        return interp.unknown("", not_none=True)
    if name != "format" and is_symbolic(owner, *arguments):
        return interp.unknown("", not_none=True)
    try:
        found = getattr(owner, name)(*plain_arguments, **keywords)
    except Exception as error:
        raise Raised(type(error).__name__, str(error)) from None
    if isinstance(found, list):
        splits = name == "splitlines" or (name == "split" and given == ["\n"])
        return lines_of(interp, owner, found, call) if splits else ListObject(found, interp.tick())
    return found if is_constant(found) and is_small(found) else interp.unknown("", not_none=True)


def _partly_joined(interp: Interpreter, between: str, items: Sequence[Object]) -> Object:
    """Return what texts give that are joined, of which not all are known."""
    if not all(isinstance(each, (str, Unknown)) for each in items):
        return interp.unknown("", not_none=True)
    texts = [text for each in items for text in (between, known_part(interp, each))]
    return text_of_parts(interp, texts[1:], [])


def _partly_formatted(interp: Interpreter, template: str, call: Call) -> Object:
    """Return what a template gives with values of which not all are constants: their texts, where they are known."""
    values: dict[str, Object] = {**{str(number): each for number, each in enumerate(call.arguments)}, **call.keywords}
    texts: list[str | None] = []
    used: list[Object] = []
    try:
        for literal, name, specification, conversion in string.Formatter().parse(template):
            key = str(len(used)) if name == "" else name
            texts.append(literal)
            if key is None:
                continue
            if specification or conversion or key not in values:
                return interp.unknown("", not_none=True)
            used.append(values[key])
            texts.append(known_part(interp, values[key]))
    except ValueError:
        return interp.unknown("", not_none=True)
    return text_of_parts(interp, texts, used)


def lines_of(interp: Interpreter, text: Object, lines: list[Any], call: Call) -> ListObject:
    """Return a list of the lines of a text; they know where they stand in the file of the tree that has the text."""
    listed = ListObject(lines, interp.tick())
    path = interp.finder.texts.get(text) if isinstance(text, str) else None
    if path is not None and isinstance(text, str):
        known, at, places = Lines(text), 0, list[Place]()
        for row in text.splitlines(keepends=True):
            span = known.span(path, at, at + len(row.rstrip("\r\n")))
            places.append((call.frame.module, Origin(span, "assigned", span), call.frame.function))
            at += len(row)
        listed.loaded_from(places)
    return listed


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


def _list_method(interp: Interpreter, owner: ListObject, name: str, call: Call) -> Object:
    items = owner.items
    if items is None:
        return (
            interp.unknown()
            if name not in ("append", "extend", "insert", "remove", "clear", "sort", "reverse")
            else None
        )
    if name in ("pop", "insert", "remove", "index", "count") and any(map(uncertain, items)):
        return _of_uncertain(interp, owner, name, items)
    match name, call.arguments:
        case "append", [item]:
            interp.charge(len(items))
            said, longer = call.expression(0), [*items, item]
            if said is not None and call.frame.module.of_program:
                by = interp.note(said, call.frame, said, "assigned", item, None)
                interp.tell_pieces(longer, [*(interp.writers(items) or [None] * len(items)), by])
            interp.put(owner, "items", longer)
            return None
        case "extend", [more]:
            added = elements(interp, more, call.frame)
            if added is not None and len(items) + len(added) > LONGEST_LIST:
                added = None
            longer = items + (added or [])
            interp.tell_joined(longer, items, added or ())
            interp.put(owner, "items", None if added is None else longer)
            return None
        case "insert", [int(index), item]:
            changed = list(items)
            changed.insert(index, item)
            interp.put(owner, "items", changed)
            return None
        case "pop", [] | [int()]:
            changed = list(items)
            position: Any = call.argument(0, default=-1)
            try:
                found: Object = changed.pop(position)
            except IndexError as error:
                raise Raised("IndexError", str(error)) from None
            interp.put(owner, "items", changed)
            return found
        case "copy", []:
            return ListObject(items, interp.tick())
        case "clear", []:
            interp.put(owner, "items", [])
            return None
        case "reverse", []:
            interp.put(owner, "items", items[::-1])
            return None
        case "index" | "count" | "remove", [item]:
            return _search(interp, owner, name, items, item)
        case "sort", []:
            interp.put(owner, "items", sort(interp, items, call.keywords, call.frame))
            return None
    interp.put(owner, "items", None)
    return any_of(interp, items)


def _of_uncertain(interp: Interpreter, owner: ListObject, name: str, items: list[Object]) -> Object:
    """Evaluate a method that depends on the positions of elements, some of which may be missing."""
    interp.doubts += 1
    if name in ("pop", "remove"):
        interp.put(owner, "items", [join(interp, [item, MISSING]) for item in items])
    elif name == "insert":
        interp.put(owner, "items", None)
    if name == "pop":
        return any_of(interp, items)
    return None if name in ("insert", "remove") else interp.unknown("", not_none=True)


def _search(interp: Interpreter, owner: ListObject, name: str, items: list[Object], item: Object) -> Object:
    answers = [equal(interp, one, item) for one in items]
    if name == "count":
        return sum(map(bool, answers)) if None not in answers else interp.unknown("", not_none=True)
    position = next((index for index, answer in enumerate(answers) if answer is not False), None)
    if position is None:
        raise Raised("ValueError", "not in list")
    if answers[position] is None:
        if name == "remove":
            interp.put(owner, "items", None)
            return None
        return interp.unknown("", not_none=True)
    if name == "index":
        return position
    interp.put(owner, "items", [*items[:position], *items[position + 1 :]])
    return None


def _set_method(interp: Interpreter, owner: SetObject, name: str, call: Call) -> Object:
    items, arguments = owner.items, call.arguments
    takes_element = name in ("add", "discard", "remove")
    others = [] if takes_element else [iterate(interp, argument, call.frame) for argument in arguments]
    if items is None or None in others or not all(map(is_constant, arguments if not others else [])):
        if name in ("add", "discard", "remove", "update", "clear", "pop"):
            interp.put(owner, "items", None)
            return None
        return interp.unknown("", not_none=True)
    if any(not (is_constant(item) or isinstance(item, EnumMember)) for other in others for item in other or []):
        return interp.unknown("", not_none=True)
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
            return SetObject(list(items), interp.tick())
        case "union":
            return make_set(interp, [*items, *(item for other in others for item in other or [])])
        case "intersection":
            return make_set(interp, [item for item in items if all(item in (other or []) for other in others)])
        case "difference":
            return make_set(interp, [item for item in items if not any(item in (other or []) for other in others)])
        case "issubset":
            return set(items) <= set(others[0] or [])
        case "issuperset":
            return set(items) >= set(others[0] or [])
        case "isdisjoint":
            return set(items).isdisjoint(others[0] or [])
        case _:
            interp.put(owner, "items", None)
            return interp.unknown()
    interp.put(owner, "items", list(known))
    return None
