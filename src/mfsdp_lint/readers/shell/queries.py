"""Queries of `jq` and `yq`: paths, pipes, lists, objects and texts → what they print.

Facts: jq 1.7's manual. Functions and operators that scripts do not use to read a configuration are not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import product
from typing import Any

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.given_words import HOLE

_TOKEN = lazy_pattern(
    r"""\s*(?:(?P<text>"(?:\\.|[^"\\])*")|(?P<number>\d+(?:\.\d+)?)|(?P<name>@?[A-Za-z_]\w*)|(?P<variable>\$\w+)
    |(?P<sign>\.\[|\.\.|//|==|!=|<=|>=|[.|,;:()\[\]{}?+*<>-]))""",
    re.VERBOSE,
)
_MOST_RESULTS = 1_000

Names = Mapping[str, Any]
"""The values of variables, by their names with `$`."""


class _Unknown(Exception):
    """A query with something that is not known here."""


def query(said: str, text: str | None, names: Names, *, layout: Callable[[Any], str]) -> str | None:
    """Return the lines that a query prints of a file in YAML or JSON; None where that is not known.

    Without a text it is run once, for null. `names` may have texts with a HOLE, which a result may contain.
    """
    try:
        found = list(_Query(said).results(None if text is None else _loaded(text), names))
        return "".join(f"{layout(each)}\n" for each in found)
    except (_Unknown, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        import yaml

        try:
            return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError:
            raise _Unknown from None


class _Query:
    """A query as it is read; each method yields the results of a part of it for a value."""

    def __init__(self, said: str) -> None:
        self.tokens: list[str] = []
        at = 0
        while at < len(said.rstrip()):
            found = _TOKEN.match(said, at)
            if found is None:
                raise _Unknown
            self.tokens.append(found[0].strip())
            at = found.end()
        self.at = 0

    def results(self, value: Any, names: Names) -> list[Any]:
        tree = self._pipe()
        if self.at < len(self.tokens):
            raise _Unknown
        return list(_run(tree, value, names))

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
        if self._take("as"):
            name = self._variable()
            self._expect("|")
            return ("as", left, name, self._pipe())
        return ("pipe", left, self._pipe()) if self._take("|") else left

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

    _LEVELS = (("//",), ("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*",))

    def _binary(self, level: int) -> Any:
        if level == len(self._LEVELS):
            return self._postfix()
        left = self._binary(level + 1)
        while (sign := self._next()) in self._LEVELS[level]:
            self.at += 1
            left = (sign, left, self._binary(level + 1))
        return left

    def _postfix(self) -> Any:
        tree = self._term()
        while True:
            if self._take("?"):
                continue
            if (
                self._next() == "."
                and self.at + 1 < len(self.tokens)
                and re.match(r"[A-Za-z_\"]", self.tokens[self.at + 1])
            ):
                self.at += 1
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
        inner = self._pipe()
        self._expect("]")
        return ("key", tree, inner)

    def _term(self) -> Any:
        word = self._next()
        self.at += 1
        match word:
            case ".":
                is_key = re.match(r"[A-Za-z_\"]", self._next())
                return ("key", ("self",), self._name()) if is_key else ("self",)
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
            case "true" | "false" | "null":
                return ("is", json.loads(word))
        if word.startswith("$"):
            return ("variable", word)
        if word.startswith('"'):
            return self._text(word)
        if re.fullmatch(r"\d+(?:\.\d+)?", word):
            return ("is", json.loads(word))
        if word == "-" and self._next()[:1].isdigit():
            return ("is", -self._term()[1])
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
        parts: list[Any] = []
        rest, at = word[1:-1], 0
        for found in re.finditer(r"\\\(([^()]*)\)", rest):
            parts += [
                ("is", json.loads(f'"{rest[at : found.start()]}"')),
                ("pipe", _Query(found[1])._pipe(), ("call", "tostring", [])),
            ]
            at = found.end()
        parts.append(("is", json.loads(f'"{rest[at:]}"')))
        tree = parts[0]
        for part in parts[1:]:
            tree = ("+", tree, part)
        return tree


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


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
                yield from list(whole.values() if isinstance(whole, dict) else whole)[:_MOST_RESULTS]
        case ("key", inner, name):
            for whole in _run(inner, value, names):
                for key in _run(name, value, names):
                    if isinstance(whole, dict):
                        yield whole.get(key)
                    else:
                        yield None if whole is None or not -len(whole) <= key < len(whole) else whole[key]
        case ("if", condition, then, otherwise):
            for holds in _run(condition, value, names):
                yield from _run(then if _is_true(holds) else otherwise, value, names)
        case ("//", left, right):
            found = [each for each in _run(left, value, names) if _is_true(each)]
            yield from found or _run(right, value, names)
        case ("call", name, given):
            if name in _CALLERS:
                yield from _CALLERS[name](value, lambda item: list(_run(given[0], item, names)))
            else:
                yield from _called(name, [list(_run(each, value, names)) for each in given], value)
        case (sign, left, right):
            for first in _run(left, value, names):
                for second in _run(right, value, names):
                    yield _OPERATORS[sign](first, second)
        case _:
            raise _Unknown


def _is_true(value: Any) -> bool:
    return value not in (None, False)


def _sum(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return {**first, **second} if isinstance(first, dict) else first + second


def _difference(first: Any, second: Any) -> Any:
    return [each for each in first if each not in second] if isinstance(first, list) else first - second


def _product(first: Any, second: Any) -> Any:
    """Return a product; of two objects, the second laid over the first at every depth."""
    if not isinstance(first, dict):
        return first * second
    both = {name: each for name, each in second.items() if isinstance(each, dict) and isinstance(first.get(name), dict)}
    return {**first, **second, **{name: _product(first[name], each) for name, each in both.items()}}


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
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
}
"""The functions that run their argument for something else than what they are given."""


def _entries(value: Any) -> list[Any]:
    return [{"key": key, "value": each} for key, each in value.items()]


def _of_entries(entries: Iterable[Any]) -> Any:
    return {each["key"]: each.get("value") for each in entries}


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "to_entries": _entries,
    "from_entries": _of_entries,
    "keys": lambda value: sorted(value) if isinstance(value, dict) else list(range(len(value))),
    "keys_unsorted": list,
    "add": lambda value: reduce(_sum, value, None),
    "first": lambda value: value[0],
    "last": lambda value: value[-1],
    "tostring": _said,
    "tojson": json.dumps,
    "join": lambda value, mark: mark.join("" if each is None else _said(each) for each in value),
    "not": lambda value: not _is_true(value),
    "has": lambda value, key: key in value if isinstance(value, dict) else 0 <= key < len(value),
    "@sh": lambda value: " ".join(map(_quoted, value if isinstance(value, list) else [value])),
}
_OF_KNOWN_TEXTS: Mapping[str, Callable[..., Any]] = {
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
    "contains": lambda value, part: part in value if isinstance(value, str) else all(each in value for each in part),
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


def _called(name: str, given: list[list[Any]], value: Any) -> Iterator[Any]:
    if name == "empty":
        return
    if name == "values":
        yield from () if value is None else (value,)
        return
    function = _FUNCTIONS.get(name) or _OF_KNOWN_TEXTS.get(name)
    if function is None:
        raise _Unknown
    for arguments in product(*given):
        yield function(*(map(_compared, (value, *arguments)) if name in _OF_KNOWN_TEXTS else (value, *arguments)))
