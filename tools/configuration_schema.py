"""The JSON schema of the configuration, for editors: made from the table of keys."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mfsdp_lint.inputs.configuration import EVERY_KEY, ConfigKey

SCHEMA = Path(__file__).parents[1] / "schemas" / "mfsdp-lint.json"

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


def schema() -> dict[str, Any]:
    """Return the schema of `mfsdp-lint.toml`, which is also that of [tool.mfsdp-lint] in pyproject.toml."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "mfsdp-lint",
        "type": "object",
        "additionalProperties": False,
        "properties": _properties(EVERY_KEY),
    }


def _properties(keys: Iterable[ConfigKey]) -> dict[str, Any]:
    return {key.name: {"description": key.says, **_takes(key)} for key in keys}


def _takes(key: ConfigKey) -> dict[str, Any]:
    match key.kind:
        case "switch":
            return {"type": "boolean"}
        case "text" | "folder":
            return _TEXT
        case "number":
            return {"type": "integer", "minimum": 1}
        case "table":
            return {"type": "object", "additionalProperties": False, "properties": _properties(key.keys)}
        case "choice":
            return {"enum": list(key.choices)}
        case "texts" | "globs" | "folders":
            return _TEXTS
        case "outputs":
            one = {"type": "string", "pattern": f"^({'|'.join(key.choices)})(=.+)?$"}
            return {"anyOf": [one, {"type": "array", "items": one}]}
        case "codes by glob":
            return {"type": "object", "additionalProperties": _TEXTS}
        case "levels":
            return {"type": "object", "additionalProperties": {"enum": list(key.choices)}}


def text() -> str:
    """Write the content of the file."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(text(), encoding="utf-8")
