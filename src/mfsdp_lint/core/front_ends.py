"""Front-ends read a configuration and start the run: Megatron-Bridge, Megatron-LM's command line, a framework on top.

A front-end is data. Code that treats front-ends differently asks for their properties, not for their names. The
frameworks are in `front_ends/`, a file each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from mfsdp_lint.core.records import dataclass

Component = Literal["bridge", "core"]
"""The components that Megatron is released as: Megatron-Bridge, and megatron-core (Megatron-LM with it)."""


Check = Literal["validation", "dataclass"]
"""Checks that a framework may skip: the validation at start-up, and those that the configuration's classes make."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A check of a framework's own that stops the run, as one more case of a rule.

    It `raises` a text where the condition `when` holds (empty: wherever the rule applies), at the framework's line
    `evidence`. `message` is what a finding says; empty: what the rule says. It is made before the model is built, or
    when the model is wrapped.
    """

    rule: str
    when: str
    message: str
    raises: str
    evidence: str
    stage: Literal["startup", "wrap"] = "startup"


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """A program that reads a configuration and starts the run.

    `name` is how people and rules write it. `released_with` is the component whose version says how it behaves.
    `takes_flags` says that its settings are flags: its parser gives the values of flags that nobody writes.

    A framework on top of another front-end `runs` that front-end's code. Statements about that front-end hold for the
    framework as well, except for the checks that it `skips`, and for rules about code that it replaces, which it is
    `spared`. `refuses` are the checks that it makes itself. Of rules whose fix it `reverts` there is none. A framework
    that skips the validation is also spared the changes that the validation makes. `core` is the only version of
    megatron-core that it runs with, if it is tied to one.
    """

    name: str
    released_with: Component
    takes_flags: bool = False
    runs: str = ""
    skips: frozenset[Check] = frozenset()
    spared: frozenset[str] = frozenset()
    refuses: tuple[Refusal, ...] = ()
    reverts: frozenset[str] = frozenset()
    core: str = ""

    @property
    def starts_up(self) -> bool:
        """Tell whether it goes through the start-up of the front-end that it runs."""
        return "validation" not in self.skips

    def checks(self, enforcer: str) -> bool:
        """Tell whether the enforcer of a rule does its check in this front-end."""
        return enforcer not in self.skips and enforcer != "framework"

    def is_a(self, name: str) -> bool:
        """Tell whether statements about the front-end of this name hold for this one."""
        return name in (self.name, self.runs)

    def __str__(self) -> str:
        return self.name


BRIDGE = FrontEnd("bridge", "bridge")
MEGATRON_LM = FrontEnd("megatron-lm", "core", takes_flags=True)

FRONT_ENDS: Mapping[str, FrontEnd] = {each.name: each for each in (BRIDGE, MEGATRON_LM)}
"""Those that rules speak of, by name."""


class UnknownFrontEnd(ValueError):
    """A name that no front-end has."""
