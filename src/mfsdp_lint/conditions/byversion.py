"""Something that differs from one version, or one front-end, to the next."""

from __future__ import annotations

from typing import Generic, TypeVar

from mfsdp_lint.conditions.applicability import EVERYWHERE, Applicability, Site
from mfsdp_lint.core.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ByVersion(Generic[T]):
    """What holds where; the first entry that applies counts."""

    entries: tuple[tuple[Applicability, T], ...] = ()

    @classmethod
    def everywhere(cls, what: T) -> ByVersion[T]:
        """The same in every version."""
        return cls(((EVERYWHERE, what),))

    def at(self, site: Site) -> T | None:
        """What holds at a site; None where nothing is said of it, or where that depends on a version not known."""
        possible = self.possible(site)
        return possible[0] if len(possible) == 1 else None

    def possible(self, site: Site) -> tuple[T | None, ...]:
        """What may hold at a site: one thing, unless that depends on a version that is not known. None: nothing."""
        found: list[T | None] = []
        for versions, what in self.entries:
            truth = versions.truth(site)
            if truth is not False:
                found.append(what)
            if truth:
                return tuple(found)
        return (*found, None)
