"""Index of the releases of Megatron-Bridge that have each public module and name.

The index (data/modules.json, made by scripts/index_modules.py) lists for every public module the releases that have
it, of its names those that some of these releases lack, and all other names that it may bind (null if these are not
known). A set of releases is a mask with a bit for each.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

from mfsdp_lint.core.files import read

INDEX = os.path.join(os.path.dirname(__file__), "data", "modules.json")


def every() -> int:
    """Return the mask of all releases."""
    return (1 << len(_index()["releases"])) - 1


def having(module: str, name: str | None) -> int:
    """Return the mask of the releases that have a module, or a name of it."""
    modules = _index()["modules"]
    mask, names, _ = modules.get(module, (every(), {}, None))
    if name is None:
        return int(mask)
    if name in names:
        return int(names[name])
    submodule = modules.get(f"{module}.{name}")
    return int(mask & submodule[0] if submodule else mask)


def in_none(module: str, name: str | None = None) -> bool:
    """Tell whether surely no release has a module, or a name of a module that some have."""
    modules = _index()["modules"]
    if any(part.startswith("_") for part in (*module.split("."), name or "")):
        return False
    if name is None:
        return module.startswith("megatron.bridge.") and module not in modules
    if module not in modules or f"{module}.{name}" in modules:
        return False
    _, differing, others = modules[module]
    return others is not None and name not in differing and name not in others.split()


def releases(mask: int) -> Sequence[str]:
    """Name the releases of a mask."""
    return [release for bit, release in enumerate(_index()["releases"]) if mask >> bit & 1]


@cache
def _index() -> Any:
    import json  # rarely needed, and start-up time counts

    return json.loads(read(INDEX))
