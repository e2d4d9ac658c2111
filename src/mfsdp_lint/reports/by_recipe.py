"""Findings recipe by recipe: how far each recipe is from running, and the changes to make first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import SEVERITIES, Safety, Severity
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import spell

if TYPE_CHECKING:
    from mfsdp_lint.rules.check import Violation
    from mfsdp_lint.rules.findings import Cause


@dataclass(frozen=True, slots=True)
class Trouble:
    """A rule's finding in a recipe, and the setting whose value is wrong.

    `changes` remove it; they are empty if no fix is known, and a person has to decide.
    """

    code: str
    severity: Severity
    message: str
    setting: str
    changes: tuple[str, ...]
    safety: Safety | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RecipeState:
    """A recipe and all that is wrong with it, the most severe first."""

    name: str
    path: str
    line: int
    troubles: tuple[Trouble, ...]

    @property
    def pressing(self) -> tuple[Trouble, ...]:
        """Troubles that need attention: an info never fails."""
        return tuple(each for each in self.troubles if each.severity != "info")

    @property
    def ready(self) -> bool:
        """True if the recipe runs as meant, as far as is known."""
        return not self.pressing


Level = Callable[[str, Severity], Severity]
"""The severity that counts for a code, instead of the rule's own."""


def by_recipe(recipes: Sequence[Recipe], causes: Iterable[Cause], level: Level) -> tuple[RecipeState, ...]:
    """List every recipe once, in the order of the files; silenced findings are left out."""
    found: dict[tuple[str, int, str], dict[tuple[str, str], Trouble]] = {_key(recipe): {} for recipe in recipes}
    for cause in causes:
        if cause.finding.suppressed is None:
            for violation in cause.violations:
                trouble = _trouble(violation, cause.finding.fingerprint)
                trouble = replace(trouble, severity=level(trouble.code, trouble.severity))
                found[_key(violation.recipe)].setdefault((trouble.code, trouble.message), trouble)
    return tuple(
        RecipeState(name, path, line, tuple(sorted(troubles.values(), key=_severity)))
        for (path, line, name), troubles in sorted(found.items())
    )


def _key(recipe: Recipe) -> tuple[str, int, str]:
    return recipe.path, recipe.line, recipe.label


def _severity(trouble: Trouble) -> tuple[int, str]:
    return SEVERITIES.index(trouble.severity), trouble.code


def _trouble(violation: Violation, fingerprint: str) -> Trouble:
    remedy, when = violation.remedy, ""
    if violation.variant.exposed:
        when = f" when called with {violation.variant.when[0]}"
    changes = [f"{path} = {spell(value)}" for path, value in remedy.set.items()] if remedy else []
    changes += [f"{path} not set" for path in remedy.unset] if remedy else []
    return Trouble(
        violation.rule.code,
        violation.severity,
        violation.case.message.of(violation.seen) + when,
        _about(violation),
        tuple(changes),
        remedy.safety if remedy and changes else None,
        fingerprint,
    )


def _about(violation: Violation) -> str:
    wrong = (path for setting in violation.rule.blame.value for path in setting.deciding(violation.seen))
    return next((path for path in wrong if path in violation.witnesses), violation.primary.setting)
