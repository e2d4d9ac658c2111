"""SARIF 2.1.0, for code scanning: every rule with its help, and every finding with its fix and what silences it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mfsdp_lint import __version__
from mfsdp_lint.core.finding import SEVERITIES, Edit, Finding, Fix, Severity, Suppression
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.places import uri
from mfsdp_lint.reports.wording import WHEN
from mfsdp_lint.rules.about_files import ABOUT_FILES, AboutFiles
from mfsdp_lint.rules.model import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

ROOT = "SRCROOT"
"""What paths are relative to, for whoever reads them: the root of the repository."""

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def render(findings: Sequence[Finding], rules: Sequence[Rule], texts: Texts, *, directory: str = "") -> str:
    """Render one run. `directory` is where the tool runs, relative to the repository."""
    described = [*map(_rule, rules), *map(_about_files, ABOUT_FILES)]
    index = {each["id"]: number for number, each in enumerate(described)}
    run = {
        "tool": {
            "driver": {
                "name": "mfsdp-lint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": described,
            }
        },
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [_Result(finding, index, texts, directory).document() for finding in findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    severities = [case.severity for case in rule.cases]
    happens = "\n".join(f"- {case.severity}, {WHEN[case.stage]}: {case.message.template}" for case in rule.cases)
    return _described(rule.code, rule.name, rule.summary, rule.why, happens, severities)


def _about_files(about: AboutFiles) -> dict[str, Any]:
    return _described(about.code, about.name, about.summary, about.why, f"- {about.fix}", about.severities)


def _described(
    code: str, name: str, summary: str, why: str, more: str, severities: Iterable[Severity]
) -> dict[str, Any]:
    level = _LEVELS[min(severities, key=SEVERITIES.index)]
    asked = f"mfsdp-lint explain {code}"
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": why},
        "help": {
            "text": f"{why}\n\n{more}\n\n{asked}",
            "markdown": f"{why}\n\n{more}\n\n`{asked}`",
        },
        "defaultConfiguration": {"level": level},
    }


class _Result:
    """A finding."""

    def __init__(self, finding: Finding, index: Mapping[str, int], texts: Texts, directory: str) -> None:
        self.finding = finding
        self.index = index
        self.texts = texts
        self.directory = directory

    def document(self) -> dict[str, Any]:
        finding = self.finding
        result: dict[str, Any] = {"ruleId": finding.code}
        if finding.code in self.index:
            result["ruleIndex"] = self.index[finding.code]
        result |= {
            "level": _LEVELS[finding.severity],
            "message": {"text": self.text()},
            "locations": [self.location(finding.span)],
            "partialFingerprints": {
                "mfsdpLint/v1": finding.fingerprint,
                "mfsdpLintContent/v1": finding.content_fingerprint,
            },
            "properties": {"stage": finding.stage, "recipes": [each.name for each in finding.recipes]},
        }
        if finding.related:
            result["relatedLocations"] = [
                {**self.location(note.span), "id": number, "message": {"text": note.message}}
                for number, note in enumerate(finding.related, 1)
            ]
        if finding.fix and finding.fix.edits:
            result["fixes"] = [self.fix(finding.fix)]
        if finding.suppressed:
            result["suppressions"] = [self.suppression(finding.suppressed)]
        return result

    def text(self) -> str:
        finding = self.finding
        parts = [finding.message]
        if finding.consequence:
            parts.append(f"{WHEN[finding.stage]}: {finding.consequence}")
        if finding.raises:
            parts.append(f"the error will be: {finding.raises}")
        return "\n".join(parts)

    def location(self, span: Span) -> dict[str, Any]:
        return {"physicalLocation": {"artifactLocation": self.artifact(span.path), "region": _region(span)}}

    def artifact(self, path: str) -> dict[str, Any]:
        if self.texts(path) is None:  # upstream's: it is in no repository of the reader's
            return {"uri": uri(path)}
        where = uri(path, self.directory)
        return {"uri": where} if where.startswith("file:") else {"uri": where, "uriBaseId": ROOT}

    def fix(self, fix: Fix) -> dict[str, Any]:
        by_path: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            by_path.setdefault(edit.span.path, []).append(edit)
        changes = [
            {
                "artifactLocation": self.artifact(path),
                "replacements": [
                    {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in edits
                ],
            }
            for path, edits in by_path.items()
        ]
        why = f": {fix.why}" if fix.why else ""
        return {"description": {"text": f"{fix.safety} fix{why}"}, "artifactChanges": changes}

    def suppression(self, suppressed: Suppression) -> dict[str, Any]:
        kind = "inSource" if suppressed.by == "comment" else "external"
        return {
            "kind": kind,
            "status": "accepted",
            "justification": suppressed.reason,
            "location": self.location(suppressed.span),
        }


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
