"""Attempts of a proof, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.fixes.judged import Judged


@dataclass(slots=True)
class Trial:
    """An evaluation: the fixes to blame for what went wrong, and any failure that no fix can be blamed for.

    `used` says which of its plans each fix was tried with. `at_odds` are groups of blamed fixes with which another
    mistake appears, perhaps only because they were made together.
    """

    chosen: dict[int, tuple[Edit, ...]]
    used: dict[int, int]
    texts: dict[str, str]
    after: Judged
    blame: dict[int, str] = field(default_factory=dict)
    own_fault: set[int] = field(default_factory=set)
    at_odds: list[Sequence[int]] = field(default_factory=list)
    nobody: str = ""

    @property
    def holds(self) -> bool:
        """True if nothing went wrong."""
        return not self.blame and not self.nobody

    def blamed(self, indices: Sequence[int], reason: str) -> None:
        """Note what went wrong, and which fixes may be at fault; where it is one alone, it fails by itself."""
        for index in indices:
            self.blame.setdefault(index, reason)
        if len(indices) == 1:
            self.own_fault.update(indices)
        if not indices:
            self.nobody = self.nobody or reason

    def editing(self, path: str) -> list[int]:
        """Return the fixes that edit a file."""
        return [index for index, edits in self.chosen.items() if any(edit.span.path == path for edit in edits)]
