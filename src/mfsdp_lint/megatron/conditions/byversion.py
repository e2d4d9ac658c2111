"""Values that differ from one version, or one front-end, to the next."""

from __future__ import annotations

from typing import Generic, TypeVar

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.conditions.applicability import EVERYWHERE, Applicability, Site

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ByVersion(Generic[T]):
    """A value for each range of versions; the first entry that applies counts."""

    entries: tuple[tuple[Applicability, T], ...] = ()

    @classmethod
    def everywhere(cls, what: T) -> ByVersion[T]:
        """Return an instance with one value for every version."""
        return cls(((EVERYWHERE, what),))

    def at(self, site: Site) -> T | None:
        """Return the value that holds at a site; None without one, or where that depends on an unknown version."""
        possible = self.possible(site)
        return possible[0] if len(possible) == 1 else None

    def possible(self, site: Site) -> tuple[T | None, ...]:
        """Return the values that may hold at a site: one, unless that depends on an unknown version.

        None means no entry.
        """
        found: list[T | None] = []
        for versions, what in self.entries:
            truth = versions.truth(site)
            if truth is not False:
                found.append(what)
            if truth:
                return tuple(found)
        return (*found, None)
