"""The tool's own data as people edit it, in a checkout. A run reads what is compiled of it (core/store.py)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfsdp_lint.core.files import PACKAGE, RULES
from mfsdp_lint.core.plaindata import read_json, read_yaml

CHECKOUT = Path(RULES)
"""The folder of rules."""

FRONT_ENDS = Path(PACKAGE, "front_ends", "data")
VOCABULARY = Path(PACKAGE, "vocabulary")
STARTUP = Path(PACKAGE, "startup")


def startup() -> Mapping[str, Any]:
    """The steps of start-up, by front-end, and the `rare` fields."""
    steps: Mapping[str, Any] = read_yaml(STARTUP / "startup.yaml")
    return steps


def startup_tables() -> Mapping[str, Any]:
    """The generated tables that steps go by, by version."""
    tables: Mapping[str, Any] = read_json(STARTUP / "startup-tables.json")
    return tables


def settings() -> Mapping[str, Mapping[str, Any]]:
    """The reviewed part of the vocabulary: settings by section and name."""
    data: Mapping[str, Mapping[str, Any]] = read_yaml(VOCABULARY / "settings.yaml")
    return data


def vocabulary() -> Mapping[str, Any]:
    """The reviewed and the generated facts."""
    generated = {name: read_json(VOCABULARY / "data" / f"{name}.json") for name in ("defaults", "flags")}
    return {"settings": settings(), **generated}


def front_ends() -> Mapping[str, Mapping[str, Any]]:
    """The frameworks on top of Megatron, by the names of their files."""
    return {file.name: read_yaml(file) for file in sorted(FRONT_ENDS.glob("*.yaml"))}
