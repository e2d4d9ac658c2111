"""What is dry-run: one way through one recipe, and what the rules say of it at the installed versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mfsdp_lint.dryrun.outcome import Settings
from mfsdp_lint.dryrun.plain import Given, given, recipe_of
from mfsdp_lint.recipe import Recipe, Variant
from mfsdp_lint.rules.check import Violation, violations
from mfsdp_lint.rules.model import Confirm, Rule
from mfsdp_lint.upstream.target import Target


@dataclass(frozen=True, slots=True)
class Subject:
    """A recipe, the variant of it that is run, its settings, and its findings at the versions of `target`.

    `codes` are the rules whose findings are tried, None for all; the mistakes that the others name are taken out.
    """

    recipe: Recipe
    variant: Variant
    given: Given
    violations: tuple[Violation, ...]
    target: Target
    codes: frozenset[str] | None = None

    def tried(self, tier: Confirm) -> list[Violation]:
        """The findings to try in a tier."""
        return [
            violation
            for violation in self.violations
            if tier_of(violation) == tier and (self.codes is None or violation.rule.code in self.codes)
        ]

    @property
    def label(self) -> str:
        """`path.py::recipe`, with the way through its code where there are several."""
        name = self.recipe.label if self.recipe.name == self.recipe.path else f"{self.recipe.path}::{self.recipe.label}"
        return f"{name} (when {' and '.join(self.variant.when)})" if self.variant.when else name


@dataclass(frozen=True, slots=True)
class Judge:
    """The rules, at the versions that are installed."""

    target: Target
    rules: Sequence[Rule]

    def subjects(self, recipes: Sequence[Recipe], *, every_way: bool = False) -> list[Subject]:
        """Of every recipe the way through its code with the most to try, or every way."""
        found = []
        for recipe in recipes:
            if recipe.front_end != "bridge":
                continue
            broken = violations([recipe], self.target, self.rules, lambda path: True)
            ways = [
                Subject(
                    recipe,
                    variant,
                    given(variant),
                    tuple(violation for violation in broken if violation.variant is variant),
                    self.target,
                )
                for variant in (*recipe.variants, *recipe.exposed)
            ]
            worth = sorted(ways, key=lambda way: -len([v for v in way.violations if can_be_tried(v)]))
            found += worth if every_way else worth[:1]
        return found

    def __call__(self, settings: Settings) -> list[Violation]:
        """What the rules say of settings."""
        return violations([recipe_of(settings)], self.target, self.rules, lambda path: True)


def tier_of(violation: Violation) -> Confirm:
    """The lowest tier that can decide a finding. Validation has no say in what only happens after it."""
    confirm = violation.rule.confirm
    return "cpu" if confirm == "introspect" and violation.case.stage in ("wrap", "first-step") else confirm


def can_be_tried(violation: Violation) -> bool:
    """Whether a dry run without a GPU can decide it."""
    return tier_of(violation) in ("introspect", "cpu")


def without_environment(settings: Settings) -> Settings:
    """The settings that are not environment variables."""
    return {path: value for path, value in settings.items() if not path.startswith("env.")}
