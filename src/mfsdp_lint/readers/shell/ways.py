"""The ways that lead on behind a statement."""

from __future__ import annotations

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.shell.state import State, fewer

MOST_WAYS = 32
"""Ways through a script that are kept apart; beyond, what differs between them is not known."""

FEW_WAYS = 4
"""The same, in a script that is long or has many loops: it is followed to its end, with less of it kept apart."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A way after a statement; whether that succeeded, None where nobody knows."""

    state: State
    status: bool | None = None


def fewer_ways(ways: list[Ended], most: int = MOST_WAYS) -> list[Ended]:
    """Merge ways that are alike, and then more of them until at most `most` are kept apart."""
    if len(ways) < 2:
        return ways
    found: list[Ended] = []
    for status in (True, False, None):
        states = [way.state for way in ways if way.status is status]
        if states:
            found += [Ended(state, status) for state in fewer(states, most)]
    return found
