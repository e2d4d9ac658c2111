"""Turning Megatron-FSDP on: the guides' enablement, as data (enablement.yaml), and what the rules then require."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin, Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.store import read_yaml
from mfsdp_lint.core.values import NONE, Known, Plain, is_known_as, same, spell
from mfsdp_lint.fixes.apply import Fixed
from mfsdp_lint.fixes.edits import make_patch
from mfsdp_lint.fixes.judged import Need
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.conditions import Applicability, Site, parse_applicability
from mfsdp_lint.megatron.conditions.language import Condition, parse
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.readers.overrides import OverriddenSettings, SettingOverride
from mfsdp_lint.rules.check import Remedy, Violation
from mfsdp_lint.rules.model import MessageText

SOURCE = Path(__file__).with_name("enablement.yaml")

STRATEGY = "optim_grads_params"
"""The strategy of the guides: everything is sharded."""


@dataclass(frozen=True, slots=True)
class EnableOptions:
    """The options of the command line: the sharding strategy, and the folder of checkpoints (None: where they are)."""

    strategy: str = STRATEGY
    save: str | None = None


@dataclass(frozen=True, slots=True)
class GuideStep:
    """Settings to write where the condition holds; `{"asked": name}` is what `EnableOptions` has there."""

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

    steps: tuple[GuideStep, ...]
    remarks: tuple[Remark, ...]

    def settings(self, variant: Variant, site: Site, asked: EnableOptions) -> dict[str, Plain]:
        """Return the settings to write, without those that already have their value.

        Empty where there is no Megatron-FSDP.
        """
        found: dict[str, Plain] = {}
        for step in self.steps:
            if step.versions.truth(site) and step.when.at(site).truth(variant):
                found |= dict(_asked_settings(step.set, asked))
        return {path: value for path, value in found.items() if not is_known_as(variant.value(path), value)}

    def knows(self, site: Site) -> bool:
        """Tell whether it has steps for these versions."""
        return any(step.versions.truth(site) for step in self.steps)

    def remarks_on(self, variant: Variant, site: Site, asked: EnableOptions) -> Iterator[str]:
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
        GuideStep(each["set"], parse_applicability(each["versions"]), parse(each.get("when", "always"), {}))
        for each in data["steps"]
    )
    remarks = (
        Remark(parse(each["when"], {}), MessageText(each["say"]), each.get("unless_asked", ""))
        for each in data["remarks"]
    )
    return Guide(tuple(steps), tuple(remarks))


def _asked_settings(values: Mapping[str, Plain], asked: EnableOptions) -> Iterator[tuple[str, Plain]]:
    for path, value in values.items():
        if not isinstance(value, dict):
            yield path, value
        elif (said := getattr(asked, str(value["asked"]))) is not None:
            yield path, said


FindViolations = Callable[[Sequence[Recipe]], Sequence[Violation]]
"""Finds the violations in recipes."""

ROUNDS = 8
"""A remedy may bring up the next mistake; more in a row are none that an edit cures."""


@dataclass(slots=True)
class Requirement:
    """The changes required on one way through a recipe; `obstacles` are the violations that no edit removes.

    `required` says which rules require the settings that the guide does not name. `after` is the recipe as it will be,
    `rest` are the violations of the rules then.
    """

    recipe: Recipe
    variant: Variant
    set: dict[str, Plain]
    unset: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    required: tuple[str, ...] = ()
    obstacles: tuple[Violation, ...] = ()
    rest: tuple[Violation, ...] = ()

    @property
    def need(self) -> Need:
        """Return the need as the planner of fixes takes it."""
        return Need(self.recipe, self.variant, self.set, self.unset, SWITCHES[:2], self.edits, self.drop)

    @property
    def extent(self) -> tuple[int, ...]:
        """Count the changes."""
        return len(self.set), len(self.unset), len(self.edits)

    @property
    def after(self) -> Variant:
        """The way as it will be."""
        place = Origin(Span(self.recipe.path, self.recipe.line, 1, self.recipe.line, 1), "override")
        values = {**{path: Known(value) for path, value in self.set.items()}, **dict.fromkeys(self.unset, NONE)}
        changed = [SettingOverride(path, value, replace(place, value=value)) for path, value in values.items()]
        return replace(self.variant, settings=OverriddenSettings(self.variant.settings, changed))

    def take(self, violation: Violation) -> bool:
        """Add a remedy; False where there is none, or it would undo what is wanted already."""
        remedy = violation.remedy
        if remedy is None or self._undone(remedy):
            return False
        self.set |= remedy.set
        self.unset = tuple(dict.fromkeys((*self.unset, *remedy.unset)))
        self.drop = tuple(dict.fromkeys((*self.drop, *remedy.drop)))
        self.edits = tuple(dict.fromkeys((*self.edits, *remedy.edits)))
        said = [f"{path} = {spell(value)}" for path, value in remedy.set.items()]
        said += [f"{path} not to be set" for path in remedy.unset]
        self.required += (f"{violation.rule.code} requires {', '.join(said)}",) if said else ()
        return True

    def _undone(self, remedy: Remedy) -> bool:
        wrong = any(path in self.set and not same(self.set[path], value) for path, value in remedy.set.items())
        return wrong or not self.set.keys().isdisjoint(remedy.unset)


def requirement(
    recipe: Recipe, variant: Variant, site: Site, guide: Guide, asked: EnableOptions, judge: FindViolations
) -> Requirement:
    """Judge, take the remedies of the errors, and judge again, until no error is left or none can be cured."""
    found = Requirement(recipe, variant, guide.settings(variant, site, asked))
    errors: list[Violation] = []
    for _ in range(ROUNDS):
        broken = judge([replace(recipe, variants=(found.after,), exposed=())])
        edited = {each.passage.edit for each in broken if each.passage} & set(found.edits)
        broken = [each for each in broken if not (each.passage and each.passage.edit in edited)]
        errors = [each for each in broken if each.severity == "error"]
        found.rest = tuple(each for each in broken if each not in errors)
        before = found.extent
        found.obstacles = tuple(each for each in errors if not found.take(each))
        if found.obstacles or not errors:
            return found
        if found.extent == before:
            break
    found.obstacles = tuple(errors)
    return found


@dataclass(frozen=True, slots=True)
class Enabling:
    """`fixed` has the new texts: none where it is on already, and where it cannot be, of which `reasons` tell.

    `required` says which rules require what no guide names, `also` are the recipes that are built on this
    one and get it as well, `switches` the parameters that turned it on for those who asked, `rest` is what the rules
    say of the recipe then.
    """

    recipe: Recipe
    targets: tuple[Target, ...]
    sources: Sources
    fixed: Fixed | None = None
    reasons: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    rest: tuple[Violation, ...] = ()

    @property
    def patch(self) -> bytes:
        """Return the changes as `git apply` takes them; empty where there are none."""
        texts = self.fixed.texts if self.fixed else {}
        encode, now = self.sources.encode, self.sources.text
        return make_patch((path, encode(path, now(path)), encode(path, text)) for path, text in sorted(texts.items()))
