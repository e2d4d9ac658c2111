"""Findings, rules and fixes in a line each: for editors and grep, `--statistics`, `--show-fixes`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mfsdp_lint.core.finding import SEVERITIES, Applied, Finding
from mfsdp_lint.reports.summary import Summary, summary_line
from mfsdp_lint.reports.wording import aligned, count, printable


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


def statistics(findings: Sequence[Finding], summary: Summary) -> str:
    """Render a line a rule and severity, the most frequent first, and the summary line; no suppressed findings."""
    groups: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.suppressed is None:
            groups[finding.code, finding.severity, finding.name].append(finding)
    ordered = sorted(groups.items(), key=lambda each: (-len(each[1]), SEVERITIES.index(each[1][0].severity), each[0]))
    rows = [(str(len(found)), severity, code, name + _fixable(found)) for (code, severity, name), found in ordered]
    return "\n".join([*aligned(rows, right=(0,)), summary_line(summary)]) + "\n"


def _fixable(found: Sequence[Finding]) -> str:
    number = sum(each.fixable is not None for each in found)
    at_most = "" if all(each.fix_proved for each in found) else "up to "
    return f" ({at_most}{number} fixable)" if number else ""


def fix_lines(fixes: Sequence[Applied], *, done: bool = True) -> str:
    """Describe each fix: `recipes/llama.py:14: fixed MFSDP101 (safe): checkpoint.ckpt_format = "fsdp_dtensor"`."""
    verb = "fixed" if done else "would fix"
    return "".join(
        f"{printable(each.span.path)}:{each.span.line}: {verb} {each.code} ({each.safety}): "
        f"{printable(', '.join(each.changes))}\n"
        for each in fixes
    )


def fixed_line(summary: Summary) -> str:
    """Summarise a run that only fixes, without the findings that remain."""
    return f"{count(summary.files, 'file')}: {count(summary.fixed, 'finding')} fixed\n"
