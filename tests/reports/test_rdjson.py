"""Reviewdog's diagnostic format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from mfsdp_lint.core.finding import Edit, Finding, Fix
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports.forges import rdjson
from tests.reports.samples import FILES, RECIPE, SUPPRESSED, VALUE, WITH_FIX


def report(*findings: Finding, files: dict[str, str] = FILES) -> dict[str, Any]:
    document = json.loads(rdjson(findings, files.get))
    assert isinstance(document, dict)
    return document


def diagnostic(finding: Finding, files: dict[str, str] = FILES) -> dict[str, Any]:
    (only,) = report(finding, files=files)["diagnostics"]
    assert isinstance(only, dict)
    return only


def test_a_diagnostic() -> None:
    found = diagnostic(WITH_FIX)
    assert report(WITH_FIX)["source"] == {"name": "mfsdp-lint"}
    assert (found["severity"], found["code"]) == ("ERROR", {"value": "MFSDP101"})
    assert found["location"] == {
        "path": "recipes/llama.py",
        "range": {"start": {"line": 8, "column": 5}, "end": {"line": 8, "column": 46}},
    }


def test_a_fix_is_one_suggestion() -> None:
    above = Edit(Span("recipes/llama.py", 7, 33, 7, 37), "False")
    (suggestion,) = diagnostic(replace(WITH_FIX, fix=Fix("safe", (above, VALUE))))["suggestions"]
    assert suggestion["range"]["start"] == {"line": 7, "column": 33}
    assert suggestion["text"] == 'False\n    cfg.checkpoint.ckpt_format = "fsdp_dtensor"'


def test_half_a_fix_is_none() -> None:
    elsewhere = Edit(Span("other.py", 1, 1, 1, 1), "x")
    assert "suggestions" not in diagnostic(replace(WITH_FIX, fix=Fix("safe", (VALUE, elsewhere))))


def test_columns_count_bytes() -> None:
    text = RECIPE.replace("    cfg.checkpoint.ckpt_format", "é = 1; cfg.ckpt_format")
    where = Span("recipes/llama.py", 8, 8, 8, 11)
    found = diagnostic(replace(WITH_FIX, span=where, fix=None), {"recipes/llama.py": text})
    assert found["location"]["range"]["start"]["column"] == 9


def test_what_is_suppressed_is_left_out() -> None:
    assert report(SUPPRESSED)["diagnostics"] == []
