"""SARIF, as a typed reader of it has it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sarif_pydantic import Sarif

from mfsdp_lint.core.finding import Finding, Suppression
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports.forges import sarif
from mfsdp_lint.reports.places import uri
from mfsdp_lint.rules.about_files import FILE_CODES
from mfsdp_lint.rules.load import load_rules
from tests.reports.samples import FILES, SUPPRESSED, UNSHARDED, WITH_FIX

RULES = load_rules()


def run(*findings: Finding, directory: str = "") -> dict[str, Any]:
    text = sarif(findings, RULES, FILES.get, directory=directory)
    Sarif.model_validate_json(text)
    (only,) = json.loads(text)["runs"]
    assert isinstance(only, dict)
    return only


def result(finding: Finding, directory: str = "") -> dict[str, Any]:
    (only,) = run(finding, directory=directory)["results"]
    assert isinstance(only, dict)
    return only


def test_every_rule_is_described_whether_it_is_broken_or_not() -> None:
    described = run()["tool"]["driver"]["rules"]
    assert [each["id"] for each in described] == [*(rule.code for rule in RULES), *FILE_CODES]
    assert all(each["help"]["text"] and each["shortDescription"]["text"] for each in described)


def test_a_finding_points_at_its_rule_and_its_text() -> None:
    document = run(WITH_FIX)
    (found,) = document["results"]
    assert document["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"] == "MFSDP101"
    assert found["level"] == "error"
    (location,) = found["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "recipes/llama.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 8, "startColumn": 5, "endLine": 8, "endColumn": 46},
    }


def test_the_message_says_what_will_happen() -> None:
    assert result(WITH_FIX)["message"]["text"].splitlines() == [
        'Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"',
        "at start-up: validation stops the run",
        "the error will be: Megatron FSDP only supports fsdp_dtensor checkpoint format",
    ]


def test_other_places_are_related_locations() -> None:
    related = result(WITH_FIX)["relatedLocations"]
    assert [each["message"]["text"] for each in related] == [
        "Megatron-FSDP is turned on here",
        'checkpoint.save is "/results"',
    ]


def test_a_fix_carries_its_edits() -> None:
    (fix,) = result(WITH_FIX)["fixes"]
    assert fix["description"]["text"] == "safe fix: safe because nothing is loaded"
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"] == {"text": '"fsdp_dtensor"'}
    assert replacement["deletedRegion"]["startColumn"] == 34


def test_fingerprints_are_those_of_the_cause() -> None:
    assert result(WITH_FIX)["partialFingerprints"]["mfsdpLint/v1"] == "0123456789abcdef"


@pytest.mark.parametrize(
    ("by", "kind"), [("comment", "inSource"), ("configuration", "external"), ("baseline", "external")]
)
def test_what_is_suppressed_is_there_and_marked(by: Any, kind: str) -> None:
    silenced = Suppression(Span("recipes/llama.py", 8, 48, 8, 70), "converted at load", by)
    (suppression,) = result(replace(SUPPRESSED, suppressed=silenced))["suppressions"]
    assert (suppression["kind"], suppression["justification"]) == (kind, "converted at load")


def test_paths_are_those_of_the_repository_as_uris() -> None:
    odd = replace(UNSHARDED, span=Span("a b/é#.py", 1, 1, 1, 2))
    assert uri("a b/é#.py") == "a%20b/%C3%A9%23.py"
    where = result(WITH_FIX, directory="sub")["locations"][0]["physicalLocation"]["artifactLocation"]
    assert where["uri"] == "sub/recipes/llama.py"
    assert result(odd)["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "a%20b/%C3%A9%23.py"}
