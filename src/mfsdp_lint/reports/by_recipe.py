"""Findings recipe by recipe: the ready ones, the mistakes in the others, and the changes to make first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import SEVERITIES, Safety, Severity
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import spell
from mfsdp_lint.reports.summary import Summary, summary_line
from mfsdp_lint.reports.wording import count, printable

if TYPE_CHECKING:
    from mfsdp_lint.rules.check import Violation
    from mfsdp_lint.rules.findings import FindingGroup


@dataclass(frozen=True, slots=True)
class RecipeTrouble:
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
    troubles: tuple[RecipeTrouble, ...]

    @property
    def pressing(self) -> tuple[RecipeTrouble, ...]:
        """Troubles that need attention: an info never fails."""
        return tuple(each for each in self.troubles if each.severity != "info")

    @property
    def ready(self) -> bool:
        """True if the recipe runs as meant, as far as is known."""
        return not self.pressing


Level = Callable[[str, Severity], Severity]
"""The severity that counts for a code, instead of the rule's own."""


def by_recipe(recipes: Sequence[Recipe], causes: Iterable[FindingGroup], level: Level) -> tuple[RecipeState, ...]:
    """List every recipe once, in the order of the files; silenced findings are left out."""
    found: dict[tuple[str, int, str], dict[tuple[str, str], RecipeTrouble]] = {_key(recipe): {} for recipe in recipes}
    for cause in causes:
        if cause.finding.suppressed is None:
            for violation in cause.violations:
                trouble = _trouble(violation, cause.finding.fingerprint, level)
                found[_key(violation.recipe)].setdefault((trouble.code, trouble.message), trouble)

    def weight(trouble: RecipeTrouble) -> tuple[int, str]:
        return SEVERITIES.index(trouble.severity), trouble.code

    return tuple(
        RecipeState(name, path, line, tuple(sorted(troubles.values(), key=weight)))
        for (path, line, name), troubles in sorted(found.items())
    )


def _key(recipe: Recipe) -> tuple[str, int, str]:
    return recipe.path, recipe.line, recipe.label


def _trouble(violation: Violation, fingerprint: str, level: Level) -> RecipeTrouble:
    code, remedy = violation.rule.code, violation.remedy
    when = f" when called with {violation.variant.when[0]}" if violation.variant.exposed else ""
    changes = [f"{path} = {spell(value)}" for path, value in remedy.set.items()] if remedy else []
    changes += [f"{path} not set" for path in remedy.unset] if remedy else []
    wrong = (path for setting in violation.rule.blame.value for path in setting.deciding(violation.seen))
    return RecipeTrouble(
        code,
        level(code, violation.severity),
        violation.case.message.of(violation.seen) + when,
        next((path for path in wrong if path in violation.witnesses), violation.primary.setting),
        tuple(changes),
        remedy.safety if remedy and changes else None,
        fingerprint,
    )


def render(recipes: Sequence[RecipeState], summary: Summary, *, concise: bool) -> str:
    """Render a block for each recipe, or one line with `concise`, the number of ready ones, and the summary line."""
    ready = sum(recipe.ready for recipe in recipes)
    blocks = [_line(recipe) if concise else "\n".join(_block(recipe)) for recipe in recipes]
    total = f"{ready} of {count(len(recipes), 'recipe')} ready"
    return "\n".join([*blocks, *([] if concise else [""]), total, summary_line(summary)]) + "\n"


def _place(recipe: RecipeState) -> str:
    return f"{printable(recipe.path)}:{recipe.line}: {printable(recipe.name)}"


def _line(recipe: RecipeState) -> str:
    """Write `recipes/llama.py:14: llama3_8b: MFSDP101, MFSDP301; first checkpoint.ckpt_format = "fsdp_dtensor"`."""
    if recipe.ready:
        return f"{_place(recipe)}: ready"
    codes = ", ".join(dict.fromkeys(each.code for each in recipe.pressing))
    return f"{_place(recipe)}: {codes}; first {', '.join(_first(recipe))}"


def _block(recipe: RecipeState) -> Iterator[str]:
    if recipe.ready:
        yield f"{_place(recipe)}: ready"
        return
    yield _place(recipe)
    for each in recipe.pressing:
        yield f"  {each.severity} {each.code} {printable(each.message)}"
    yield f"  must change first: {', '.join(_first(recipe))}"


def _first(recipe: RecipeState) -> list[str]:
    """List the changes for the most severe findings; if no fix is known, the setting that a person has to change."""
    severest = recipe.pressing[0].severity
    pressing = [each for each in recipe.pressing if each.severity == severest]
    changes = (printable(change) for each in pressing for change in each.changes)
    unknown = (f"{each.setting or 'what is written'} by hand ({each.code})" for each in pressing if not each.changes)
    return list(dict.fromkeys((*unknown, *changes)))
