"""A guard that a launcher calls before it trains: one error with all mistakes, instead of upstream's first
assertion.
"""

from __future__ import annotations

from collections.abc import Sequence

from mfsdp_lint.core.finding import SEVERITIES, Finding, Severity
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.rules.judging.verdict import Verdict, judge


class Refused(ValueError):
    """A configuration that must not run. `findings` are why, the worst first; the message tells each."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join([f"mfsdp-lint: {_count(self.findings)}", *map(_told, self.findings)]))


def guard(
    configuration: object,
    *,
    target: Target | str | None = None,
    world_size: int | None = None,
    front_end: FrontEnd | str = BRIDGE,
    fail_on: Severity = "error",
) -> Verdict:
    """Judge a configuration as `judge` does; environment variables that are not given are unknown.

    Returns the verdict where no finding is as severe as `fail_on`. Raises Refused, and the errors that `judge` raises.
    """
    verdict = judge(configuration, target=target, world_size=world_size, partial_environment=True, front_end=front_end)
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    found = [finding for finding in verdict.findings if finding.severity in failing]
    if found:
        raise Refused(found)
    return verdict


def _count(findings: Sequence[Finding]) -> str:
    return "1 problem" if len(findings) == 1 else f"{len(findings)} problems"


def _told(finding: Finding) -> str:
    happens = f": {finding.consequence}" if finding.consequence else ""
    return f"  {finding.severity} {finding.code} {finding.message}{happens}"
