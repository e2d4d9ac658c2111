"""For programs. Every key is always there; version 1 only ever gains keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.finding import Applied, Edit, Finding, Fix, Suppression
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.reports import applied, confirmation, readiness
from mfsdp_lint.reports.by_recipe import RecipeState
from mfsdp_lint.reports.settings import target_document, unfollowed_document
from mfsdp_lint.reports.summary import Summary

NO_RULE = "there are no fixes for findings of this kind"
"""Why a finding has none that says nothing about it: it is about a file or a comment, or about code that raises."""


def render(
    findings: Sequence[Finding],
    summary: Summary,
    unfollowed: Sequence[Unfollowed] = (),
    *,
    fixes: Sequence[Applied] = (),
    recipes: Sequence[RecipeState] = (),
) -> str:
    """Render every finding, suppressed ones too, the fixes that were made, and the state of each recipe, if requested.

    Lines and columns count from 1, columns in characters; ends are exclusive.
    """
    document = {
        "version": 1,
        "target": target_document(summary.target),
        "targets": [target_document(target) for target in (summary.target, *summary.also)],
        "findings": [_finding(finding) for finding in findings],
        "fixes": [applied.document(each) for each in fixes],
        "by_recipe": [readiness.document(each) for each in recipes],
        "unfollowed": [unfollowed_document(each) for each in unfollowed],
        "summary": {
            "files": summary.files,
            "recipes": summary.recipes,
            "findings": summary.findings,
            "errors": summary.errors,
            "warnings": summary.warnings,
            "infos": summary.infos,
            "suppressed": summary.suppressed,
            "fixable": summary.fixable,
            "held_back": summary.held_back,
            "fixed": summary.fixed,
            "fixable_at_most": summary.fixable_at_most,
            "held_back_at_most": summary.held_back_at_most,
            "unfollowed": summary.unfollowed,
            "undecided": summary.undecided,
            "already": summary.already,
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "stage": finding.stage,
        "message": finding.message,
        "consequence": finding.consequence,
        "raises": finding.raises,
        "versions": list(finding.versions),
        "enforced_by": finding.enforced_by,
        "path": finding.span.path,
        "line": finding.span.line,
        "column": finding.span.column,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "recipes": [{"name": recipe.name, "severity": recipe.severity} for recipe in finding.recipes],
        "related": [
            {"path": note.span.path, "line": note.span.line, "message": note.message} for note in finding.related
        ],
        "fingerprint": finding.fingerprint,
        "content_fingerprint": finding.content_fingerprint,
        "suppressed": finding.suppressed is not None,
        "suppression": None if finding.suppressed is None else _suppression(finding.suppressed),
        "confirmed": None if finding.confirmation is None else confirmation.document(finding.confirmation),
        "fix": _fix(finding.fix),
        "no_fix": None if finding.fix else finding.no_fix or NO_RULE,
    }


def _suppression(suppressed: Suppression) -> dict[str, Any]:
    span = suppressed.span
    return {"by": suppressed.by, "path": span.path, "line": span.line, "reason": suppressed.reason}


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "safety": fix.safety,
        "why": fix.why,
        "together": list(fix.together),
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    span = edit.span
    return {
        "path": span.path,
        "start": {"line": span.line, "column": span.column},
        "end": {"line": span.end_line, "column": span.end_column},
        "text": edit.text,
    }
