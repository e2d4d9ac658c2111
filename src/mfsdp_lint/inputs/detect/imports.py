"""The names that the tree imports from Megatron-Bridge: which releases have them all.

What the index of public names does not list tells nothing (see snapshots/public_names.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mfsdp_lint.inputs.detect.found import Found
from mfsdp_lint.inputs.detect.places import Places
from mfsdp_lint.megatron.public_names import every, having, releases

PACKAGE = "megatron.bridge"

# Only at the margin of a file: an import inside of `try` or of a function may be there for one version among others.
_FROM = re.compile(rf"^from\s+({re.escape(PACKAGE)}[\w.]*)\s+import\s+(\([^)]*\)|[^\n;#]+)", re.MULTILINE)
_IMPORT = re.compile(rf"^import\s+({re.escape(PACKAGE)}[\w.]+)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")


def in_imports(places: Places, files: Iterable[str]) -> Found | None:
    """Find the releases that have everything that the files import; None if that is all of them or none.

    The place is the import that fewest of them have.
    """
    mask, rarest, place = every(), every(), ""
    for path in files:
        text = places.text(path)
        if PACKAGE not in text:
            continue
        for line, has in _imports(text):
            if mask & has == 0:  # no release has it all: the tree carries its own parts of Megatron-Bridge
                return None
            mask &= has
            if has.bit_count() < rarest.bit_count():
                rarest, place = has, f"what {path}:{line} imports"
    if mask == every():
        return None
    return Found(place, bridge=" | ".join(f"=={each}" for each in releases(mask)))


def _imports(text: str) -> Iterator[tuple[int, int]]:
    """Yield every import by its line, and the releases that have it (a bit each)."""
    for match in _FROM.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        for name in _COMMENT.sub("", match[2]).strip("() \n").split(","):
            if words := name.split():
                yield line, having(match[1], words[0])
    for match in _IMPORT.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, having(match[1], None)
