"""Frequency of findings by rule: `--statistics`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mfsdp_lint.core.finding import SEVERITIES, Finding
from mfsdp_lint.reports.summary import Summary, summary_line


def render(findings: Sequence[Finding], summary: Summary) -> str:
    """Render a line a rule and severity, the most frequent first, and the summary line; no suppressed findings."""
    groups: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.suppressed is None:
            groups[finding.code, finding.severity, finding.name].append(finding)
    ordered = sorted(groups.items(), key=lambda each: (-len(each[1]), SEVERITIES.index(each[1][0].severity), each[0]))
    rows = [(str(len(found)), severity, code, name + _fixable(found)) for (code, severity, name), found in ordered]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [f"{row[0]:>{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:{widths[2]}}  {row[3]}" for row in rows]
    return "\n".join([*lines, summary_line(summary)]) + "\n"


def _fixable(found: Sequence[Finding]) -> str:
    number = sum(each.fixable is not None for each in found)
    at_most = "" if all(each.fix_proved for each in found) else "up to "
    return f" ({at_most}{number} fixable)" if number else ""
