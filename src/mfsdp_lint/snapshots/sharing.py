"""JSON values written so that what occurs in several places is written once.

Recipes of one family differ in a few settings, and most of what upstream's helpers leave behind is the same everywhere.
A part that occurs again is written as `{"": number}`, which no other value looks like.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

REFERENCE = ""
"""The only key of a dictionary that stands for a shared part."""

SHORTEST = 48
"""Characters. A shorter part is written again, which the compression likes better than a number."""


class Sharing:
    """The writer. `count` has to hear of every value before the first one is written.

    `parts` are the texts of the shared parts by number; one may refer to those before it.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._ids: dict[Any, int] = {}
        self._values: list[Any] = []
        self._occurrences: Counter[int] = Counter()
        self._texts: dict[int, str] = {}

    def count(self, value: Any) -> int:
        """Takes note of a value and of all its parts; gives the number under which `write` knows it."""
        found = self._intern(value)
        self._occurrences[found] += 1
        return found

    def _intern(self, value: Any) -> int:
        if isinstance(value, (list, tuple)):
            children = [self._intern(item) for item in value]
            key: Any = ("list", *children)
        elif isinstance(value, dict):
            children = [self._intern(item) for item in value.values()]
            key = ("dict", tuple(value), *children)
        else:
            children = []
            key = (type(value).__name__, repr(value))
        known = self._ids.get(key)
        if known is None:
            known = self._ids[key] = len(self._values)
            self._values.append(value if not children else key)
            # A part counts once for every different whole that has it.
            self._occurrences.update(children)
        return known

    def write(self, number: int) -> str:
        """The text of a value that was counted."""
        known = self._texts.get(number)
        if known is not None:
            return known
        text = self._text(number)
        if len(text) > SHORTEST and self._occurrences[number] > 1:
            self.parts.append(text)
            text = f'{{"{REFERENCE}":{len(self.parts) - 1}}}'
        self._texts[number] = text
        return text

    def _text(self, number: int) -> str:
        match self._values[number]:
            case ("list", *children):
                return f"[{','.join(map(self.write, children))}]"
            case ("dict", names, *children):
                pairs = zip(names, children, strict=True)
                return f"{{{','.join(f'{_plain(name)}:{self.write(child)}' for name, child in pairs)}}}"
            case value:
                return _plain(value)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read(text: str, part: Callable[[int], Any]) -> Any:
    """The value of a text. `part` gives the shared parts by number; nobody may change what it gives."""

    def resolved(found: dict[str, Any]) -> Any:
        return part(found[REFERENCE]) if REFERENCE in found else found

    return json.loads(text, object_hook=resolved)
