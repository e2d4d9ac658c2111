"""Values of Go templates, and the functions of Sprig and Helm on them, as far as charts of training runs use them.

Facts: Sprig 3.3, and Helm 3.18 (pkg/engine/funcs.go). Every piece of a text knows where it is written: in the template,
or in the file of values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.embedding_formats.template_values import MOST, UNKNOWN_ITEM, Item, Scalar, UnknownItem, merged
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, filled, plain, standing_at

GAP = "\uf8fe"
"""Stands for lines that are not known; a character for private use, as HOLE is."""

_LONGEST = 100_000
"""Characters of a text."""


NOTHING = Scalar(None)


def is_small(value: Item, limit: int) -> bool:
    """Tell whether a value has at most so many parts, and characters in each text."""
    waiting: list[Item] = [value]
    while waiting and limit > 0:
        limit -= 1
        each = waiting.pop()
        if isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, Sequence):
            waiting += each
        elif isinstance(each, Scalar) and isinstance(each.value, str) and len(each.value) > _LONGEST:
            return False
    return not waiting


def truth(value: Item | None) -> bool | None:
    """Tell whether a condition holds; None where that is not known."""
    if value is None or isinstance(value, UnknownItem):
        return None
    if isinstance(value, Scalar):
        # A text of which a part is not known is not empty, unless all of it may be.
        is_hidden = isinstance(value.value, str) and value.value and not value.value.strip(HOLE + GAP)
        return None if is_hidden else bool(value.value)
    return bool(value)


def made(value: str | int | float | bool | None, place: Piece) -> Scalar:
    """Return a value that stands at a place with another text."""
    return Scalar(value, (standing_at(_spelled(value), place),), exact=True)


def _spelled(value: str | int | float | bool | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


_LARGE = 10**6
"""Floats from here on are printed with an exponent."""


def printed(value: Item, place: Piece) -> Text:
    """Return what an action prints for a value."""
    if isinstance(value, Scalar):
        if isinstance(value.value, str):
            return value.text
        large = isinstance(value.value, (int, float)) and abs(value.value) >= _LARGE and not value.exact
        return (standing_at(HOLE, place),) if large else _respelled(value, place)
    return (standing_at(HOLE, place),)


def _respelled(value: Scalar, place: Piece) -> Text:
    """Return the text of a value that is no text; `yes` in a file is `true`."""
    said = _spelled(value.value)
    if plain(value.text) == said:
        return value.text
    return (standing_at(said, value.text[0] if value.text else place),) if said else ()


# -- the functions -------------------------------------------------------------------------------------------------

Function = Callable[..., Item]
"""A function of templates, as it is called: the place, and the arguments."""

_PLAIN = lazy_pattern(r"(?!(?:true|false|null|yes|no|on|off|y|n)\Z)[A-Za-z_/][\w./-]*", re.IGNORECASE)


def to_yaml(value: Item, place: Piece, indent: int = 0) -> Iterator[Piece]:
    """Yield a value as YAML, in lines that are indented behind the first one."""
    blanks = " " * indent
    if isinstance(value, Mapping) and value:
        for number, name in enumerate(sorted(value)):
            inner = value[name]
            nested = isinstance(inner, (Mapping, list, tuple)) and bool(inner)
            deeper = indent + 2 if isinstance(inner, Mapping) else indent
            key = name if _PLAIN.fullmatch(name) else json.dumps(name)
            yield standing_at(
                f"{f'{chr(10)}{blanks}' if number else ''}{key}:{f'{chr(10)}{chr(32) * deeper}' if nested else ' '}",
                place,
            )
            yield from to_yaml(inner, place, deeper if nested else indent)
    elif isinstance(value, Mapping):
        yield standing_at("{}", place)
    elif isinstance(value, Scalar):
        yield from _scalar_as_yaml(value, place, indent)
    elif isinstance(value, UnknownItem):
        yield standing_at(HOLE, place)
    elif not value:
        yield standing_at("[]", place)
    else:
        for number, each in enumerate(value):
            yield standing_at(f"{f'{chr(10)}{blanks}' if number else ''}- ", place)
            yield from to_yaml(each, place, indent + 2)


def _scalar_as_yaml(value: Scalar, place: Piece, indent: int) -> Iterator[Piece]:
    if value.value is None:
        yield standing_at("null", place)
    elif not isinstance(value.value, str):
        yield from _respelled(value, place)
    elif "\n" in value.value:
        blanks = " " * (indent + 2)
        kept = "+" if value.value.endswith("\n\n") else "" if value.value.endswith("\n") else "-"
        yield standing_at(f"|{kept}\n{blanks}", place)
        yield from indented(_without_newline(value.text), blanks)
    elif _PLAIN.fullmatch(value.value):
        yield from value.text
    elif "'" not in value.value:
        yield from (standing_at("'", place), *value.text, standing_at("'", place))
    else:
        yield standing_at(json.dumps(value.value, ensure_ascii=False), value.text[0] if value.text else place)


def joined(pieces: Iterable[Piece]) -> Text:
    """Return the text of pieces, without empty ones."""
    return tuple(piece for piece in pieces if piece.text)


def _without_newline(text: Text) -> Text:
    if text and text[-1].text.endswith("\n"):
        last = text[-1]
        return joined((*text[:-1], last.cut(0, len(last.text) - 1)))
    return text


_BEGINNING = lazy_pattern(r"(?<=\n)")


def indented(text: Text, blanks: str) -> Text:
    """Return a text with blanks behind every newline."""
    return filled(
        text, _BEGINNING, lambda found, piece: (standing_at(blanks, piece.cut(found.start() - 1, found.end())),)
    )


def _made_of(text: Text) -> Scalar:
    return Scalar(plain(text), text)


def _said(value: Item, place: Piece) -> str:
    """Return the known text of a value. Raises ValueError."""
    said = plain(printed(value, place))
    if HOLE in said or GAP in said:
        raise ValueError
    return said


def _small(value: Item, place: Piece) -> int:
    """Return a small number. Raises ValueError."""
    number = int(_said(value, place))
    if not 0 <= number <= MOST:
        raise ValueError
    return number


def numbers(place: Piece, value: Item) -> Item:
    """Return the numbers below another one."""
    try:
        return [made(number, place) for number in range(_small(value, place))]
    except ValueError:
        return UNKNOWN_ITEM


def _default(place: Piece, other: Item, value: Item = NOTHING) -> Item:
    holds = truth(value)
    return UNKNOWN_ITEM if holds is None and isinstance(value, UnknownItem) else value if holds is not False else other


def _quoted(mark: str) -> Function:
    def quote(place: Piece, *given: Item) -> Item:
        found: list[Piece] = []
        for each in given:
            if isinstance(each, Scalar) and each.value is None:
                continue
            text = printed(each, place)
            if mark == '"' and re.search(r'["\\\n]', plain(text)):
                text = (standing_at(json.dumps(plain(text), ensure_ascii=False)[1:-1], text[0]),)
            found += [
                *([standing_at(" ", place)] if found else []),
                standing_at(mark, place),
                *text,
                standing_at(mark, place),
            ]
        return _made_of(tuple(found))

    return quote


def _indent(first: str) -> Function:
    def indent(place: Piece, width: Item, value: Item) -> Item:
        blanks = " " * _small(width, place)
        if isinstance(value, UnknownItem):
            return _made_of((standing_at(f"{first}{blanks}{GAP}", place),))
        text = printed(value, place)
        return _made_of(joined((standing_at(first + blanks, place), *indented(text, blanks))))

    return indent


def _to_yaml(place: Piece, value: Item) -> Item:
    if isinstance(value, UnknownItem):
        return value
    return _made_of(joined(to_yaml(value, place)))


def _as_plain(value: Item) -> object:
    """Return a value as Python has it. Raises ValueError."""
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Mapping):
        return {name: _as_plain(each) for name, each in value.items()}
    if isinstance(value, Sequence):
        return [_as_plain(each) for each in value]
    raise ValueError


def _to_json(place: Piece, value: Item) -> Item:
    said = json.dumps(_as_plain(value), separators=(",", ":"), sort_keys=True)
    return made(said, place)


def _trimmed(place: Piece, value: Item) -> Item:
    text = printed(value, place)
    while text and not text[0].text.strip():
        text = text[1:]
    while text and not text[-1].text.strip():
        text = text[:-1]
    if text:
        text = (text[0].cut(len(text[0].text) - len(text[0].text.lstrip()), len(text[0].text)), *text[1:])
        text = (*text[:-1], text[-1].cut(0, len(text[-1].text.rstrip())))
    return _made_of(text)


def _of_text(change: Callable[..., str]) -> Function:
    """Return the function that changes its last argument, a text, by the others."""

    def function(place: Piece, *given: Item) -> Item:
        *others, value = given
        said = _said(value, place)
        changed = change(said, *(_said(each, place) for each in others))
        return _made_of(printed(value, place)) if changed == said else made(changed, place)

    return function


def _replaced(said: str, old: str, new: str) -> str:
    if len(said) * len(new) > _LONGEST:
        raise ValueError
    return said.replace(old, new)


def _printf(place: Piece, format: Item, *given: Item) -> Item:
    found: list[Piece] = []
    values = iter(given)
    said = _said(format, place)
    at = 0
    for each in re.finditer(r"%(?P<verb>%|[-+#0 ]*\d*(?:\.\d+)?[a-zA-Z])", said):
        found.append(standing_at(said[at : each.start()], place))
        at = each.end()
        if each["verb"] == "%":
            found.append(standing_at("%", place))
        elif each["verb"] in ("s", "v", "d"):
            found += printed(next(values, UNKNOWN_ITEM), place)
        elif each["verb"] == "q":
            found += printed(_quoted('"')(place, next(values, UNKNOWN_ITEM)), place)
        else:
            next(values, None)
            found.append(standing_at(HOLE, place))
    return _made_of(joined((*found, standing_at(said[at:], place))))


def _print(place: Piece, *given: Item) -> Item:
    if sum(not (isinstance(each, Scalar) and isinstance(each.value, str)) for each in given) > 1:
        return UNKNOWN_ITEM  # blanks between those that are no texts
    return _made_of(tuple(piece for each in given for piece in printed(each, place)))


def _join(place: Piece, mark: Item, values: Item) -> Item:
    if not isinstance(values, (list, tuple)):
        return values if isinstance(values, Scalar) else UNKNOWN_ITEM
    between = _said(mark, place)
    found: list[Piece] = []
    for number, each in enumerate(values):
        found += [*([standing_at(between, place)] if number else []), *printed(each, place)]
    return _made_of(joined(found))


def _compared(place: Piece, first: Item, second: Item, how: Callable[[object, object], bool]) -> Item:
    one, other = _as_plain(first), _as_plain(second)
    if any(isinstance(each, str) and (HOLE in each or GAP in each) for each in (one, other)):
        return UNKNOWN_ITEM
    numbers = [isinstance(each, (int, float)) and not isinstance(each, bool) for each in (one, other)]
    if type(one) is not type(other) and not all(numbers):
        return made(False, place) if None in (one, other) else UNKNOWN_ITEM
    return made(how(one, other), place)


def _eq(place: Piece, first: Item, *others: Item) -> Item:
    found = [_compared(place, first, each, lambda one, other: one == other) for each in others]
    return next((each for each in found if truth(each) is not False), found[-1])


def _ordered(how: Callable[[float, float], bool]) -> Function:
    return lambda place, first, second: _compared(place, first, second, how)  # type: ignore[arg-type]  # numbers


def _not(place: Piece, value: Item) -> Item:
    holds = truth(value)
    return UNKNOWN_ITEM if holds is None else made(not holds, place)


def _and(place: Piece, *given: Item) -> Item:
    for each in given:
        holds = truth(each)
        if holds is not True:
            others = [truth(other) for other in given]
            return made(False, place) if False in others else UNKNOWN_ITEM if holds is None else each
    return given[-1]


def _or(place: Piece, *given: Item) -> Item:
    for each in given:
        holds = truth(each)
        if holds is not False:
            return UNKNOWN_ITEM if holds is None else each
    return given[-1]


def _ternary(place: Piece, yes: Item, no: Item, condition: Item) -> Item:
    holds = truth(condition)
    return UNKNOWN_ITEM if holds is None else yes if holds else no


def _required(place: Piece, message: Item, value: Item = NOTHING) -> Item:
    # Without it the chart is not installed: whoever installs it gives some value.
    return UNKNOWN_ITEM if truth(value) is False and not (isinstance(value, Scalar) and value.value is False) else value


def _int(place: Piece, value: Item) -> Item:
    number = int(float(_as_plain(value)))  # type: ignore[arg-type]  # which raises TypeError
    text = value.text if isinstance(value, Scalar) else ()
    return Scalar(number, text if plain(text) == str(number) else (standing_at(str(number), place),), exact=True)


def _computed(how: Callable[[int, int], int]) -> Function:
    def function(place: Piece, *given: Item) -> Item:
        return made(reduce(how, (int(float(str(_as_plain(each)))) for each in given)), place)

    return function


def _merged(place: Piece, *given: Item) -> Item:
    """Merge mappings: the first that has an entry counts."""
    found: Item = given[-1]
    for each in reversed(given[:-1]):
        if not isinstance(each, Mapping) or not isinstance(found, Mapping):
            return UNKNOWN_ITEM
        found = merged(found, each)
    return found


def _index(place: Piece, value: Item, *keys: Item) -> Item:
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(_said(key, place), NOTHING)
        elif isinstance(value, Sequence):
            value = value[int(_said(key, place))]
        else:
            return UNKNOWN_ITEM
    return value


def _items(value: Item) -> list[Item]:
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return list(value)


def _kind(value: Item) -> str:
    if isinstance(value, Mapping):
        return "map"
    if isinstance(value, Scalar):
        kinds = {str: "string", bool: "bool", type(None): "invalid", float: "float64", int: "float64"}
        return kinds[type(value.value)]
    if isinstance(value, UnknownItem):
        raise ValueError
    return "slice"


FUNCTIONS: Mapping[str, Function] = {
    "default": _default,
    "coalesce": lambda place, *given: _or(place, *given, NOTHING),
    "quote": _quoted('"'),
    "squote": _quoted("'"),
    "indent": _indent(""),
    "nindent": _indent("\n"),
    "toYaml": _to_yaml,
    "toJson": _to_json,
    "trim": _trimmed,
    "trimSuffix": _of_text(lambda said, end: said.removesuffix(end)),
    "trimPrefix": _of_text(lambda said, start: said.removeprefix(start)),
    "trunc": _of_text(lambda said, width: said[: int(width)] if int(width) >= 0 else said[int(width) :]),
    "upper": _of_text(str.upper),
    "lower": _of_text(str.lower),
    "replace": _of_text(_replaced),
    "toString": lambda place, value: _made_of(printed(value, place)),
    "print": _print,
    "printf": _printf,
    "join": _join,
    "list": lambda place, *given: list(given),
    "tuple": lambda place, *given: list(given),
    "concat": lambda place, *given: [each for values in given for each in _items(values)],
    "append": lambda place, values, value: [*_items(values), value],
    "first": lambda place, values: _items(values)[0],
    "last": lambda place, values: _items(values)[-1],
    "dict": lambda place, *given: {
        _said(name, place): value for name, value in zip(given[::2], given[1::2], strict=True)
    },
    "merge": _merged,
    "mergeOverwrite": lambda place, *given: _merged(place, *reversed(given)),
    "get": _index,
    "index": _index,
    "hasKey": lambda place, value, key: (
        made(_said(key, place) in value, place) if isinstance(value, Mapping) else UNKNOWN_ITEM
    ),
    "keys": lambda place, value: (
        [made(name, place) for name in sorted(value)] if isinstance(value, Mapping) else UNKNOWN_ITEM
    ),
    "len": lambda place, value: (
        made(len(value), place) if not isinstance(value, (Scalar, UnknownItem)) else UNKNOWN_ITEM
    ),
    "eq": _eq,
    "ne": lambda place, first, second: _not(place, _eq(place, first, second)),
    "lt": _ordered(lambda one, other: one < other),
    "le": _ordered(lambda one, other: one <= other),
    "gt": _ordered(lambda one, other: one > other),
    "ge": _ordered(lambda one, other: one >= other),
    "not": _not,
    "and": _and,
    "or": _or,
    "empty": lambda place, value=NOTHING: _not(place, value),
    "ternary": _ternary,
    "required": _required,
    "int": _int,
    "int64": _int,
    "add": _computed(lambda one, other: one + other),
    "sub": _computed(lambda one, other: one - other),
    "mul": _computed(lambda one, other: one * other),
    "div": _computed(lambda one, other: int(one / other)),
    "until": numbers,
    "contains": lambda place, part, said: made(_said(part, place) in _said(said, place), place),
    "hasPrefix": lambda place, part, said: made(_said(said, place).startswith(_said(part, place)), place),
    "hasSuffix": lambda place, part, said: made(_said(said, place).endswith(_said(part, place)), place),
    "kindIs": lambda place, kind, value: made(_kind(value) == _said(kind, place), place),
    "kindOf": lambda place, value: made(_kind(value), place),
    "fail": lambda place, message: UNKNOWN_ITEM,
}
