"""Recipe by recipe: which are ready, what is wrong with the others, and what must change first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.reports.by_recipe import RecipeState
from mfsdp_lint.reports.printable import count, printable
from mfsdp_lint.reports.summary import Summary, summary_line


def render(recipes: Sequence[RecipeState], summary: Summary, *, concise: bool) -> str:
    """Render a block for each recipe, or one line with `concise`, the number of ready ones, and the summary line."""
    ready = sum(recipe.ready for recipe in recipes)
    blocks = [_line(recipe) if concise else "\n".join(_block(recipe)) for recipe in recipes]
    total = f"{ready} of {count(len(recipes), 'recipe')} ready"
    return "\n".join([*blocks, *([] if concise else [""]), total, summary_line(summary)]) + "\n"


def document(recipe: RecipeState) -> dict[str, Any]:
    """Describe one recipe for programs."""
    return {
        "name": recipe.name,
        "path": recipe.path,
        "line": recipe.line,
        "ready": recipe.ready,
        "findings": [
            {
                "code": each.code,
                "severity": each.severity,
                "message": each.message,
                "changes": list(each.changes),
                "safety": each.safety,
                "fingerprint": each.fingerprint,
            }
            for each in recipe.troubles
        ],
    }


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
