"""Queries of `jq` and `yq`: paths, pipes, lists and texts → what they print.

Facts: jq 1.7's manual. Functions and operators that scripts do not use to read a configuration are not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:\\.|[^"\\])*")|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<variable>\$\w+)
    |(?P<sign>\.\[|\.\.|//|==|!=|<=|>=|[.|,()\[\]:?+*<>]))""",
    re.VERBOSE,
)
_MOST_RESULTS = 1_000


class _Unknown(Exception):
    """A query with something that is not known here."""


def query(said: str, text: str, *, raw: bool, scalars: bool) -> str | None:
    """Return the lines that a query prints of a file in YAML or JSON; None where that is not known.

    With `scalars`, only texts and numbers are known: `yq` has a layout of its own for the rest.
    """
    try:
        found = list(_Query(said).results(_loaded(text)))
    except (_Unknown, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
    if scalars and any(isinstance(each, (dict, list)) for each in found):
        return None
    return "".join(f"{each if raw and isinstance(each, str) else json.dumps(each)}\n" for each in found)


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

    def results(self, value: Any) -> list[Any]:
        tree = self._pipe()
        if self.at < len(self.tokens):
            raise _Unknown
        return list(_run(tree, value))

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
        while self._take("|"):
            left = ("pipe", left, self._comma())
        return left

    def _comma(self) -> Any:
        left = self._binary(0)
        while self._take(","):
            left = ("comma", left, self._binary(0))
        return left

    _LEVELS = (("//",), ("==", "!="), ("+",))

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
        if word == ".":
            if re.match(r"[A-Za-z_\"]", self._next()):
                return ("key", ("self",), self._name())
            return ("self",)
        if word == ".[":
            return self._index(("self",))
        if word == "(":
            inner = self._pipe()
            self._expect(")")
            return inner
        if word == "[":
            inner = ("empty",) if self._next() == "]" else self._pipe()
            self._expect("]")
            return ("list", inner)
        if word.startswith('"'):
            return self._text(word)
        if re.fullmatch(r"-?\d+(?:\.\d+)?", word):
            return ("is", json.loads(word))
        if word in ("true", "false", "null"):
            return ("is", json.loads(word))
        if re.fullmatch(r"[A-Za-z_]\w*", word):
            inner = None
            if self._take("("):
                inner = self._pipe()
                self._expect(")")
            return ("call", word, inner)
        raise _Unknown

    def _text(self, word: str) -> Any:
        """Read a text, in which `\\(…)` is filled in."""
        parts: list[Any] = []
        rest, at = word[1:-1], 0
        for found in re.finditer(r"\\\(([^()]*)\)", rest):
            parts += [
                ("is", json.loads(f'"{rest[at : found.start()]}"')),
                ("call", "tostring_of", _Query(found[1])._pipe()),
            ]
            at = found.end()
        parts.append(("is", json.loads(f'"{rest[at:]}"')))
        tree = parts[0]
        for part in parts[1:]:
            tree = ("+", tree, part)
        return tree


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _run(tree: Any, value: Any) -> Iterator[Any]:
    match tree:
        case ("self",):
            yield value
        case ("empty",):
            return
        case ("is", constant):
            yield constant
        case ("pipe", left, right):
            for each in _run(left, value):
                yield from _run(right, each)
        case ("comma", left, right):
            yield from _run(left, value)
            yield from _run(right, value)
        case ("list", inner):
            yield list(_run(inner, value))
        case ("each", inner):
            for whole in _run(inner, value):
                yield from list(whole.values() if isinstance(whole, dict) else whole)[:_MOST_RESULTS]
        case ("key", inner, name):
            for whole in _run(inner, value):
                for key in _run(name, value):
                    if isinstance(whole, dict):
                        yield whole.get(key)
                    else:
                        yield None if whole is None or not -len(whole) <= key < len(whole) else whole[key]
        case ("//", left, right):
            found = [each for each in _run(left, value) if each not in (None, False)]
            yield from found or _run(right, value)
        case ("==" | "!=" as sign, left, right):
            for first in _run(left, value):
                for second in _run(right, value):
                    yield (first == second) is (sign == "==")
        case ("+", left, right):
            for first in _run(left, value):
                for second in _run(right, value):
                    yield second if first is None else first if second is None else first + second
        case ("call", name, inner):
            yield from _called(name, inner, value)
        case _:
            raise _Unknown


def _called(name: str, inner: Any, value: Any) -> Iterator[Any]:
    match name:
        case "to_entries":
            yield [{"key": key, "value": each} for key, each in value.items()]
        case "keys":
            yield sorted(value) if isinstance(value, dict) else list(range(len(value)))
        case "keys_unsorted":
            yield list(value)
        case "length":
            yield len(value)
        case "tostring":
            yield _said(value)
        case "tostring_of":
            yield from map(_said, _run(inner, value))
        case "join":
            for mark in _run(inner, value):
                yield mark.join(map(_said, value))
        case "map":
            yield [each for item in value for each in _run(inner, item)]
        case "select":
            yield from (value for holds in _run(inner, value) if holds not in (None, False))
        case "not":
            yield value in (None, False)
        case "has":
            yield from (key in value for key in _run(inner, value))
        case "ascii_downcase":
            yield value.lower()
        case "empty":
            return
        case _:
            raise _Unknown
