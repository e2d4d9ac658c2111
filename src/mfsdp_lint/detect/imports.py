"""The names that the tree imports from Megatron-Bridge: which releases have them all.

The index (data/modules.json, made by scripts/index_modules.py) lists for every public module the releases that have it,
and of its names those that some of these releases lack. What is not listed tells nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from mfsdp_lint.detect.found import Found
from mfsdp_lint.detect.places import Places

INDEX = os.path.join(os.path.dirname(__file__), "modules.json")
PACKAGE = "megatron.bridge"

# Only at the margin of a file: an import inside of `try` or of a function may be there for one version among others.
_FROM = re.compile(rf"^from\s+({re.escape(PACKAGE)}[\w.]*)\s+import\s+(\([^)]*\)|[^\n;#]+)", re.MULTILINE)
_IMPORT = re.compile(rf"^import\s+({re.escape(PACKAGE)}[\w.]+)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")


def in_imports(places: Places, files: Iterable[str]) -> Found | None:
    """The releases that have everything that the files import, if that is some of them and not all.

    The place is the import that fewest of them have.
    """
    index = _index()
    every = (1 << len(index["releases"])) - 1
    mask, rarest, place = every, every, ""
    for path in files:
        text = places.text(path)
        if PACKAGE not in text:
            continue
        for line, has in _imports(index, text):
            if mask & has == 0:  # no release has it all: the tree carries its own parts of Megatron-Bridge
                return None
            mask &= has
            if has.bit_count() < rarest.bit_count():
                rarest, place = has, f"what {path}:{line} imports"
    if mask == every:
        return None
    return Found(place, bridge=" | ".join(f"=={each}" for each in _releases(index, mask)))


def _imports(index: Any, text: str) -> Iterator[tuple[int, int]]:
    """Every import by its line, and the releases that have it (a bit each)."""
    for match in _FROM.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        for name in _COMMENT.sub("", match[2]).strip("() \n").split(","):
            if words := name.split():
                yield line, _having(index, match[1], words[0])
    for match in _IMPORT.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, _having(index, match[1], None)


def _having(index: Any, module: str, name: str | None) -> int:
    every = (1 << len(index["releases"])) - 1
    mask, names = index["modules"].get(module, (every, {}))
    if name is None:
        return int(mask)
    if name in names:
        return int(names[name])
    submodule = index["modules"].get(f"{module}.{name}")
    return int(mask & submodule[0] if submodule else mask)


def _releases(index: Any, mask: int) -> Sequence[str]:
    return [release for bit, release in enumerate(index["releases"]) if mask >> bit & 1]


@cache
def _index() -> Any:
    import json

    with open(INDEX, encoding="utf-8") as stream:
        return json.load(stream)
