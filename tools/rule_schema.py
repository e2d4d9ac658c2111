"""The JSON schema of a rule file, made from the form.

`python -m tools.rule_schema` writes `rules/schema.json`.

It says what an editor needs to help and to warn; that conditions can be read and codes exist is for the loader.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from mfsdp_lint.checkout import CHECKOUT
from mfsdp_lint.core.finding import Severity, Stage
from mfsdp_lint.core.recipe import Seen
from mfsdp_lint.readers import registry
from mfsdp_lint.rules.form import CODE, EVIDENCE, NAME, Component
from mfsdp_lint.rules.model import STEP_VIEW, Confirm, EnforcedBy, Judges, Preset, View, Written

SCHEMA = CHECKOUT / "schema.json"

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_VALUE = {"type": ["null", "boolean", "number", "string", "array", "object"]}
_SETTINGS = {"type": "object", "propertyNames": {"pattern": r"^\w+(\.\w+)*$"}, "additionalProperties": _VALUE}
_RANGE = {"type": "string", "description": 'such as "<0.5", ">=0.4,<0.6, te <2.10" or "bridge | megatron-lm >=0.14"'}
_SEES = {"anyOf": [{"enum": list(get_args(View))}, {"type": "string", "pattern": f"^{STEP_VIEW.pattern}$"}]}
_CONDITION = {**_TEXT, "description": 'such as megatron_fsdp and checkpoint.ckpt_format != "fsdp_dtensor"'}


def schema() -> dict[str, Any]:
    """Return the schema as plain data."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A rule of mfsdp-lint",
        **_object(
            {
                "code": _matching(CODE.pattern),
                "name": _matching(NAME.pattern),
                "summary": _TEXT,
                "why": _TEXT,
                "versions": _RANGE,
                "judges": _one_of(Judges),
                "written": _one_of(Written),
                "finds": {**_TEXT, "description": "a pattern, as Python's re has them; ^ and $ are those of lines"},
                "notices": _one_of(Seen),
                "files": {"type": "array", "items": {"enum": [reader.type.name for reader in registry.READERS]}},
                "sees": _SEES,
                "applies": _CONDITION,
                "message": _TEXT,
                "consequence": _TEXT,
                "cases": {"type": "array", "minItems": 1, "items": _case()},
                "blame": _object({"value": _TEXTS, "enabled_by": _TEXTS}, []),
                "fix": {"anyOf": [_fix(), {"type": "array", "minItems": 1, "items": _fix()}]},
                "control": _SETTINGS,
                "intended": _SETTINGS,
                "confirm": {"anyOf": [*_confirm(), _object({"none": _TEXT}, ["none"])]},
                "preset": _one_of(Preset),
                "preview": {"type": "boolean"},
                "groups": _TEXTS,
                "weaker_than": _TEXTS,
                "evidence": {"type": "object", "additionalProperties": _places()},
                "examples": _object({kind: {"type": "array", "items": _example(kind)} for kind in ("bad", "good")}, []),
            },
            ["code", "name", "summary", "why", "applies", "cases"],
        ),
    }


def _confirm() -> list[dict[str, Any]]:
    showing = {
        "tier": _one_of(Confirm),
        "shows": {**_CONDITION, "description": "what is seen of the run with the mistake, and not of the one without"},
        "keeps": _TEXTS,
        "saved_with": _SETTINGS,
    }
    return [_one_of(Confirm), _object(showing, ["tier"])]


def _fix() -> dict[str, Any]:
    where = {"versions": _RANGE, "when": _CONDITION}
    none = _object({**where, "none": {**_TEXT, "description": "why nothing is changed for the user"}}, ["none"])
    return {"anyOf": [none, _change(where)]}


def _change(where: Mapping[str, Any]) -> dict[str, Any]:
    return _object(
        {
            **where,
            "set": _SETTINGS,
            "rename": {**_TEXT, "description": "the setting that was meant, such as write.nearest"},
            "unset": _TEXTS,
            "drop": _TEXTS,
            "safe": _by_version(_CONDITION),
            "unsafe": _CONDITION,
            "else_advice": _TEXT,
            "replace": {"type": "string"},
        },
        ["safe"],
    )


def _case() -> dict[str, Any]:
    return _object(
        {
            "versions": _RANGE,
            "sees": _SEES,
            "when": _CONDITION,
            "severity": _one_of(Severity),
            "stage": _one_of(Stage),
            "message": _TEXT,
            "consequence": _TEXT,
            "enforced_by": _by_version(_one_of(EnforcedBy)),
            "raises": _by_version(_TEXT),
            "intended": _SETTINGS,
            "confirm": {"anyOf": _confirm()},
        },
        ["severity", "stage"],
    )


def _example(kind: str) -> dict[str, Any]:
    fields = {
        "target": _RANGE,
        "components": _object(dict.fromkeys(get_args(Component), _TEXT), []),
        "settings": _SETTINGS,
        "python": _TEXT,
        "yaml": _TEXT,
        "megatron_lm": _TEXT,
        "shell": _TEXT,
    }
    if kind == "good":
        return _object(fields, [])
    return _object({"severity": _one_of(Severity), **fields}, ["severity"])


def _places() -> dict[str, Any]:
    place = _matching(EVIDENCE.pattern)
    return {"anyOf": [place, {"type": "array", "items": place, "minItems": 1}]}


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _matching(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{pattern}$"}


def _one_of(literal: Any) -> dict[str, Any]:
    return {"enum": list(get_args(literal))}


def _by_version(kind: dict[str, Any]) -> dict[str, Any]:
    """Make the schema of one value for all versions, or one for each range."""
    return {"anyOf": [kind, {"type": "object", "additionalProperties": kind}]}


def text() -> str:
    """Write the content of `schema.json`."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(text(), encoding="utf-8")
