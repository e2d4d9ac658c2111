"""Which release of Megatron-Bridge has which public module and name.

The index (data/modules.json, made by scripts/index_modules.py) lists for every public module the releases that have it,
and of its names those that some of these releases lack. What is not listed tells nothing. A set of releases is a mask
with a bit for each.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

INDEX = os.path.join(os.path.dirname(__file__), "data", "modules.json")


def every() -> int:
    """All releases."""
    return (1 << len(_index()["releases"])) - 1


def having(module: str, name: str | None) -> int:
    """The releases that have a module, or a name of it."""
    modules = _index()["modules"]
    mask, names = modules.get(module, (every(), {}))
    if name is None:
        return int(mask)
    if name in names:
        return int(names[name])
    submodule = modules.get(f"{module}.{name}")
    return int(mask & submodule[0] if submodule else mask)


def releases(mask: int) -> Sequence[str]:
    """The releases of a set by their names."""
    return [release for bit, release in enumerate(_index()["releases"]) if mask >> bit & 1]


@cache
def _index() -> Any:
    import json  # rarely needed, and start-up time counts

    with open(INDEX, encoding="utf-8") as stream:
        return json.load(stream)
