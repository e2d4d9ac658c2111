"""Where the vocabulary comes from: YAML and JSON in a checkout, one compiled data file in an installed wheel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfsdp_lint.core.plaindata import read_json, read_yaml

HERE = Path(__file__).parent
SETTINGS_FILE = HERE / "settings.yaml"
DEFAULTS_FILE = HERE / "data" / "defaults.json"
FLAGS_FILE = HERE / "data" / "flags.json"
COMPILED = HERE / "compiled.json"


def raw_data(folder: Path = HERE) -> Mapping[str, Any]:
    """The reviewed and the generated facts as plain data. YAML is only imported where nothing is compiled.

    Raises OSError where there is nothing to read.
    """
    settings = folder / SETTINGS_FILE.name
    if not settings.is_file():
        compiled: Mapping[str, Any] = read_json(folder / COMPILED.name)
        return compiled
    return {
        "settings": reviewed(settings),
        "defaults": read_json(folder / "data" / DEFAULTS_FILE.name),
        "flags": read_json(folder / "data" / FLAGS_FILE.name),
    }


def reviewed(path: Path = SETTINGS_FILE) -> Mapping[str, Mapping[str, Any]]:
    """settings.yaml: settings by section and name."""
    data: Mapping[str, Mapping[str, Any]] = read_yaml(path)
    return data
