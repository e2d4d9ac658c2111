"""What a launcher calls before it trains: one error with all that is wrong, instead of upstream's first assertion."""

from __future__ import annotations

from collections.abc import Sequence

from mfsdp_lint.core.finding import SEVERITIES, Finding, Severity
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.judging.verdict import Verdict, judge
from mfsdp_lint.versions.target import Target


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
    """Judges a configuration as `judge` does, with the environment as it is not given unknown.

    Returns the verdict where nothing is as severe as `fail_on`. Raises Refused, and what `judge` raises.
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
