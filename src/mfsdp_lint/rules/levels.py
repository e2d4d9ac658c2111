"""How severe the findings of a rule are, where a project says it otherwise."""

from __future__ import annotations

from mfsdp_lint.core.finding import Finding, Severity
from mfsdp_lint.core.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Levels:
    """By code or prefix; the longest that matches decides, and of equals the last."""

    said: tuple[tuple[str, Severity], ...] = ()

    def of(self, code: str, severity: Severity) -> Severity:
        """The severity of a finding that the rule gives `severity`."""
        matching = [each for each in self.said if code.startswith(each[0])]
        if not matching:
            return severity
        most = max(len(prefix) for prefix, _ in matching)
        return next(level for prefix, level in reversed(matching) if len(prefix) == most)

    def applied(self, finding: Finding) -> Finding:
        """The finding, and what it says of each recipe, with the severity that counts here."""
        if not self.said:
            return finding
        recipes = tuple(replace(each, severity=self.of(finding.code, each.severity)) for each in finding.recipes)
        return replace(finding, severity=self.of(finding.code, finding.severity), recipes=recipes)
