"""Who reads a configuration and starts the run: Megatron-Bridge, Megatron-LM's own command line.

A front-end is data. Whoever treats front-ends differently asks for what they have, and not which one it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from mfsdp_lint.core.records import dataclass

Component = Literal["bridge", "core"]
"""What Megatron is released as: Megatron-Bridge, and megatron-core (Megatron-LM with it)."""


@dataclass(frozen=True, slots=True, order=True)
class FrontEnd:
    """One front-end.

    `name` is how people and rules write it. `released_with` is the component whose version says how it behaves.
    `takes_flags` says that its settings are flags: its parser says what they are where nobody writes them.
    """

    name: str
    released_with: Component
    takes_flags: bool = False

    def __str__(self) -> str:
        return self.name


BRIDGE = FrontEnd("bridge", "bridge")
MEGATRON_LM = FrontEnd("megatron-lm", "core", takes_flags=True)

FRONT_ENDS: Mapping[str, FrontEnd] = {each.name: each for each in (BRIDGE, MEGATRON_LM)}
"""Every front-end by its name."""


class UnknownFrontEnd(ValueError):
    """A name that no front-end has."""


def front_end(name: str) -> FrontEnd:
    """The front-end of a name. Raises UnknownFrontEnd."""
    found = FRONT_ENDS.get(name)
    if found is None:
        raise UnknownFrontEnd(f"{name!r} is no front-end; known are {', '.join(FRONT_ENDS)}")
    return found
