"""Requirements for one way through a recipe with Megatron-FSDP: the guide's settings, then the rules' remedies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin, Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, Known, Plain, same, spell
from mfsdp_lint.fixes.enabling.guide import Asked, Guide
from mfsdp_lint.fixes.requests import Need
from mfsdp_lint.megatron.conditions.applicability import Site
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.readers.overrides import OverriddenSettings, Override
from mfsdp_lint.rules.check import Remedy, Violation

Judge = Callable[[Sequence[Recipe]], Sequence[Violation]]
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
        changed = [Override(path, value, replace(place, value=value)) for path, value in values.items()]
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


def requirement(recipe: Recipe, variant: Variant, site: Site, guide: Guide, asked: Asked, judge: Judge) -> Requirement:
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
