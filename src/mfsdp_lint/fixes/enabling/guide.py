"""The guides' enablement, as data (enablement.yaml): which settings to write, and what to say of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.store import read_yaml
from mfsdp_lint.core.values import Plain, is_known_as
from mfsdp_lint.megatron.conditions.applicability import Applicability, Site, parse_applicability
from mfsdp_lint.megatron.conditions.language import Condition, parse
from mfsdp_lint.rules.model import MessageText

SOURCE = Path(__file__).with_name("enablement.yaml")

STRATEGY = "optim_grads_params"
"""The strategy of the guides: everything is sharded."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command line: the sharding strategy, and the folder of checkpoints (None: where they are)."""

    strategy: str = STRATEGY
    save: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Settings to write where the condition holds; `{"asked": name}` stands for what `Asked` has under the name."""

    set: Mapping[str, Plain]
    versions: Applicability
    when: Condition


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark to print where the condition holds, unless the option in `unless_asked` was given."""

    when: Condition
    say: MessageText
    unless_asked: str


@dataclass(frozen=True, slots=True)
class Guide:
    """The contents of the guides."""

    steps: tuple[Step, ...]
    remarks: tuple[Remark, ...]

    def settings(self, variant: Variant, site: Site, asked: Asked) -> dict[str, Plain]:
        """Return the settings to write, without those that already have their value.

        Empty where there is no Megatron-FSDP.
        """
        found: dict[str, Plain] = {}
        for step in self.steps:
            if step.versions.truth(site) and step.when.at(site).truth(variant):
                found |= dict(_asked(step.set, asked))
        return {path: value for path, value in found.items() if not is_known_as(variant.value(path), value)}

    def knows(self, site: Site) -> bool:
        """Tell whether it has steps for these versions."""
        return any(step.versions.truth(site) for step in self.steps)

    def remarks_on(self, variant: Variant, site: Site, asked: Asked) -> Iterator[str]:
        """Yield the remarks on the settings as they will be."""
        for each in self.remarks:
            needless = each.unless_asked and getattr(asked, each.unless_asked) is not None
            if not needless and each.when.at(site).truth(variant):
                yield each.say.of(variant)


@cache
def guide() -> Guide:
    """Read the guides' enablement. Raises ValueError (ConditionError, VersionError) where the data is not right."""
    data = read_yaml(SOURCE)
    steps = (
        Step(each["set"], parse_applicability(each["versions"]), parse(each.get("when", "always"), {}))
        for each in data["steps"]
    )
    remarks = (
        Remark(parse(each["when"], {}), MessageText(each["say"]), each.get("unless_asked", ""))
        for each in data["remarks"]
    )
    return Guide(tuple(steps), tuple(remarks))


def _asked(values: Mapping[str, Plain], asked: Asked) -> Iterator[tuple[str, Plain]]:
    for path, value in values.items():
        if not isinstance(value, dict):
            yield path, value
        elif (said := getattr(asked, str(value["asked"]))) is not None:
            yield path, said
