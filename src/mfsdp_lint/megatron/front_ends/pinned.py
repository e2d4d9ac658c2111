"""The versions that a framework brings along, whatever a run is judged against."""

from __future__ import annotations

from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.vocabulary.entry import Versions


@dataclass(frozen=True, slots=True)
class Pinned:
    """The versions that a front-end runs with."""

    bridge: str
    core: str

    @classmethod
    def of(cls, front_end: FrontEnd, versions: Versions) -> Pinned:
        """Return the versions that the front-end is judged against, except for the core that it is tied to."""
        return cls(versions.bridge, front_end.core or versions.core)
