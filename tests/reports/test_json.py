"""The document for programs: every key, always."""

from __future__ import annotations

import json as stdlib_json
from typing import Any

import jsonschema

from mfsdp_lint.core.finding import Applied, Finding
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports import json
from tests.reports.samples import SUMMARY, SUPPRESSED, UNSHARDED, WITH_FIX
from tools.findings_schema import schema

TARGET = {
    "bridge": "0.3.1",
    "core": "0.16.1",
    "te": None,
    "torch": None,
    "gpu": None,
    "assumed": True,
    "reason": "the newest on the package index",
}


def document(*findings: Finding) -> Any:
    document = stdlib_json.loads(json.render(findings, SUMMARY))
    jsonschema.validate(document, schema())
    return document


def test_the_whole_document() -> None:
    assert document(WITH_FIX) == {
        "version": 1,
        "target": TARGET,
        "targets": [TARGET],
        "findings": [
            {
                "code": "MFSDP101",
                "name": "fsdp-checkpoint-format",
                "severity": "error",
                "stage": "startup",
                "message": 'Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"',
                "consequence": "validation stops the run",
                "raises": "Megatron FSDP only supports fsdp_dtensor checkpoint format",
                "versions": ["megatron-bridge 0.2.2", "megatron-bridge 0.3.1"],
                "enforced_by": "validation",
                "path": "recipes/llama.py",
                "line": 8,
                "column": 5,
                "end_line": 8,
                "end_column": 46,
                "recipes": [{"name": "llama3_8b_fsdp", "severity": "error"}],
                "related": [
                    {"path": "recipes/llama.py", "line": 7, "message": "Megatron-FSDP is turned on here"},
                    {"path": "recipes/llama.py", "line": 9, "message": 'checkpoint.save is "/results"'},
                ],
                "fingerprint": "0123456789abcdef",
                "content_fingerprint": "",
                "suppressed": False,
                "suppression": None,
                "confirmed": None,
                "fix": {
                    "safety": "safe",
                    "why": "safe because nothing is loaded",
                    "together": [],
                    "edits": [
                        {
                            "path": "recipes/llama.py",
                            "start": {"line": 8, "column": 34},
                            "end": {"line": 8, "column": 46},
                            "text": '"fsdp_dtensor"',
                        }
                    ],
                },
                "no_fix": None,
                "possible_fix": None,
            }
        ],
        "fixes": [],
        "by_recipe": [],
        "unfollowed": [],
        "summary": {
            "files": 1,
            "recipes": 1,
            "findings": 2,
            "errors": 1,
            "warnings": 1,
            "infos": 0,
            "suppressed": 0,
            "fixable": 1,
            "held_back": 1,
            "fixed": 0,
            "repaired": 0,
            "fixable_at_most": False,
            "held_back_at_most": False,
            "unfollowed": 0,
            "undecided": 0,
            "already": 0,
        },
    }


def test_a_finding_without_fix_or_error_text_has_the_keys_all_the_same() -> None:
    with_fix, without = document(WITH_FIX, UNSHARDED)["findings"]
    assert without["fix"] is None
    assert without["no_fix"] == "a person has to choose"
    assert without["raises"] is None
    assert list(without) == list(with_fix)


def test_a_suppressed_finding_is_listed_and_marked() -> None:
    (finding,) = document(SUPPRESSED)["findings"]
    assert finding["suppressed"] is True
    said = {"by": "comment", "path": "recipes/llama.py", "line": 8, "reason": "converted at load"}
    assert finding["suppression"] == said


def test_no_findings_is_an_empty_list() -> None:
    assert document()["findings"] == []


def test_the_fixes_that_were_made_are_listed() -> None:
    made = Applied(
        "MFSDP101", "safe", Span("recipes/llama.py", 8, 34, 8, 46), ('checkpoint.ckpt_format = "fsdp_dtensor"',)
    )
    assert stdlib_json.loads(json.render([], SUMMARY, fixes=[made]))["fixes"] == [
        {
            "code": "MFSDP101",
            "safety": "safe",
            "path": "recipes/llama.py",
            "line": 8,
            "changes": ['checkpoint.ckpt_format = "fsdp_dtensor"'],
        }
    ]
