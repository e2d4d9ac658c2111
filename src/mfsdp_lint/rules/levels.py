"""Severities that a project gives to the findings of rules."""

from __future__ import annotations

from mfsdp_lint.core.finding import Finding, Severity
from mfsdp_lint.core.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Levels:
    """By code or prefix; the longest that matches decides, and of equals the last."""

    said: tuple[tuple[str, Severity], ...] = ()

    def of(self, code: str, severity: Severity) -> Severity:
        """Return the severity of a finding that the rule gives `severity`."""
        matching = [each for each in self.said if code.startswith(each[0])]
        if not matching:
            return severity
        most = max(len(prefix) for prefix, _ in matching)
        return next(level for prefix, level in reversed(matching) if len(prefix) == most)

    def applied(self, finding: Finding) -> Finding:
        """Give the finding, and its entry for each recipe, the severity that counts here."""
        if not self.said:
            return finding
        recipes = tuple(replace(each, severity=self.of(finding.code, each.severity)) for each in finding.recipes)
        return replace(finding, severity=self.of(finding.code, finding.severity), recipes=recipes)
