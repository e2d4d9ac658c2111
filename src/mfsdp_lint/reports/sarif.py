"""SARIF 2.1.0, for code scanning: every rule with its help, every finding with its fix and its suppression."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mfsdp_lint import __version__
from mfsdp_lint.core.finding import SEVERITIES, Finding, Fix, Severity
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.places import uri
from mfsdp_lint.reports.wording import WHEN, remarks
from mfsdp_lint.rules.about_files import ABOUT_FILES, AboutFiles
from mfsdp_lint.rules.model import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

ROOT = "SRCROOT"
"""The base of relative paths: the root of the repository."""

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}

Artifact = Callable[[str], dict[str, str]]
"""The location of a file in SARIF's terms."""


def render(findings: Sequence[Finding], rules: Sequence[Rule], texts: Texts, *, directory: str = "") -> str:
    """Render one run. `directory` is where the tool runs, relative to the repository."""
    described = [*map(_rule, rules), *(_described(each, f"- {each.fix}", each.severities) for each in ABOUT_FILES)]
    index = {each["id"]: number for number, each in enumerate(described)}

    def artifact(path: str) -> dict[str, str]:
        if texts(path) is None:  # upstream's: it is in no repository of the reader's
            return {"uri": uri(path)}
        where = uri(path, directory)
        return {"uri": where} if where.startswith("file:") else {"uri": where, "uriBaseId": ROOT}

    def result(finding: Finding) -> dict[str, Any]:
        rule = {"ruleIndex": index[finding.code]} if finding.code in index else {}
        return {"ruleId": finding.code, **rule, **_result(finding, artifact)}

    driver = {"name": "mfsdp-lint", "version": __version__, "semanticVersion": __version__}
    run = {
        "tool": {"driver": driver | {"rules": described}},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "results": list(map(result, findings)),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    severities = [case.severity for case in rule.cases]
    happens = "\n".join(f"- {case.severity}, {WHEN[case.stage]}: {case.message.template}" for case in rule.cases)
    return _described(rule, happens, severities)


def _described(rule: Rule | AboutFiles, more: str, severities: Iterable[Severity]) -> dict[str, Any]:
    asked = f"mfsdp-lint explain {rule.code}"
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {
            "text": f"{rule.why}\n\n{more}\n\n{asked}",
            "markdown": f"{rule.why}\n\n{more}\n\n`{asked}`",
        },
        "defaultConfiguration": {"level": _LEVELS[min(severities, key=SEVERITIES.index)]},
    }


def _result(finding: Finding, artifact: Artifact) -> dict[str, Any]:
    """Describe a finding, but for the place of its rule."""

    def location(span: Span) -> dict[str, Any]:
        return {"physicalLocation": {"artifactLocation": artifact(span.path), "region": _region(span)}}

    result: dict[str, Any] = {
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join([finding.message, *remarks(finding)])},
        "locations": [location(finding.span)],
        "partialFingerprints": {
            "mfsdpLint/v1": finding.fingerprint,
            "mfsdpLintContent/v1": finding.content_fingerprint,
        },
        "properties": {"stage": finding.stage, "recipes": [each.name for each in finding.recipes]},
    }
    if finding.related:
        result["relatedLocations"] = [
            {**location(note.span), "id": number, "message": {"text": note.message}}
            for number, note in enumerate(finding.related, 1)
        ]
    if finding.fix and finding.fix.edits:
        result["fixes"] = [_fix(finding.fix, artifact)]
    if silenced := finding.suppressed:
        result["suppressions"] = [
            {
                "kind": "inSource" if silenced.by == "comment" else "external",
                "status": "accepted",
                "justification": silenced.reason,
                "location": location(silenced.span),
            }
        ]
    return result


def _fix(fix: Fix, artifact: Artifact) -> dict[str, Any]:
    by_path: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
        by_path.setdefault(edit.span.path, []).append(replacement)
    changes = [{"artifactLocation": artifact(path), "replacements": each} for path, each in by_path.items()]
    why = f": {fix.why}" if fix.why else ""
    return {"description": {"text": f"{fix.safety} fix{why}"}, "artifactChanges": changes}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
