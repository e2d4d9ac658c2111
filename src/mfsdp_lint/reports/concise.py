"""For editors and grep: `PATH:LINE:COLUMN: error MFSDP101 message`, one line a finding."""

from __future__ import annotations

from collections.abc import Sequence

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.reports.summary import Summary, summary_line


def render(findings: Sequence[Finding], summary: Summary) -> str:
    """Render every finding that is not suppressed, and the line of summary."""
    return lines(findings) + summary_line(summary) + "\n"


def lines(findings: Sequence[Finding]) -> str:
    """Render the findings alone."""
    return "".join(_line(finding) + "\n" for finding in findings if finding.suppressed is None)


def _line(finding: Finding) -> str:
    where = f"{printable(finding.span.path)}:{finding.span.line}:{finding.span.column}"
    tried = f" [{finding.confirmation.verdict}]" if finding.confirmation else ""
    return f"{where}: {finding.severity} {finding.code} {printable(finding.message)}{tried}"
