"""The mistakes that only a run with FSDP can make: which rules tell them, and in which releases they wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from mfsdp_lint.core.finding import SEVERITIES, Severity
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import HEAD
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Evidence, Rule
from tools.evidenced import BRIDGE, bridge_site

NEWEST = next(version for version in reversed(BRIDGE) if version != HEAD)
"""The newest release, of which lines are named."""

WITHOUT = Variant(WrittenSettings.of({switch: Known(False) for switch in SWITCHES}))
"""A run of which nothing else is known than that it does without FSDP."""


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A rule that takes FSDP to be broken, as it reads at each release that has the mistake."""

    rule: Rule
    at: Mapping[str, Rule]

    @property
    def severity(self) -> Severity:
        """The worst that happens in any release."""
        return min((case.severity for rule in self.at.values() for case in rule.cases), key=SEVERITIES.index)

    @property
    def stages(self) -> tuple[str, ...]:
        """When the worst of it shows."""
        cases = (case for rule in self.at.values() for case in rule.cases if case.severity == self.severity)
        return tuple(dict.fromkeys(case.stage for case in cases))

    @property
    def is_silent(self) -> bool:
        """True if the run trains wrong without an error."""
        return self.severity == "error" and "never" in self.stages

    @property
    def versions(self) -> str:
        """The releases in words: `all`, or stretches of their sequence."""
        if len(self.at) == len(BRIDGE):
            return "all"
        stretches = groupby(BRIDGE, key=self.at.__contains__)
        return ", ".join(_stretch([*group]) for there, group in stretches if there)

    @property
    def evidence(self) -> Sequence[Evidence]:
        """Places where the newest release makes the mistake, if it does."""
        return self.rule.evidence.get(NEWEST, ()) if NEWEST in self.at else ()


def pitfalls() -> tuple[Pitfall, ...]:
    """Return all pitfalls, by code. A rule is a pitfall if it cannot be broken without FSDP."""
    sites = {version: bridge_site(version) for version in BRIDGE}
    found = (
        (rule, _broken_with_fsdp(rule, sites)) for rule in load_rules() if rule.is_on and rule.judges == "settings"
    )
    return tuple(Pitfall(rule, at) for rule, at in found if at)


def _broken_with_fsdp(rule: Rule, sites: Mapping[str, Site]) -> dict[str, Rule]:
    there = {version: rule.at(site.target, site.front_end) for version, site in sites.items()}
    return {version: here for version, here in there.items() if here and here.applies.truth(WITHOUT) is False}


def _stretch(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"
