"""Queries of `jq` and `yq`: paths, pipes, lists, objects and texts → what they print.

Facts: jq 1.7's manual. Functions and operators that scripts do not use to read a configuration are not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import groupby, islice, product
from math import isfinite
from typing import Any, Literal

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.regular_expressions import NotMatched, compiled, matched

_TOKEN = lazy_pattern(
    r"""\s*(?:(?P<text>")|(?P<number>\d+(?:\.\d+)?)|(?P<name>@?[A-Za-z_]\w*)|(?P<variable>\$\w+)
    |(?P<field>\.(?=[A-Za-z_"]))|(?P<sign>\.\[|\.\.|//=|//|==|!=|<=|>=|[|+*/-]=|[.|,;:()\[\]{}?+*/<>=-]))""",
    re.VERBOSE,
)
_LONGEST, _LARGEST = 100_000, 1e15
"""Characters of a text, items of a list, and the size of a number."""
_FIELD = ".name"
"""The token of the dot that a name follows at once."""
_NO_BLANK = lazy_pattern(r"\S")
_MOST_RESULTS = 1_000
_INPUTS = "inputs"
"""The name under which a query knows its documents, which `inputs` yields."""

Names = Mapping[str, Any]
"""The values of variables, by their names with `$`."""


class _Unknown(ValueError):
    """A query with something that is not known here."""


def query(
    said: str, text: str | None, names: Names, *, layout: Callable[[Any], str], reads: Literal["each", "all", "none"]
) -> str | None:
    """Return the lines that a query prints of the documents of a text in YAML or JSON; None where that is not known.

    It is run for `each` document, once for a list of `all` (`jq -s`), or once for null (`jq -n`), and may ask for the
    documents then. `names` may have texts with a HOLE, which a result may contain.
    """
    try:
        given = documents(text or "") if reads != "none" or _INPUTS in said else []
        values = given if reads == "each" else [given if reads == "all" else None]
        tree, known = _Query(said).tree(), {**names, **({_INPUTS: given} if reads == "none" else {})}
        return "".join(f"{layout(found)}\n" for value in values for found in _run(tree, value, known))
    except (NotMatched, re.error, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        return None


def documents(text: str) -> list[Any]:
    """Return the documents of a text: JSON one behind the other, or one of YAML.

    Raises ValueError where it is neither.
    """
    found, decoder = [], json.JSONDecoder()
    text, at = text.rstrip(), 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, _NO_BLANK.search(text, at).start())  # type: ignore[union-attr]
            found.append(value)
    except ValueError:
        import yaml

        try:
            return [yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
        except yaml.YAMLError:
            raise _Unknown from None
    return found


class _Query:
    """A query as it is read; each method reads a part of it as a tree."""

    def __init__(self, said: str) -> None:
        self.tokens: list[str] = []
        at, said = 0, said.rstrip()
        while at < len(said):
            found = _TOKEN.match(said, at)
            if found is None:
                raise _Unknown
            at = _end_of_text(said, found.end())[0] if found["text"] else found.end()
            self.tokens.append(_FIELD if found["field"] else said[found.start() : at].strip())
        self.at = 0

    def tree(self) -> Any:
        tree = self._pipe()
        if self.at < len(self.tokens):
            raise _Unknown
        return tree

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, *said: str) -> bool:
        if self._next() in said and self._next():
            self.at += 1
            return True
        return False

    def _expect(self, said: str) -> None:
        if not self._take(said):
            raise _Unknown

    def _pipe(self) -> Any:
        left = self._comma()
        return ("pipe", left, self._pipe()) if self._take("|") else left

    def _reduction(self) -> Any:
        """Read what follows `reduce`."""
        each = self._path()
        self._expect("as")
        name = self._variable()
        self._expect("(")
        first = self._until(";")
        return ("reduce", each, name, first, self._until(")"))

    def _variable(self) -> str:
        if not self._next().startswith("$"):
            raise _Unknown
        self.at += 1
        return self.tokens[self.at - 1]

    def _comma(self) -> Any:
        left = self._binary(0)
        while self._take(","):
            left = ("comma", left, self._binary(0))
        return left

    _LEVELS = (
        ("//",), ("=", "|=", "+=", "-=", "*=", "/=", "//="), ("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="),
        ("+", "-"), ("*", "/"),
    )  # fmt: skip

    def _binary(self, level: int) -> Any:
        if level == len(self._LEVELS):
            return self._postfix()
        left = self._binary(level + 1)
        while (sign := self._next()) in self._LEVELS[level]:
            self.at += 1
            left = (sign, left, self._binary(level + 1))
        return left

    def _postfix(self) -> Any:
        """Read a term, and what is done with a variable that is bound to it."""
        tree = self._path()
        if not self._take("as"):
            return tree
        name = self._variable()
        self._expect("|")
        return ("as", tree, name, self._pipe())

    def _path(self) -> Any:
        tree = self._term()
        while True:
            if self._take("?"):
                continue
            if self._take(_FIELD):
                tree = ("key", tree, self._name())
            elif self._take("[", ".["):
                tree = self._index(tree)
            else:
                return tree

    def _name(self) -> Any:
        word = self._next()
        self.at += 1
        return ("is", json.loads(word) if word.startswith('"') else word)

    def _index(self, tree: Any) -> Any:
        if self._take("]"):
            return ("each", tree)
        first = ("is", None) if self._next() == ":" else self._pipe()
        if self._take(":"):
            last = ("is", None) if self._next() == "]" else self._pipe()
            self._expect("]")
            return ("part", tree, first, last)
        self._expect("]")
        return ("key", tree, first)

    def _term(self) -> Any:
        word = self._next()
        self.at += 1
        match word:
            case ".":
                return ("self",)
            case _ if word == _FIELD:
                return ("key", ("self",), self._name())
            case ".[":
                return self._index(("self",))
            case "(":
                return self._until(")")
            case "[":
                return ("list", ("empty",) if self._take("]") else self._until("]"))
            case "{":
                return ("object", self._entries())
            case "if":
                return self._condition()
            case "reduce":
                return self._reduction()
            case "..":
                return ("call", "recurse", [])
            case "true" | "false" | "null":
                return ("is", json.loads(word))
        if word.startswith("$"):
            return ("variable", word)
        if word.startswith('"'):
            return self._text(word)
        if re.fullmatch(r"\d+(?:\.\d+)?", word):
            return ("is", json.loads(word))
        if word == "-":
            return ("-", ("is", 0), self._postfix())
        if re.fullmatch(r"@?[A-Za-z_]\w*", word):
            given = []
            if self._take("("):
                given.append(self._pipe())
                while self._take(";"):
                    given.append(self._pipe())
                self._expect(")")
            return ("call", word, given)
        raise _Unknown

    def _until(self, mark: str) -> Any:
        inner = self._pipe()
        self._expect(mark)
        return inner

    def _entries(self) -> list[tuple[Any, Any]]:
        """Read the entries of an object: `name: value`, `"name": value`, `(query): value`, `$name`, `name`."""
        found: list[tuple[Any, Any]] = []
        while not self._take("}"):
            word = self._next()
            self.at += 1
            name: Any = ("is", word.removeprefix("$"))
            if word == "(" or word[:1] == '"':
                name = self._until(")") if word == "(" else self._text(word)
            value: Any = ("variable", word) if word.startswith("$") else ("key", ("self",), name)
            if self._take(":"):
                value = self._postfix()
                while self._take("|"):
                    value = ("pipe", value, self._postfix())
            found.append((name, value))
            if self._next() != "}":
                self._expect(",")
        return found

    def _condition(self) -> Any:
        """Read what follows `if`, or `elif`."""
        condition = self._pipe()
        self._expect("then")
        then = self._pipe()
        if self._take("elif"):
            return ("if", condition, then, self._condition())
        otherwise = self._pipe() if self._take("else") else ("self",)
        self._expect("end")
        return ("if", condition, then, otherwise)

    def _text(self, word: str) -> Any:
        """Read a text, in which `\\(…)` is filled in."""
        tree: Any = ("is", "")
        at = 1
        for start, end in (*_end_of_text(word, 1)[1], (len(word), 0)):
            tree = ("+", tree, ("is", json.loads(f'"{word[at : start - 2 if end else -1]}"')))
            if end:
                tree = ("+", tree, ("pipe", _Query(word[start:end]).tree(), ("call", "tostring", [])))
            at = end + 1
        return tree


def _end_of_text(said: str, at: int) -> tuple[int, list[tuple[int, int]]]:
    """Return where a text ends of which the quote lies in front of a place, and where the queries within it lie."""
    filled: list[tuple[int, int]] = []
    while at < len(said) and said[at] != '"':
        if said[at : at + 2] == "\\(":
            start = at = at + 2
            depth = 1
            while depth and at < len(said):
                depth += {"(": 1, ")": -1}.get(said[at], 0)
                at = _end_of_text(said, at + 1)[0] if said[at] == '"' else at + 1
            filled.append((start, at - 1))
        else:
            at += 2 if said[at] == "\\" else 1
    if at >= len(said):
        raise _Unknown
    return at + 1, filled


def _said(value: Any) -> str:
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _compared(value: Any) -> Any:
    """Return a value that is looked into. Raises _Unknown for a text of which a part is not known."""
    if HOLE in json.dumps(value, ensure_ascii=False):
        raise _Unknown
    return value


def _run(tree: Any, value: Any, names: Names) -> Iterator[Any]:
    match tree:
        case ("self",):
            yield value
        case ("empty",):
            return
        case ("is", constant):
            yield constant
        case ("variable", name):
            yield names[name]
        case ("pipe", left, right):
            for each in _run(left, value, names):
                yield from _run(right, each, names)
        case ("as", left, name, right):
            for each in _run(left, value, names):
                yield from _run(right, value, {**names, name: each})
        case ("comma", left, right):
            yield from _run(left, value, names)
            yield from _run(right, value, names)
        case ("list", inner):
            yield list(_run(inner, value, names))
        case ("object", entries):
            keys, values = ([list(_run(entry[part], value, names)) for entry in entries] for part in (0, 1))
            for chosen in product(*(product(*each) for each in zip(keys, values, strict=True))):
                yield dict(chosen)
        case ("each", inner):
            for whole in _run(inner, value, names):
                if not isinstance(whole, (dict, list)) or len(whole) > _MOST_RESULTS:
                    raise _Unknown
                yield from list(whole.values()) if isinstance(whole, dict) else whole
        case ("key", inner, name):
            for whole in _run(inner, value, names):
                for key in _run(name, value, names):
                    if isinstance(whole, (str, bool, int, float)):
                        raise _Unknown
                    if isinstance(whole, dict):
                        yield whole.get(key)
                    else:
                        yield None if whole is None or not -len(whole) <= key < len(whole) else whole[key]
        case ("part", inner, first, last):
            for whole in _run(inner, value, names):
                for end in _run(last, value, names):
                    yield from (whole and _compared(whole)[start:end] for start in _run(first, value, names))
        case ("if", condition, then, otherwise):
            for holds in _run(condition, value, names):
                yield from _run(then if _is_true(holds) else otherwise, value, names)
        case ("reduce", items, name, first, update):
            (found,) = _run(first, value, names)
            for each in _run(items, value, names):
                (found,) = _run(update, found, {**names, name: each})
            yield found
        case ("//", left, right):
            found = [each for each in _run(left, value, names) if _is_true(each)]
            yield from found or _run(right, value, names)
        case ("call", "inputs", []):
            yield from names[_INPUTS]
        case ("call", "first", [inner]):
            yield from islice(_run(inner, value, names), 1)
        case ("call", "last", [inner]):
            yield from list(_run(inner, value, names))[-1:]
        case ("call", "limit", [number, inner]):
            for most in _run(number, value, names):
                yield from islice(_run(inner, value, names), most)
        case ("call", "path", [inner]):
            yield from map(list, _paths(inner, value, names))
        case ("call", "del", [inner]):
            for path in sorted(_paths(inner, value, names), reverse=True):
                value = _without(value, path)
            yield value
        case ("call", name, given):
            if name in _CALLERS and len(given) == 1:
                yield from _CALLERS[name](value, lambda item: list(_run(given[0], item, names)))
            else:
                yield from _called(name, [list(_run(each, value, names)) for each in given], value)
        case ("|=", left, right):
            for path in list(_paths(left, value, names)):
                (part,) = _run(right, _at(value, path), names)
                value = _with(value, path, part)
            yield value
        case (("=" | "+=" | "-=" | "*=" | "/=" | "//=") as sign, left, right):
            for given in _run(right, value, names):
                changed = value
                for path in list(_paths(left, value, names)):
                    changed = _with(changed, path, _OPERATORS[sign[:-1]](_at(changed, path), given))
                yield changed
        case (sign, left, right):
            for second in _run(right, value, names):
                yield from (_OPERATORS[sign](first, second) for first in _run(left, value, names))
        case _:
            raise _Unknown


_Path = tuple[Any, ...]
"""The keys and indices that lead to a part of a value."""


def _paths(tree: Any, value: Any, names: Names) -> Iterator[_Path]:
    """Yield the paths of the parts of a value that a query means."""
    match tree:
        case ("self",):
            yield ()
        case ("empty",):
            return
        case ("key", inner, name):
            for path in _paths(inner, value, names):
                yield from ((*path, key) for key in _run(name, value, names))
        case ("each", inner):
            for path in _paths(inner, value, names):
                whole = _at(value, path)
                yield from ((*path, key) for key in (list(whole) if isinstance(whole, dict) else range(len(whole))))
        case ("pipe", left, right):
            for path in _paths(left, value, names):
                yield from ((*path, *more) for more in _paths(right, _at(value, path), names))
        case ("comma", left, right):
            yield from _paths(left, value, names)
            yield from _paths(right, value, names)
        case ("call", "select", [condition]):
            yield from (() for holds in _run(condition, value, names) if _is_true(holds))
        case ("call", "recurse", []):
            yield ()
            yield from _inner_paths(value)
        case _:
            raise _Unknown


def _inner_paths(value: Any) -> Iterator[_Path]:
    """Yield the paths of all parts of a value, each before those below it."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in below:
        yield (key,)
        yield from ((key, *more) for more in _inner_paths(part))


def _at(value: Any, path: Iterable[Any]) -> Any:
    for key in path:
        if isinstance(key, int) and not 0 <= key < len(value or ()):
            raise _Unknown
        if value is None or (isinstance(value, list) and not -len(value) <= key < len(value)):
            return None
        value = value.get(key) if isinstance(value, dict) else value[key]
    return value


def _with(value: Any, path: _Path, part: Any) -> Any:
    """Return a value with another part at a path, which may be new."""
    if not path:
        return part
    key, *rest = path
    inner = _with(_at(value, [key]), tuple(rest), part)
    if isinstance(key, str):
        return {**(value or {}), key: inner}
    return [*value[:key], inner, *value[key + 1 :]]


def _without(value: Any, path: _Path) -> Any:
    """Return a value without the part at a path."""
    key, *rest = path
    if rest:
        return _with(value, (key,), _without(_at(value, [key]), tuple(rest))) if _at(value, [key]) else value
    kept = (each for each in (value.items() if isinstance(value, dict) else enumerate(value or ())) if each[0] != key)
    return dict(kept) if isinstance(value, dict) else [each for _, each in kept]


def _is_true(value: Any) -> bool:
    return value is not None and value is not False


def _sum(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    found = {**first, **second} if isinstance(first, dict) else first + second
    if isinstance(found, (str, list)) and len(found) > _LONGEST:
        raise _Unknown
    return _number(found)


def _difference(first: Any, second: Any) -> Any:
    return [each for each in first if each not in second] if isinstance(first, list) else first - second


def _product(first: Any, second: Any) -> Any:
    """Return a product; of two objects, the second laid over the first at every depth."""
    if not isinstance(first, dict):
        if not all(isinstance(each, (int, float)) for each in (first, second)):
            raise _Unknown
        return _number(float(first) * second if abs(first * 1.0) > _LARGEST else first * second)
    both = {name: each for name, each in second.items() if isinstance(each, dict) and isinstance(first.get(name), dict)}
    return {**first, **second, **{name: _product(first[name], each) for name, each in both.items()}}


def _quotient(first: Any, second: Any) -> Any:
    """Return a quotient; of two texts, the pieces of the first between the second."""
    if isinstance(first, str):
        return _compared(first).split(_compared(second))
    return _number(first / second)


def _number(value: Any) -> Any:
    """Return a number as jq prints it: one without a fraction has no point."""
    if isinstance(value, float) and not isfinite(value):
        raise _Unknown
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST else value


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "": lambda _, second: second,
    "//": lambda first, second: first if _is_true(first) else second,
    "/": _quotient,
    "==": lambda first, second: _compared(first) == _compared(second),
    "!=": lambda first, second: _compared(first) != _compared(second),
    "<": lambda first, second: _compared(first) < _compared(second),
    "<=": lambda first, second: _compared(first) <= _compared(second),
    ">": lambda first, second: _compared(first) > _compared(second),
    ">=": lambda first, second: _compared(first) >= _compared(second),
    "and": lambda first, second: _is_true(first) and _is_true(second),
    "or": lambda first, second: _is_true(first) or _is_true(second),
    "+": _sum,
    "-": _difference,
    "*": _product,
}

_Items = Callable[[Any], list[Any]]
"""The argument of a function, run for each item."""

_CALLERS: Mapping[str, Callable[[Any, _Items], Iterator[Any]]] = {
    "map": lambda value, run: iter([[each for item in value for each in run(item)]]),
    "map_values": lambda value, run: iter([{name: run(each)[0] for name, each in value.items() if run(each)}]),
    "select": lambda value, run: (value for holds in run(value) if _is_true(holds)),
    "with_entries": lambda value, run: iter([_of_entries(each for entry in _entries(value) for each in run(entry))]),
    "paths": lambda value, run: (
        list(path) for path in _inner_paths(value) if any(map(_is_true, run(_at(value, path))))
    ),
    "add": lambda value, run: iter([reduce(_sum, run(value), None)]),
    "any": lambda value, run: iter([any(_is_true(holds) for item in value for holds in run(item))]),
    "all": lambda value, run: iter([all(_is_true(holds) for item in value for holds in run(item))]),
    "sort_by": lambda value, run: iter([sorted(value, key=lambda item: _compared(run(item)))]),
}
"""The functions that run their argument for something else than what they are given."""


def _entries(value: Any) -> list[Any]:
    return [{"key": key, "value": each} for key, each in value.items()]


def _of_entries(entries: Iterable[Any]) -> Any:
    return {each["key"]: each.get("value") for each in entries}


def _contains(value: Any, part: Any) -> bool:
    """Tell whether a text has another one; or a list, of no lists and objects, each of some others."""
    if isinstance(value, list) and isinstance(part, list):
        if any(isinstance(each, (dict, list)) for each in (*value, *part)):
            raise _Unknown
        return all(any(_contains(one, each) if isinstance(one, str) else one == each for one in value) for each in part)
    if not isinstance(value, str):
        raise _Unknown
    return isinstance(part, str) and part in value


def _flat(items: list[Any]) -> list[Any]:
    return [each for item in items for each in (_flat(item) if isinstance(item, list) else [item])]


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "flatten": _flat,
    "getpath": _at,
    "setpath": lambda value, path, part: _with(value, tuple(path), part),
    "tojson": _as_json,
    "reverse": lambda value: value[::-1],
    "@text": _said,
    "@json": _as_json,
    "to_entries": _entries,
    "from_entries": _of_entries,
    "keys": lambda value: sorted(value) if isinstance(value, dict) else list(range(len(value))),
    "keys_unsorted": lambda value: list(value.keys()),
    "add": lambda value: reduce(_sum, value.values() if isinstance(value, dict) else value, None),
    "first": lambda value: value[0],
    "last": lambda value: value[-1],
    "tostring": _said,
    "join": lambda value, mark: mark.join("" if each is None else _said(each) for each in value),
    "not": lambda value: not _is_true(value),
    "has": lambda value, key: key in value if isinstance(value, dict) else 0 <= key < len(value),
    "@sh": lambda value: " ".join(map(_quoted, value if isinstance(value, list) else [value])),
}
_OF_KNOWN_TEXTS: Mapping[str, Callable[..., Any]] = {
    "sort": sorted,
    "unique": lambda value: [each for each, _ in groupby(sorted(value))],
    "max": max,
    "min": min,
    "fromjson": json.loads,
    "test": lambda value, pattern: matched(compiled(pattern), "search", value) is not None,
    "sub": lambda value, pattern, by: matched(compiled(pattern), "sub", lambda _: by, value, count=1),
    "gsub": lambda value, pattern, by: matched(compiled(pattern), "sub", lambda _: by, value),
    "length": lambda value: 0 if value is None else len(value),
    "tonumber": lambda value: json.loads(value) if isinstance(value, str) else value,
    "type": lambda value: _TYPES[type(value)],
    "ascii_downcase": str.lower,
    "ascii_upcase": str.upper,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "ltrimstr": lambda value, start: value.removeprefix(start) if isinstance(value, str) else value,
    "rtrimstr": lambda value, end: value.removesuffix(end) if isinstance(value, str) else value,
    "split": lambda value, mark: (value.split(mark) if mark else list(value)) if value else [],
    "contains": _contains,
}
"""The functions that look into a text."""

_TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def _quoted(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text: str) -> str:
    """Return a text within single quotes, as a shell reads them; a quote in it stands outside of them."""
    return "'" + text.replace("'", "'\\''") + "'"


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "empty": lambda _: False,
    "values": lambda value: value is not None,
    "nulls": lambda value: value is None,
    "scalars": lambda value: not isinstance(value, (dict, list)),
    "iterables": lambda value: isinstance(value, (dict, list)),
    "objects": lambda value: isinstance(value, dict),
    "arrays": lambda value: isinstance(value, list),
    "strings": lambda value: isinstance(value, str),
    "booleans": lambda value: isinstance(value, bool),
    "numbers": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}
"""The functions that hand on values of their kind alone."""


def _called(name: str, given: list[list[Any]], value: Any) -> Iterator[Any]:
    if name in _KINDS:
        yield from (value,) if _KINDS[name](value) else ()
        return
    if name == "range":
        numbers = range(*(bound for (bound,) in given))
        if len(numbers) > _MOST_RESULTS:
            raise _Unknown
        yield from numbers
        return
    if name in ("recurse", "paths", "leaf_paths") and not given:
        every = [(), *_inner_paths(value)] if name == "recurse" else list(_inner_paths(value))
        for path in every:
            part = _at(value, path)
            if name == "recurse":
                yield part
            elif name == "paths" or (_is_true(part) and not isinstance(part, (dict, list))):
                yield list(path)
        return
    function = _FUNCTIONS.get(name) or _OF_KNOWN_TEXTS.get(name)
    if function is None:
        raise _Unknown
    for arguments in product(*given):
        yield function(*(map(_compared, (value, *arguments)) if name in _OF_KNOWN_TEXTS else (value, *arguments)))
