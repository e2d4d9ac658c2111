"""The JSON schemas of `--output-format json`, of a check and of an upgrade: what programs may rely on.

Version 1 only ever gains keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from mfsdp_lint.core.finding import SEVERITIES, Decision, Safety, SilencedBy, Stage
from mfsdp_lint.upgrade.breaks import Kind
from mfsdp_lint.upgrade.changes import Cause

SCHEMA = Path(__file__).parents[1] / "schemas" / "findings.json"
UPGRADE_SCHEMA = SCHEMA.with_name("upgrade.json")

_TEXT = {"type": "string"}
_SWITCH = {"type": "boolean"}
_NUMBER = {"type": "integer", "minimum": 0}
_PLACE = {"type": "integer", "minimum": 1}
_SEVERITY = {"enum": list(SEVERITIES)}
_SAFETY = {"enum": list(get_args(Safety))}


def _object(**properties: Any) -> dict[str, Any]:
    """Make the schema of an object in which every key is required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _or_none(kind: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [kind, {"type": "null"}]}


_POINT = _object(line=_PLACE, column=_PLACE)
_TARGET = _object(
    bridge=_TEXT,
    core=_TEXT,
    te=_or_none(_TEXT),
    torch=_or_none(_TEXT),
    gpu=_or_none(_TEXT),
    assumed=_SWITCH,
    reason=_TEXT,
)
_FINDING = _object(
    code=_TEXT,
    name=_TEXT,
    severity=_SEVERITY,
    stage={"enum": list(get_args(Stage))},
    message=_TEXT,
    consequence=_TEXT,
    raises=_or_none(_TEXT),
    versions=_list(_TEXT),
    enforced_by=_TEXT,
    path=_TEXT,
    line=_PLACE,
    column=_PLACE,
    end_line=_PLACE,
    end_column=_PLACE,
    recipes=_list(_object(name=_TEXT, severity=_SEVERITY)),
    related=_list(_object(path=_TEXT, line=_PLACE, message=_TEXT)),
    fingerprint=_TEXT,
    content_fingerprint=_TEXT,
    suppressed=_SWITCH,
    suppression=_or_none(_object(by={"enum": list(get_args(SilencedBy))}, path=_TEXT, line=_PLACE, reason=_TEXT)),
    confirmed=_or_none(_object(verdict={"enum": list(get_args(Decision))}, tier=_TEXT, seen=_TEXT, reason=_TEXT)),
    fix=_or_none(
        _object(
            safety=_SAFETY,
            why=_TEXT,
            together=_list(_TEXT),
            edits=_list(_object(path=_TEXT, start=_POINT, end=_POINT, text=_TEXT)),
        )
    ),
    no_fix=_or_none(_TEXT),
    possible_fix=_or_none(_SAFETY),
)
_SUMMARY = _object(
    files=_NUMBER,
    recipes=_NUMBER,
    findings=_NUMBER,
    errors=_NUMBER,
    warnings=_NUMBER,
    infos=_NUMBER,
    suppressed=_NUMBER,
    fixable=_NUMBER,
    held_back=_NUMBER,
    fixed=_NUMBER,
    repaired=_NUMBER,
    fixable_at_most=_SWITCH,
    held_back_at_most=_SWITCH,
    unfollowed=_NUMBER,
    undecided=_NUMBER,
    already=_NUMBER,
)


def schema() -> dict[str, Any]:
    """Return the schema of the whole document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "what mfsdp-lint found",
        **_object(
            version={"const": 1},
            target=_TARGET,
            targets=_list(_TARGET),
            findings=_list(_FINDING),
            fixes=_list(_object(code=_TEXT, safety=_SAFETY, path=_TEXT, line=_PLACE, changes=_list(_TEXT))),
            by_recipe=_list({"type": "object"}),
            unfollowed=_list(_object(name=_TEXT, qualified_name=_TEXT, path=_TEXT, line=_PLACE, reason=_TEXT)),
            summary=_SUMMARY,
        ),
    }


_SPAN = _object(path=_TEXT, line=_PLACE, end_line=_PLACE, column=_PLACE, end_column=_PLACE)
_EDIT = _object(**_SPAN["properties"], text=_TEXT)
_VALUE = {"type": "object", "properties": {"state": _TEXT}, "required": ["state"]}
_COUNTS = {"type": "object", "additionalProperties": _NUMBER}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_TOLD = _object(code=_TEXT, name=_TEXT, severity=_SEVERITY, message=_TEXT, consequence=_TEXT, place=_SPAN)


def upgrade_schema() -> dict[str, Any]:
    """Return the schema of the document of an upgrade."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "what moving to another release does",
        **_object(
            version={"const": 1},
            **{"from": _TARGET},
            to=_TARGET,
            breaks=_list(
                _object(
                    kind={"enum": list(get_args(Kind))},
                    what=_TEXT,
                    message=_TEXT,
                    place=_SPAN,
                    successor=_or_none(_TEXT),
                    candidates=_list(_object(name=_TEXT, differs=_list(_TEXT))),
                    edits=_list(_EDIT),
                    reason=_TEXT,
                    recipes=_list(_TEXT),
                )
            ),
            changes=_list(
                _object(
                    setting=_TEXT,
                    old=_VALUE,
                    new=_VALUE,
                    cause={"enum": list(get_args(Cause))},
                    places=_list(_object(old=_TEXT, new=_TEXT)),
                    recipes=_list(_TEXT),
                )
            ),
            moved=_TEXTS,
            undecided=_COUNTS,
            findings=_object(new=_list(_TOLD), gone=_list(_TOLD)),
            wants=_list(_object(name=_TEXT, old=_TEXT, new=_TEXT)),
            pinned=_COUNTS,
            not_pinned=_TEXTS,
            files_to_change=_list(_TEXT),
            summary=_object(files=_NUMBER, recipes=_NUMBER, compared=_NUMBER, equal=_NUMBER),
        ),
    }


SCHEMAS = {SCHEMA: schema, UPGRADE_SCHEMA: upgrade_schema}


def text(made: Callable[[], dict[str, Any]]) -> str:
    """Write the content of a file."""
    return json.dumps(made(), indent=2) + "\n"


if __name__ == "__main__":
    for path, made in SCHEMAS.items():
        path.write_text(text(made), encoding="utf-8")
