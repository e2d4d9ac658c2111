"""GitLab's code quality report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.reports.forges import gitlab
from tests.reports.samples import FORMAT, SUPPRESSED, UNSHARDED

SEVERITIES = {"info", "minor", "major", "critical", "blocker"}
"""Those that GitLab knows (docs.gitlab.com/ci/testing/code_quality, "Code Quality report format")."""


def report(*findings: Finding, directory: str = "") -> list[dict[str, Any]]:
    documents = json.loads(gitlab(findings, directory=directory))
    assert isinstance(documents, list)
    return documents


def test_everything_that_gitlab_asks_for_is_there() -> None:
    (document,) = report(FORMAT)
    assert document == {
        "description": 'MFSDP101: Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"'
        " (at start-up: validation stops the run)",
        "check_name": "fsdp-checkpoint-format",
        "fingerprint": "0123456789abcdef",
        "severity": "critical",
        "location": {"path": "recipes/llama.py", "lines": {"begin": 8, "end": 8}},
    }


def test_severities_are_those_that_gitlab_knows() -> None:
    every = [replace(UNSHARDED, severity=severity) for severity in ("error", "warning", "info")]
    assert {document["severity"] for document in report(*every)} <= SEVERITIES


def test_each_fingerprint_is_there_once() -> None:
    first, second = (document["fingerprint"] for document in report(FORMAT, FORMAT))
    assert first != second


def test_what_is_suppressed_is_left_out() -> None:
    assert report(SUPPRESSED) == []


def test_paths_are_those_of_the_repository() -> None:
    (document,) = report(FORMAT, directory="sub/dir")
    assert document["location"]["path"] == "sub/dir/recipes/llama.py"
