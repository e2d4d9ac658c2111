"""Overrides in Hydra's grammar: `a.b=1`, `+a.b=[1, x]`, `++a={b: 1}`, `~a.b`.

After hydra-core 1.3.2, OverrideLexer.g4 and OverrideParser.g4; the arguments of OmegaConf's resolvers are alike. Only
`true`, `false` and `null` are words of the grammar: unlike in a YAML file `yes` and `0x10` are texts, `~` is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, NotNone, Unknown, Value

Item = TypeVar("Item")
Element = Known | NotNone | Unknown | list["Element"] | dict[Any, "Element"]
"""A value as it is written: a scalar, a list or a mapping. A part of it that depends on anything else is not known."""

_KEY = re.compile(r"(?P<sign>~|\+\+|\+)?(?P<key>(?:[A-Za-z_$][\w$-]*|\d+)(?:\.(?:[A-Za-z_$][\w$-]*|\d+))*)(?=[=]|\Z)")
_UNSIGNED = r"(?:0|[1-9](?:_?[0-9])*)"
_POINT = rf"(?:{_UNSIGNED}?\.[0-9](?:_?[0-9])*|{_UNSIGNED}\.)"
_TOKENS = [
    (kind, re.compile(pattern, re.DOTALL))
    for kind, pattern in (
        ("float", rf"[+-]?(?:(?:{_POINT}|{_UNSIGNED})[eE][+-]?[0-9](?:_?[0-9])*|{_POINT}|(?i:inf|nan))"),
        ("int", rf"[+-]?{_UNSIGNED}"),
        ("bool", r"(?i:true|false)"),
        ("null", r"(?i:null)"),
        ("text", r"[/\-\\+.$%*@?|]"),
        ("text", r"[A-Za-z_][A-Za-z0-9_-]*"),
        ("escaped", r"(?:\\[\\()\[\]{}:=, \t])+"),
        ("space", r"[ \t]+"),
        ("quoted", r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'"),
        ("reference", r"\$\{[^}]+\}"),
        ("mark", r"[ \t]*[,:=(][ \t]*|[\[{][ \t]*|[ \t]*[\]})]"),
    )
]


class NoOverride(Exception):
    """A text that Hydra refuses."""


@dataclass(frozen=True, slots=True)
class HydraOverride:
    """`sign` is "" (change), "+" (add), "++" (add or change) or "~" (take away); `key` has dots.

    `written` is the text of the value; None where nothing but the key of what is taken away is given.
    """

    sign: str
    key: str
    written: str | None


def split_override(text: str) -> HydraOverride | None:
    """Split a text into the parts of an override, whatever its value is; None where it is no override."""
    found = _KEY.match(text)
    if found is None or (found.end() == len(text) and found["sign"] != "~"):
        return None
    written = text[found.end() + 1 :] if found.end() < len(text) else None
    return HydraOverride(found["sign"] or "", found["key"], written)


def read_element(written: str) -> Element:
    """Read the text of a value. Several values with commas between are a sweep, which no single run can be given.

    Raises NoOverride.
    """
    reader = _ElementReader(_tokens(written.lstrip(" \t")))
    value: Element = Known("") if reader.here is None else reader.element()
    if reader.here is not None:
        raise NoOverride(written)
    return value


def value_of(element: Element) -> Value:
    """Return an element as one value; a list or a mapping with a part that is not known is set to something."""
    known = plain(element) if isinstance(element, (list, dict)) else element
    return NOT_NONE if known is None else known


def plain(element: Element) -> Known | None:
    """Return an element as a plain value; None where a part of it is not known."""
    if isinstance(element, list):
        items = [each.value for each in map(plain, element) if each is not None]
        return Known(items) if len(items) == len(element) else None
    if isinstance(element, dict):
        entries = {str(key): known.value for key, each in element.items() if (known := plain(each)) is not None}
        return Known(entries) if len(entries) == len(element) else None
    return element if isinstance(element, Known) else None


def settings_in(path: str, element: Element) -> Iterator[tuple[str, Value]]:
    """Yield the settings that an override writes: a mapping is merged into its section, and does not replace it."""
    if isinstance(element, dict) and element:
        for name, inner in element.items():
            yield from settings_in(f"{path}.{name}", inner)
    else:
        yield path, value_of(element)


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


class _ElementReader:
    """Reads an element from tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0

    @property
    def here(self) -> tuple[str, str] | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def at(self, marks: str) -> bool:
        """Tell whether one of these marks is next."""
        return self.here is not None and self.here[0] == "mark" and self.here[1].strip() in marks

    def take(self, mark: str) -> bool:
        found = self.at(mark)
        self.position += found
        return found

    def element(self) -> Element:
        if self.take("["):
            return self.several("]", self.element)
        if self.take("{"):
            return dict(self.several("}", self.pair))
        return self.primitive("[]{},()=")

    def pair(self) -> tuple[Any, Element]:
        start = self.position
        key = self.primitive("[]{},:()=")
        kinds = {kind for kind, _ in self.tokens[start : self.position]}
        if not isinstance(key, Known) or kinds & {"quoted", "reference"} or not self.take(":"):
            raise NoOverride("a key")
        return key.value, self.element()

    def several(self, end: str, read: Callable[[], Item]) -> list[Item]:
        items: list[Item] = []
        while not self.take(end):
            if items and not self.take(","):
                raise NoOverride(f"no {end}")
            items.append(read())
        return items

    def primitive(self, ends: str) -> Element:
        parts: list[tuple[str, str]] = []
        while self.here is not None and not self.at(ends):
            parts.append(self.here)
            self.position += 1
        if parts and parts[-1][0] == "space" and parts[0][0] != "quoted":
            parts.pop()
        if parts and self.at("("):
            return self.function()
        if not parts:
            raise NoOverride("no value")
        if len(parts) == 1:
            return _single(*parts[0])
        if any(kind == "quoted" for kind, _ in parts):
            raise NoOverride("a quoted value with something beside it")
        return value_of_text("".join(text[1::2] if kind == "escaped" else text for kind, text in parts))

    def function(self) -> Element:
        """Skip a cast, a range or a sweep, without working out its value."""
        depth = 0
        while self.here is not None:
            depth += self.at("(") - self.at(")")
            self.position += 1
            if depth == 0:
                return UNKNOWN
        raise NoOverride("no )")


def _single(kind: str, text: str) -> Element:
    match kind:
        case "int":
            return Known(int(text))
        case "float":
            return Known(float(text))
        case "bool":
            return Known(text.lower() == "true")
        case "null":
            return Known(None)
        case "quoted":
            # Backslashes quote only in front of a quote, where every other one stays.
            return value_of_text(re.sub(rf"\\+(?:{text[0]}|\Z)", lambda found: found[0][1::2], text[1:-1]))
        case "escaped":
            return Known(text[1::2])
    return value_of_text(text)


def value_of_text(text: str) -> Known | NotNone | Unknown:
    """Read a text as OmegaConf does: `${…}` refers to anything, `a${…}` is some text, `???` keeps the old value."""
    if text == "???" or (text.startswith("${") and text.endswith("}")):
        return UNKNOWN
    return NOT_NONE if "${" in text else Known(text)
