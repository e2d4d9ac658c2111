"""Something that differs from one Megatron-Bridge version to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from mfsdp_lint.upstream.versions import VersionRange, parse_range

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ByVersion(Generic[T]):
    """What holds in which range of versions; the first range that contains a version counts."""

    entries: tuple[tuple[VersionRange, T], ...] = ()

    @classmethod
    def everywhere(cls, what: T) -> ByVersion[T]:
        """The same in every version."""
        return cls(((parse_range(""), what),))

    def at(self, bridge: str) -> T | None:
        """What holds in one version, None where nothing is said of it."""
        return next((what for versions, what in self.entries if bridge in versions), None)
