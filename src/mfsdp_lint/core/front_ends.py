"""Who reads a configuration and starts the run: Megatron-Bridge, Megatron-LM's command line, a framework on top.

A front-end is data. Whoever treats front-ends differently asks for what they have, and not which one it is. The
frameworks are in `front_ends/`, a file each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from mfsdp_lint.core.records import dataclass

Component = Literal["bridge", "core"]
"""What Megatron is released as: Megatron-Bridge, and megatron-core (Megatron-LM with it)."""


Check = Literal["validation", "dataclass"]
"""What a framework may not go through: the validation at start-up, what the configuration's classes say themselves."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """One front-end.

    `name` is how people and rules write it. `released_with` is the component whose version says how it behaves.
    `takes_flags` says that its settings are flags: its parser says what they are where nobody writes them.

    A framework on top of another front-end `runs` that one's code: what is said of that one holds for it as well, but
    for the checks that it `skips` (and does not make itself: rules that it `enforces`), and for rules about code that
    it replaces, which it is `spared`. Whoever skips the validation is also spared the changes that come with it. `core`
    is the only version of megatron-core that it runs with, if it is tied to one.
    """

    name: str
    released_with: Component
    takes_flags: bool = False
    runs: str = ""
    skips: frozenset[Check] = frozenset()
    spared: frozenset[str] = frozenset()
    enforces: frozenset[str] = frozenset()
    core: str = ""

    @property
    def starts_up(self) -> bool:
        """Whether it goes through the start-up of what it runs."""
        return "validation" not in self.skips

    def checks(self, rule: str, enforcer: str) -> bool:
        """Whether what enforces a rule does so here."""
        return enforcer not in self.skips or rule in self.enforces

    def is_a(self, name: str) -> bool:
        """Whether what is said of the front-end of this name holds for it."""
        return name in (self.name, self.runs)

    def __str__(self) -> str:
        return self.name


BRIDGE = FrontEnd("bridge", "bridge")
MEGATRON_LM = FrontEnd("megatron-lm", "core", takes_flags=True)

FRONT_ENDS: Mapping[str, FrontEnd] = {each.name: each for each in (BRIDGE, MEGATRON_LM)}
"""Those that rules speak of, by name."""


class UnknownFrontEnd(ValueError):
    """A name that no front-end has."""
