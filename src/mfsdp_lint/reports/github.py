"""For pull requests: workflow commands that GitHub turns into annotations, and a table for the job's summary page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mfsdp_lint import terminal
from mfsdp_lint.core.finding import SEVERITIES, Finding, Severity
from mfsdp_lint.reports.places import in_repository
from mfsdp_lint.reports.summary import Summary, summary_line
from mfsdp_lint.reports.wording import count, printable, remarks, shorten

ANNOTATIONS = 10
"""GitHub shows this many of each kind a step, and drops the rest without a word."""

SUMMARY_BYTES = 1024 * 1024
"""GitHub refuses a step's whole summary when it is larger."""

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}

_MARKDOWN = str.maketrans({"&": "&amp;", **{mark: f"\\{mark}" for mark in "\\`*_[]<>|~"}})


def render(findings: Sequence[Finding], summary: Summary, *, directory: str = "") -> str:
    """Render workflow commands, the most severe first, and the line of summary.

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


def step_summary(findings: Sequence[Finding], summary: Summary, *, room: int = SUMMARY_BYTES) -> str:
    """Render Markdown to append to $GITHUB_STEP_SUMMARY; `room` is its limit in bytes."""
    head = f"### mfsdp-lint\n\n{_cell(summary_line(summary))}\n"
    causes = _causes(finding for severity in SEVERITIES for finding in findings if finding.severity == severity)
    if not causes:
        return head
    head += "\n| | rule | place | message | recipes | fix |\n|---|---|---|---|---|---|\n"
    room -= len(head.encode()) + 100  # for the line that says how many do not fit
    rows: list[str] = []
    for finding in causes:
        row = _row(finding)
        room -= len(row.encode())
        if room < 0:
            return head + "".join(rows) + f"\n{count(len(causes) - len(rows), 'more finding')} would not fit here.\n"
        rows.append(row)
    return head + "".join(rows)


def _causes(findings: Iterable[Finding]) -> list[Finding]:
    """Keep one finding for each cause, without the suppressed."""
    causes = {
        (finding.fingerprint or (finding.code, finding.span)): finding
        for finding in reversed(list(findings))
        if finding.suppressed is None
    }
    return list(reversed(causes.values()))


def _command(finding: Finding, directory: str) -> str:
    span = finding.span
    properties = {"file": in_repository(span.path, directory), "line": span.line}
    # GitHub's runner drops columns, with a complaint, where the lines differ (ActionCommandManager.cs,
    # ValidateLinesAndColumns).
    properties |= {"endLine": span.end_line} if span.end_line > span.line else {"col": span.column}
    if span.end_line == span.line and span.end_column > span.column:
        properties["endColumn"] = span.end_column
    properties["title"] = f"{finding.code} {finding.name}"
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {written}::{_data(_text(finding))}"


def _text(finding: Finding) -> str:
    parts = [printable(part) for part in (finding.message, *remarks(finding, verdict=True))]
    parts += [f"{printable(note.span.path)}:{note.span.line}: {printable(note.message)}" for note in finding.related]
    if finding.recipes:
        parts.append(f"recipes: {shorten(finding.recipes, 3)}")
    return "\n".join(parts)


def _data(text: str) -> str:
    """Escape a command's message as `@actions/core` does (command.ts, escapeData)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a command's property as `@actions/core` does (command.ts, escapeProperty).

    Other characters that steer a terminal have no escape there, and are only made visible.
    """
    shown = "".join(each if each in "\r\n" else printable(each) for each in text)
    return _data(shown).replace(":", "%3A").replace(",", "%2C")


def _row(finding: Finding) -> str:
    cells = (
        finding.severity,
        f"{finding.code} {finding.name}",
        f"{finding.span.path}:{finding.span.line}",
        f"{finding.message} [{finding.confirmation.verdict}]" if finding.confirmation else finding.message,
        shorten(finding.recipes, 3),
        _fix(finding),
    )
    return "| " + " | ".join(map(_cell, cells)) + " |\n"


def _fix(finding: Finding) -> str:
    if finding.fixable is None:
        return ""
    return finding.fixable if finding.fix_proved else f"perhaps ({finding.fixable})"


def _cell(text: str) -> str:
    """Escape text so that Markdown shows it unchanged."""
    return printable(text).translate(_MARKDOWN)
