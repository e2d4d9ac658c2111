"""Overrides in Hydra's grammar: `a.b=1`, `+a.b=[1, x]`, `++a={b: 1}`, `~a.b`.

After hydra-core 1.3.2, OverrideLexer.g4 and OverrideParser.g4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.python.values.places import Placed

_KEY = re.compile(r"(~|\+\+|\+)?((?:[A-Za-z_$][\w$-]*|\d+)(?:\.(?:[A-Za-z_$][\w$-]*|\d+))*)")
_UNSIGNED = r"(?:0|[1-9](?:_?\d)*)"
_POINT = rf"(?:{_UNSIGNED}?\.\d(?:_?\d)*|{_UNSIGNED}\.)"
_TOKENS = [
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("float", rf"[+-]?(?:(?:{_POINT}|{_UNSIGNED})[eE][+-]?\d(?:_?\d)*|{_POINT}|[Ii][Nn][Ff]|[Nn][Aa][Nn])"),
        ("int", rf"[+-]?{_UNSIGNED}"),
        ("bool", r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]"),
        ("null", r"[Nn][Uu][Ll][Ll]"),
        ("text", r"[/\-\\+.$%*@?|]"),
        ("text", r"[A-Za-z_][\w-]*"),
        ("escaped", r"(?:\\[\\()\[\]{}:=, \t])+"),
        ("space", r"[ \t]+"),
        ("quoted", r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'"),
        ("open", r"\$\{[^}]+\}"),
        ("mark", r"[\[\]{},:()=]"),
    )
]


class NoOverride(Exception):
    """A text that Hydra refuses."""


@dataclass(frozen=True, slots=True)
class Override:
    """`sign` is "" (change), "+" (add), "++" (add or change) or "~" (take away); `key` has dots."""

    sign: str
    key: str
    value: Placed


def parse(text: str) -> Override:
    """Parse one override. Raises NoOverride."""
    found = _KEY.match(text)
    if found is None:
        raise NoOverride(text)
    sign, key, rest = found[1] or "", found[2], text[found.end() :]
    if not rest and sign == "~":
        return Override(sign, key, Placed(None))
    if not rest.startswith("="):
        raise NoOverride(text)
    reader = _Value(_tokens(rest[1:].lstrip(" \t")))
    value = Placed("") if reader.here is None else reader.element()
    if reader.here is not None:
        # What is left is refused; several values with commas between are a sweep, which no single run can be given.
        raise NoOverride(text)
    return Override(sign, key, value)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Split a text into tokens: the longest at each place, of two as long the first kind."""
    found = []
    position = 0
    while position < len(text):
        matches = [(match.end(), kind) for kind, pattern in _TOKENS if (match := pattern.match(text, position))]
        if not matches:
            raise NoOverride(text)
        end = max(end for end, _ in matches)
        found.append((next(kind for stop, kind in matches if stop == end), text[position:end]))
        position = end
    return found


class _Value:
    """Reads a value from tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0

    @property
    def here(self) -> tuple[str, str] | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, mark: str) -> bool:
        if self.here != ("mark", mark):
            return False
        self.position += 1
        if mark not in "]}":
            self.skip()
        return True

    def skip(self) -> None:
        while self.here is not None and self.here[0] == "space":
            self.position += 1

    def element(self) -> Placed:
        self.skip()
        if self.take("["):
            return self.several("]", self.element)
        if self.take("{"):
            entries = self.several("}", self.pair)
            return Placed(dict(entries.value))
        return self.primitive(frozenset("[]{},()="))

    def pair(self) -> tuple[Any, Placed]:
        key = self.primitive(frozenset("[]{},:()="))
        if key.open or not self.take(":"):
            raise NoOverride("a key")
        return key.value, self.element()

    def several(self, end: str, read: Any) -> Placed:
        items: list[Any] = []
        while not self.take(end):
            self.skip()
            if items and not self.take(","):
                raise NoOverride(f"no {end}")
            items.append(read())
            self.skip()
        return Placed(items)

    def primitive(self, ends: frozenset[str]) -> Placed:
        parts: list[tuple[str, str]] = []
        while (here := self.here) is not None and not (here[0] == "mark" and here[1] in ends):
            parts.append(here)
            self.position += 1
        while parts and parts[-1][0] == "space" and (self.here is not None or parts[0][0] != "quoted"):
            parts.pop()
        if parts and self.here == ("mark", "("):
            return self.function()
        if not parts:
            raise NoOverride("no value")
        if len(parts) == 1:
            return _single(*parts[0])
        if any(kind == "quoted" for kind, _ in parts):
            raise NoOverride("a quoted value with something beside it")
        if any(kind == "open" for kind, _ in parts):
            return Placed(None, open=True)
        return Placed("".join(re.sub(r"\\(.)", r"\1", text) if kind == "escaped" else text for kind, text in parts))

    def function(self) -> Placed:
        """Skip a cast, a range or a sweep, without working out its value."""
        depth = 0
        while self.here is not None:
            depth += {"(": 1, ")": -1}.get(self.here[1], 0)
            self.position += 1
            if depth == 0:
                return Placed(None, open=True)
        raise NoOverride("no )")


def _single(kind: str, text: str) -> Placed:
    if kind == "open" or (kind == "quoted" and ("\\" in text or "${" in text)):
        return Placed(None, open=True)
    convert = _CONVERTED.get(kind)
    return Placed(convert(text) if convert else text)


_CONVERTED: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda text: text.lower() == "true",
    "null": lambda text: None,
    "quoted": lambda text: text[1:-1],
    "escaped": lambda text: re.sub(r"\\(.)", r"\1", text),
}
