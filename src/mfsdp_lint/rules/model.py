"""What a rule is. One YAML file of `rules/` is one `Rule`, field by field; `form.py` reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from mfsdp_lint.finding import Severity, Stage
from mfsdp_lint.recipe import Variant
from mfsdp_lint.rules.byversion import ByVersion
from mfsdp_lint.rules.conditions import Condition
from mfsdp_lint.upstream.versions import VersionRange
from mfsdp_lint.values import Plain, describe

EnforcedBy = Literal["validation", "dataclass", "wrapper", "core", "nobody"]
"""Who stops the run: Bridge's start-up validation, a configuration dataclass, the code that wraps the model, other
code of megatron-core that was not made to check this, or nobody."""

PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)+)\}")
"""A setting in a text: `{checkpoint.ckpt_format}`."""


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence in which `{checkpoint.ckpt_format}` stands for the setting's real value."""

    template: str

    def of(self, variant: Variant) -> str:
        """The sentence for one variant's values."""
        return PLACEHOLDER.sub(lambda match: describe(variant.value(match[1])), self.template)


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a rule is broken. `when` comes on top of the rule's `applies`; None: always."""

    when: Condition | None
    severity: Severity
    stage: Stage
    message: Text
    consequence: Text
    enforced_by: ByVersion[EnforcedBy]
    raises: ByVersion[str]
    versions: VersionRange

    def at(self, bridge: str) -> Case:
        """The same for one Megatron-Bridge version."""
        return replace(self, when=self.when and self.when.at(bridge))


@dataclass(frozen=True, slots=True)
class Blame:
    """What a finding can point at, each a setting or a term (which stands for the settings in it).

    `value` are those whose value is wrong, `enabled_by` those that turned on what it is wrong for. Only the settings
    that made the rule fire are considered.
    """

    value: tuple[Condition, ...]
    enabled_by: tuple[Condition, ...] = ()

    def at(self, bridge: str) -> Blame:
        """The same for one Megatron-Bridge version."""
        return Blame(
            tuple(setting.at(bridge) for setting in self.value),
            tuple(setting.at(bridge) for setting in self.enabled_by),
        )


@dataclass(frozen=True, slots=True)
class FixSpec:
    """What removes the problem. It is safe where `safe` is true; elsewhere `else_advice` is added to the message."""

    set: Mapping[str, Plain]
    unset: tuple[str, ...]
    safe: ByVersion[Condition]
    else_advice: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line of an upstream source tree: `repository` is `bridge` or `megatron-lm` (as that Bridge release pins it)."""

    repository: Literal["bridge", "megatron-lm"]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Example:
    """A configuration that a rule reports (with `severity`) or is silent about (None), in one or more notations."""

    settings: Mapping[str, Plain]
    python: str
    yaml: str
    target: str | None
    severity: Severity | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A mistake that settings show.

    It is broken where `applies` is true and so is the `when` of a case; the first such case is the finding. What is
    not known is passed over. `weaker_than` names rules whose finding makes this one say nothing new.
    """

    code: str
    name: str
    summary: str
    why: str
    applies: Condition
    cases: tuple[Case, ...]
    blame: Blame
    versions: VersionRange
    evidence: Mapping[str, tuple[Evidence, ...]]
    fix: FixSpec | None = None
    control: Mapping[str, Plain] = field(default_factory=dict)
    weaker_than: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    file: str = ""

    def at(self, bridge: str) -> Rule:
        """The same for one Megatron-Bridge version: its cases there, its terms as they are meant there."""
        cases = tuple(case.at(bridge) for case in self.cases if bridge in case.versions)
        return replace(self, applies=self.applies.at(bridge), blame=self.blame.at(bridge), cases=cases)
