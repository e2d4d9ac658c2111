"""Scripts of Megatron-Bridge that launches name and no tree has: what they come to is written down."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from mfsdp_lint.versions.ranges import is_version, numbers

_UPSTREAM = Path(__file__).parents[1] / "library" / "programs"
"""What the scripts of Megatron-Bridge come to, written down, in folders named after the first release that they are
for: read here, and imported by nobody."""


@cache
def upstream_script(name: str, version: str) -> ast.Module | None:
    """The script of this name in a release; None where it is not written down."""
    folders = sorted(
        (each for each in _UPSTREAM.iterdir() if is_version(each.name)), key=lambda folder: numbers(folder.name)
    )
    known = [folder / name for folder in folders if numbers(folder.name) <= numbers(version)]
    path = known[-1] if known and re.fullmatch(r"\w+\.py", name) else None
    return ast.parse(path.read_bytes()) if path is not None and path.is_file() else None
