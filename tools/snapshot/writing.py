"""Writing of a snapshot: what occurs in several places is written once, and texts are packed in blocks."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, AnyStr

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.snapshots import MAGIC, PLACES_TOGETHER, REFERENCE, Place

BLOCK = 64 * 1024
"""Bytes of text in a block, before compression. Larger blocks take less room; the first text of one takes longer.

Measured on Megatron-Bridge 0.6.0, a run with one recipe: 1,172 KiB and 5 ms; blocks of 512 KiB 1,058 KiB and 11 ms.
Under LZMA a file is smaller (969 and 712 KiB), and such a run takes longer (22 and 36 ms)."""

SHORTEST = 48
"""Characters. A shorter part is written again, which the compression likes better than a number."""

INLINE = 200
"""Characters. Longer entries of a module stand in lines of their own, so that they are read one by one."""

PARTS_TOGETHER = 6_000
"""Characters of shared parts that are kept, and read, together."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of a snapshot: entries by module and name, and the places to which the numbers of writes refer."""

    bridge: str
    core: str
    modules: Mapping[str, Mapping[str, Any]]
    places: Sequence[Place]


def dump(contents: Contents) -> bytes:
    """Write a snapshot as the bytes of its file; equal contents give equal bytes."""
    sharing = Sharing()
    counted = {
        module: {name: sharing.count(entry) for name, entry in names.items()}
        for module, names in sorted(contents.modules.items())
    }
    modules = [_lines({name: sharing.write(number) for name, number in names.items()}) for names in counted.values()]
    parts = list(grouped(sharing.parts, PARTS_TOGETHER))
    first = [0, *accumulate(map(len, parts))][:-1]
    starts = range(0, len(contents.places), PLACES_TOGETHER)
    places = [_folded(contents.places[start : start + PLACES_TOGETHER]) for start in starts]
    header = {"bridge": contents.bridge, "core": contents.core, "modules": list(counted), "parts": first}
    described = zlib.compress(_compact(header).encode(), 9)
    return b"".join([MAGIC, b"%08d" % len(described), described, pack([*modules, *map("\n".join, parts), *places])])


def _lines(entries: Mapping[str, str]) -> str:
    """Write a module: the short entries, and the line numbers of the others; then these lines."""
    long = list(dict.fromkeys(text for text in entries.values() if len(text) > INLINE))
    numbers = {text: str(number) for number, text in enumerate(long)}
    first = ",".join(f"{json.dumps(name)}:{numbers.get(text, text)}" for name, text in entries.items())
    return "\n".join([f"{{{first}}}", *long])


def _folded(places: Sequence[Place]) -> str:
    """Write places as JSON: their texts once each, and the rest as columns of numbers."""
    texts: dict[str, int] = {}
    rows = [
        (texts.setdefault(file, len(texts)), line, last - line, texts.setdefault(function, len(texts)),
         texts.setdefault(how, len(texts)))
        for file, line, last, function, how in places
    ]  # fmt: skip
    return _compact([list(texts), *(list(column) for column in zip(*rows, strict=True))])


def pack(texts: Sequence[str]) -> bytes:
    """Pack the texts into the bytes of an archive; equal texts give equal bytes."""
    blocks, lengths = [], []
    for block in grouped([text.encode() for text in texts], BLOCK):
        blocks.append(zlib.compress(b"".join(block), 9))
        lengths.append([len(text) for text in block])
    header = {"blocks": [len(block) for block in blocks], "texts": lengths}
    described = zlib.compress(json.dumps(header, separators=(",", ":")).encode(), 9)
    return b"".join([len(described).to_bytes(4, "big"), described, *blocks])


def grouped(texts: Iterable[AnyStr], most: int) -> Iterator[list[AnyStr]]:
    """Yield the texts in groups, each of which ends where its length reaches `most`."""
    here: list[AnyStr] = []
    size = 0
    for text in texts:
        here.append(text)
        size += len(text)
        if size >= most:
            yield here
            here, size = [], 0
    if here:
        yield here


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
        """Count a value and all its parts; return the number under which `write` knows it."""
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
        """Write the text of a value that was counted."""
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
                return f"{{{','.join(f'{_compact(name)}:{self.write(child)}' for name, child in pairs)}}}"
            case value:
                return _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
