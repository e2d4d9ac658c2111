"""Silencing from outside a file: by the configuration, or by a baseline. Comments silence from inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import Finding, Suppression
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.discover import matches, normalised

if TYPE_CHECKING:
    from mfsdp_lint.engine.baseline import Baseline


@dataclass(frozen=True, slots=True)
class Silenced:
    """The rules that do not count in some files, by glob, and the findings that are accepted."""

    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    baseline: Baseline | None = None

    def mark(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return all findings, with the silenced ones marked."""
        found = [self._by_file(finding) for finding in findings] if self.per_file else list(findings)
        if self.baseline is None:
            return found
        for index, entry in self.baseline.accepted(found).items():
            place = Span(self.baseline.file, 1, 1, 1, 1)
            reason = f"accepted in {self.baseline.file} as {entry.fingerprint}"
            found[index] = replace(found[index], suppressed=Suppression(place, reason, "baseline"))
        return found

    def _by_file(self, finding: Finding) -> Finding:
        if finding.suppressed is not None:
            return finding
        for glob, codes in self.per_file:
            if finding.code.startswith(codes) and matches(finding.span.path, (normalised(glob),)):
                said = Suppression(finding.span, f"per-file-ignores: {glob}", "configuration")
                return replace(finding, suppressed=said)
        return finding


NOTHING = Silenced()
