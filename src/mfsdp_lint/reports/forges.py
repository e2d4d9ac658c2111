"""Findings for forges and CI: GitHub's annotations, SARIF, GitLab's code quality, reviewdog, JUnit.

GitLab and reviewdog have no word for a suppressed finding, and get none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from mfsdp_lint import terminal
from mfsdp_lint.core.finding import SEVERITIES, Finding, Fix, Severity
from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.version import __version__
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.places import documentation, in_repository, rule_page, uri
from mfsdp_lint.reports.summary import Summary, summary_line
from mfsdp_lint.reports.wording import WHEN, count, printable, remarks, shorten
from mfsdp_lint.rules.about_files import ABOUT_FILES, AboutFiles
from mfsdp_lint.rules.model import Rule

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

ROOT = "SRCROOT"
"""The base of relative paths in SARIF: the root of the repository."""

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_GITLAB_SEVERITIES: dict[Severity, str] = {"error": "critical", "warning": "major", "info": "info"}


def sarif(findings: Sequence[Finding], rules: Sequence[Rule], texts: Texts, *, directory: str = "") -> str:
    """Render one run of SARIF 2.1.0: every rule with its help, every finding with its fix and its suppression.

    `directory` is where the tool runs, relative to the repository.
    """
    described = []
    for rule in rules:
        cases = "\n".join(f"- {case.severity}, {WHEN[case.stage]}: {case.message.template}" for case in rule.cases)
        described.append(_sarif_rule(rule, cases, [case.severity for case in rule.cases]))
    described += [_sarif_rule(about, f"- {about.fix}", about.severities) for about in ABOUT_FILES]
    index = {each["id"]: number for number, each in enumerate(described)}

    def artifact(path: str) -> dict[str, str]:
        if texts(path) is None:  # upstream's: it is in no repository of the reader's
            return {"uri": uri(path)}
        where = uri(path, directory)
        return {"uri": where} if where.startswith("file:") else {"uri": where, "uriBaseId": ROOT}

    def location(span: Span) -> dict[str, Any]:
        return {"physicalLocation": {"artifactLocation": artifact(span.path), "region": _region(span)}}

    def result(finding: Finding) -> dict[str, Any]:
        document: dict[str, Any] = {
            "ruleId": finding.code,
            **({"ruleIndex": index[finding.code]} if finding.code in index else {}),
            "level": _LEVELS[finding.severity],
            "message": {"text": "\n".join([finding.message, *remarks(finding)])},
            "locations": [location(finding.span)],
            "partialFingerprints": {
                "mfsdpLint/v1": finding.fingerprint,
                "mfsdpLintContent/v1": finding.content_fingerprint,
            },
            "properties": {"stage": finding.stage, "recipes": [each.name for each in finding.recipes]},
        }
        if finding.fixable and not finding.fix_proved:
            document["properties"]["possibleFix"] = finding.fixable
        if finding.related:
            document["relatedLocations"] = [
                {**location(note.span), "id": number, "message": {"text": note.message}}
                for number, note in enumerate(finding.related, 1)
            ]
        if (fix := finding.fix) and fix.edits:
            changes = [
                {
                    "artifactLocation": artifact(path),
                    "replacements": [
                        {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
                        for edit in fix.edits
                        if edit.span.path == path
                    ],
                }
                for path in dict.fromkeys(edit.span.path for edit in fix.edits)
            ]
            why = f": {fix.why}" if fix.why else ""
            document["fixes"] = [{"description": {"text": f"{fix.safety} fix{why}"}, "artifactChanges": changes}]
        if silenced := finding.suppressed:
            document["suppressions"] = [
                {
                    "kind": "inSource" if silenced.by == "comment" else "external",
                    "status": "accepted",
                    "justification": silenced.reason,
                    "location": location(silenced.span),
                }
            ]
        return document

    driver = {"name": "mfsdp-lint", "version": __version__, "semanticVersion": __version__}
    if site := documentation():
        driver["informationUri"] = site
    run = {
        "tool": {"driver": driver | {"rules": described}},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "results": list(map(result, findings)),
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif_rule(rule: Rule | AboutFiles, more: str, severities: Iterable[Severity]) -> dict[str, Any]:
    asked = f"mfsdp-lint explain {rule.code}"
    page = rule_page(rule.code)
    return {
        "id": rule.code,
        "name": rule.name,
        **({"helpUri": page} if page else {}),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\n{more}\n\n{asked}", "markdown": f"{rule.why}\n\n{more}\n\n`{asked}`"},
        "defaultConfiguration": {"level": _LEVELS[min(severities, key=SEVERITIES.index)]},
    }


def _region(span: Span) -> dict[str, int]:
    ends = {"endLine": span.end_line, "endColumn": span.end_column}
    return {"startLine": span.line, "startColumn": span.column} | ends


ANNOTATIONS = 10
"""GitHub shows this many of each kind a step, and drops the rest without a word."""

SUMMARY_BYTES = 1024 * 1024
"""GitHub refuses a step's whole summary when it is larger."""

_MARKDOWN = str.maketrans({"&": "&amp;", **{mark: f"\\{mark}" for mark in "\\`*_[]<>|~"}})


def github(findings: Sequence[Finding], summary: Summary, *, directory: str = "") -> str:
    """Render workflow commands that GitHub turns into annotations, the most severe first, and the line of summary.

    `directory` is where the tool runs, relative to the repository: GitHub places annotations by repository path.
    """
    lines: list[str] = []
    left_out = 0
    for severity in SEVERITIES:
        causes = _causes(finding for finding in findings if finding.severity == severity)
        lines += [_command(finding, directory) for finding in causes[:ANNOTATIONS]]
        left_out += len(causes[ANNOTATIONS:])
    if left_out:
        lines.append(f"{count(left_out, 'more finding')} not annotated; the job's summary lists all of them")
    return "\n".join([*lines, terminal.lines(summary_line(summary))]) + "\n"


def _causes(findings: Iterable[Finding]) -> list[Finding]:
    """Keep one finding for each cause, without the suppressed."""
    shown = [finding for finding in findings if finding.suppressed is None]
    causes = {finding.fingerprint or (finding.code, finding.span): finding for finding in reversed(shown)}
    return list(reversed(causes.values()))


def _command(finding: Finding, directory: str) -> str:
    """Write a command, escaped as `@actions/core` does (command.ts, escapeData and escapeProperty).

    Other characters that steer a terminal have no escape there, and are only made visible.
    """
    span = finding.span
    properties = {"file": in_repository(span.path, directory), "line": str(span.line)}
    # GitHub's runner drops columns, with a complaint, where the lines differ (ActionCommandManager.cs,
    # ValidateLinesAndColumns).
    properties |= {"endLine": str(span.end_line)} if span.end_line > span.line else {"col": str(span.column)}
    if span.end_line == span.line and span.end_column > span.column:
        properties["endColumn"] = str(span.end_column)
    properties["title"] = f"{finding.code} {finding.name}"
    parts = [printable(part) for part in (finding.message, *remarks(finding, verdict=True))]
    parts += [f"{printable(note.span.path)}:{note.span.line}: {printable(note.message)}" for note in finding.related]
    if finding.recipes:
        parts.append(f"recipes: {shorten(finding.recipes, 3)}")

    def data(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def value(text: str) -> str:
        shown = "".join(each if each in "\r\n" else printable(each) for each in text)
        return data(shown).replace(":", "%3A").replace(",", "%2C")

    written = ",".join(f"{key}={value(text)}" for key, text in properties.items())
    kind = "notice" if finding.severity == "info" else finding.severity
    message = data("\n".join(parts))
    return f"::{kind} {written}::{message}"


def github_summary(findings: Sequence[Finding], summary: Summary, *, room: int = SUMMARY_BYTES) -> str:
    """Render Markdown to append to $GITHUB_STEP_SUMMARY; `room` is its limit in bytes."""

    def cell(text: str) -> str:
        """Escape text so that Markdown shows it unchanged."""
        return printable(text).translate(_MARKDOWN)

    head = f"### mfsdp-lint\n\n{cell(summary_line(summary))}\n"
    causes = _causes(finding for severity in SEVERITIES for finding in findings if finding.severity == severity)
    if not causes:
        return head
    head += "\n| | rule | place | message | recipes | fix |\n|---|---|---|---|---|---|\n"
    room -= len(head.encode()) + 100  # for the line that says how many do not fit
    rows: list[str] = []
    for finding in causes:
        tried = f" [{finding.confirmation.verdict}]" if finding.confirmation else ""
        sure = finding.fixable is None or finding.fix_proved
        cells = (
            finding.severity,
            f"{finding.code} {finding.name}",
            f"{finding.span.path}:{finding.span.line}",
            finding.message + tried,
            shorten(finding.recipes, 3),
            (finding.fixable or "") if sure else f"perhaps ({finding.fixable})",
        )
        row = f"| {' | '.join(map(cell, cells))} |\n"
        room -= len(row.encode())
        if room < 0:
            return head + "".join(rows) + f"\n{count(len(causes) - len(rows), 'more finding')} would not fit here.\n"
        rows.append(row)
    return head + "".join(rows)


def gitlab(findings: Sequence[Finding], *, directory: str = "") -> str:
    """Render GitLab's code quality report. `directory` is where the tool runs, relative to the repository."""
    ties: Counter[str] = Counter()
    documents = []
    for finding in findings:
        if finding.suppressed is not None:
            continue
        ties[finding.fingerprint] += 1
        tie = ties[finding.fingerprint]
        happens = f" ({WHEN[finding.stage]}: {finding.consequence})" if finding.consequence else ""
        page = rule_page(finding.code)
        document = {
            # The format has no field for an address.
            "description": f"{finding.code}: {finding.message}{happens}{f' {page}' if page else ''}",
            "check_name": finding.name,
            # GitLab keeps one of those that share a fingerprint.
            "fingerprint": finding.fingerprint if tie == 1 else f"{finding.fingerprint}-{tie}",
            "severity": _GITLAB_SEVERITIES[finding.severity],
            "location": {
                "path": in_repository(finding.span.path, directory),
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        documents.append(document)
    return json.dumps(documents, indent=2) + "\n"


def rdjson(findings: Sequence[Finding], texts: Texts) -> str:
    """Render reviewdog's diagnostics, with suggestions. Columns count bytes of UTF-8, as in reviewdog."""

    def position(lines: Sequence[str], line: int, column: int) -> dict[str, int]:
        """Convert the column to bytes of UTF-8; it is unchanged if the text is not known."""
        if line <= len(lines):
            column = len(lines[line - 1][: column - 1].encode("utf-8", "surrogateescape")) + 1
        return {"line": line, "column": column}

    def range_of(span: Span) -> dict[str, Any]:
        lines = split_lines(texts(span.path) or "")
        ends = position(lines, span.end_line, span.end_column)
        return {"start": position(lines, span.line, span.column), "end": ends}

    def location(span: Span) -> dict[str, Any]:
        return {"path": span.path, "range": range_of(span)}

    def suggestion(path: str, fix: Fix) -> dict[str, Any] | None:
        """Make the whole fix one replacement; None if it also edits other files, since half a fix would be wrong."""
        text = texts(path)
        if text is None or not fix.edits or any(edit.span.path != path for edit in fix.edits):
            return None
        lines = Lines(text)
        start = min(lines.offset(edit.span.line, edit.span.column) for edit in fix.edits)
        end = max(lines.offset(edit.span.end_line, edit.span.end_column) for edit in fix.edits)
        changed = apply_edits(path, text, fix.edits)
        replaced = changed[start : len(changed) - (len(text) - end)]
        return {"range": range_of(lines.span(path, start, end)), "text": replaced}

    diagnostics = []
    for finding in findings:
        if finding.suppressed is not None:
            continue
        happens = f"\n{WHEN[finding.stage]}: {finding.consequence}" if finding.consequence else ""
        document: dict[str, Any] = {
            "message": finding.message + happens,
            "location": location(finding.span),
            "severity": finding.severity.upper(),
            "code": {"value": finding.code} | ({"url": page} if (page := rule_page(finding.code)) else {}),
        }
        if finding.related:
            document["related_locations"] = [
                {"message": note.message, "location": location(note.span)} for note in finding.related
            ]
        if finding.fix and (suggested := suggestion(finding.span.path, finding.fix)):
            document["suggestions"] = [suggested]
        diagnostics.append(document)
    return json.dumps({"source": {"name": "mfsdp-lint"}, "diagnostics": diagnostics}, indent=2) + "\n"


def junit(findings: Sequence[Finding], summary: Summary) -> str:
    """Render JUnit's XML: a suite for each file with findings, else one test that passed.

    A finding is a failed test, a suppressed one a skipped test.
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    suites = Element("testsuites", name="mfsdp-lint")

    def suite_of(name: str, tests: int, failures: int = 0, skipped: int = 0) -> Element:
        counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": skipped}
        return SubElement(suites, "testsuite", {"name": name, **{key: str(number) for key, number in counts.items()}})

    for path, group in groupby(findings, key=lambda finding: finding.span.path):
        found, shown = list(group), printable(path)
        skipped = sum(finding.suppressed is not None for finding in found)
        suite = suite_of(shown, len(found), len(found) - skipped, skipped)
        for finding in found:
            span = finding.span
            name = f"{finding.code} {finding.name} (line {span.line}, column {span.column})"
            test = SubElement(suite, "testcase", name=name, classname=shown, file=shown, line=str(span.line))
            if finding.suppressed is not None:
                SubElement(test, "skipped", message=printable(finding.suppressed.reason))
                continue
            failure = SubElement(test, "failure", type=finding.severity, message=printable(finding.message))
            lines = [f"{path}:{span.line}:{span.column}: {finding.severity} {finding.code}", *remarks(finding)]
            lines += [f"{note.span.path}:{note.span.line}: {note.message}" for note in finding.related]
            failure.text = "\n".join(map(printable, lines))
    if not findings:
        test = SubElement(suite_of("mfsdp-lint", 1), "testcase", name="mfsdp-lint", classname="mfsdp-lint")
        SubElement(test, "system-out").text = printable(summary_line(summary))
    for total in ("tests", "failures", "errors", "skipped"):
        suites.set(total, str(sum(int(suite.get(total, "0")) for suite in suites)))
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"
