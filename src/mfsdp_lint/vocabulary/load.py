"""Where the vocabulary comes from: the tool's data file, which is made of YAML and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfsdp_lint.core.plaindata import read_json, read_yaml
from mfsdp_lint.core.store import Folder, store

HERE = Path(__file__).parent
SETTINGS_FILE = HERE / "settings.yaml"
DEFAULTS_FILE = HERE / "data" / "defaults.json"
FLAGS_FILE = HERE / "data" / "flags.json"


def raw_data() -> Mapping[str, Any]:
    """The reviewed and the generated facts as plain data: `settings`, `defaults` and `flags`, read when asked for.

    Raises OSError where there is nothing to read.
    """
    return Folder(store(), "vocabulary")


def edited_data() -> Mapping[str, Any]:
    """The same as it stands in the checkout."""
    return {"settings": reviewed(), "defaults": read_json(DEFAULTS_FILE), "flags": read_json(FLAGS_FILE)}


def reviewed(path: Path = SETTINGS_FILE) -> Mapping[str, Mapping[str, Any]]:
    """settings.yaml: settings by section and name."""
    data: Mapping[str, Mapping[str, Any]] = read_yaml(path)
    return data
