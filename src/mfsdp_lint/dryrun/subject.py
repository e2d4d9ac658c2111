"""Subject of a dry run: one way through one recipe, and its violations at the installed versions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, UNKNOWN
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.dryrun.plain import Given, given, recipe_of
from mfsdp_lint.dryrun.supposed import LOADS, SAVE
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.readers.command_line_overrides import parse
from mfsdp_lint.readers.overrides import override
from mfsdp_lint.rules.check import Violation, violations
from mfsdp_lint.rules.model import Confirm, Rule


@dataclass(frozen=True, slots=True)
class Subject:
    """A recipe, the variant of it that is run, its settings, and its findings at the versions of `target`.

    `codes` are the rules whose findings are tried, None for all; the mistakes that the others name are taken out.
    `learnt` are the settings that are known because the recipe's own code was run.
    """

    recipe: Recipe
    variant: Variant
    given: Given
    violations: tuple[Violation, ...]
    target: Target
    codes: frozenset[str] | None = None
    learnt: tuple[str, ...] = ()

    def tried(self, *tiers: Confirm) -> list[Violation]:
        """Return the findings to try in these tiers."""
        return [
            violation
            for violation in self.violations
            if tier_of(violation) in tiers and (self.codes is None or violation.rule.code in self.codes)
        ]

    @property
    def label(self) -> str:
        """`path.py::recipe`, with the way through its code where there are several."""
        name = self.recipe.label if self.recipe.name == self.recipe.path else f"{self.recipe.path}::{self.recipe.label}"
        return f"{name} (when {' and '.join(self.variant.when)})" if self.variant.when else name


@dataclass(frozen=True, slots=True)
class Examiner:
    """The rules, at the versions that are installed, for recipes that `front_end` reads.

    `trained` are the tiers that training here decides.
    """

    target: Target
    rules: Sequence[Rule]
    trained: tuple[Confirm, ...] = ("cpu",)
    front_end: FrontEnd = BRIDGE

    def subjects(self, recipes: Sequence[Recipe], *, every_path: bool = False) -> list[Subject]:
        """Return, for every recipe, the way through its code with the most to try, or every way."""
        found = []
        for recipe in recipes:
            if recipe.front_end != self.front_end:
                continue
            broken = violations([recipe], self.target, self.rules, lambda path: True)
            ways = [
                Subject(
                    recipe,
                    variant,
                    self.given(variant),
                    tuple(violation for violation in broken if violation.variant is variant),
                    self.target,
                )
                for variant in (*recipe.variants, *recipe.exposed)
            ]
            worth = sorted(ways, key=lambda way: -len([v for v in way.violations if can_be_tried(v, *self.trained)]))
            found += worth if every_path else worth[:1]
        return found

    def given(self, variant: Variant) -> Given:
        """Return the settings of a variant that a worker can be given."""
        return given(variant, defaults=not self.front_end.takes_flags)

    def __call__(self, settings: PlainSettings) -> list[Violation]:
        """Return the violations of settings."""
        return self._of(settings)

    def every(self, settings: PlainSettings) -> list[Violation]:
        """Return the violations, then those that say nothing new beside a stronger rule: validation may refuse one of
        them first.
        """
        return [*self(settings), *self._of(settings, every=True)]

    def _of(self, settings: PlainSettings, *, every: bool = False) -> list[Violation]:
        recipe = replace(recipe_of(settings), front_end=self.front_end)
        return violations([recipe], self.target, self.rules, lambda path: True, every=every)


def saving(recipe: Recipe) -> Recipe:
    """Make the recipe save, and load its save, for a run that is to do so whatever the recipe says."""
    wanted = [path for path in ("checkpoint.save", "checkpoint.load") if not _says(recipe, path)]
    return override(recipe, parse([f"{path}={SAVE}" for path in wanted], []).overrides) if wanted else recipe


def _says(recipe: Recipe, path: str) -> bool:
    """Tell whether a recipe itself sets a path; the paths of a load count as one."""
    paths = LOADS if path in LOADS else (path,)
    return any(variant.value(path) not in (NONE, UNKNOWN) for variant in recipe.variants for path in paths)


def tier_of(violation: Violation) -> Confirm:
    """Return the lowest tier that can decide a finding. Validation has no say in failures that only happen after it.

    Refusals of a command line need nothing but its own validation; nothing else of it is tried.
    """
    if violation.recipe.front_end.takes_flags:
        return "introspect" if violation.case.stage == "startup" else "none"
    confirm = violation.case.confirm
    return "cpu" if confirm == "introspect" and violation.case.stage in ("wrap", "first-step") else confirm


def can_be_tried(violation: Violation, *trained: Confirm) -> bool:
    """Tell whether a dry run can decide the finding: validation, or training that decides these tiers (without any:
    the CPU's).
    """
    return tier_of(violation) in ("introspect", *(trained or ("cpu",)))


def without_environment(settings: PlainSettings, keeps: Collection[str] = ()) -> PlainSettings:
    """Return the settings that are not environment variables, but for those to keep."""
    return {path: value for path, value in settings.items() if path in keeps or not path.startswith("env.")}
