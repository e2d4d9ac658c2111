"""An upgrade as the audit's page: the recipes under both releases to compare, and what changes, by cause."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import describe
from mfsdp_lint.engine.judge import Judgement
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.reports.audit.page import Side, render, side_document
from mfsdp_lint.reports.places import text_of
from mfsdp_lint.reports.summary import recipe_states, summarise
from mfsdp_lint.reports.text import lines_of
from mfsdp_lint.reports.wording import printable
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.upgrade.changes import Change
from mfsdp_lint.upgrade.report import CAUSES, instead_of, meaning_of, wanted
from mfsdp_lint.upgrade.run import Upgrade


def render_page(found: Upgrade) -> str:
    """Render the page. Raises ImportError without Jinja2."""
    findings = [cause.finding for cause in found.after.causes]
    return render(
        [side_document(_side(found.after, found.new)), side_document(_side(found.before, found.old))],
        sorted(findings, key=lambda each: each.order),
        load_rules(),
        summarise(findings, (found.new,), files=found.files, recipes=found.recipes),
        lambda path: text_of(path, found.after.sources),
        upgrade=_document(found),
    )


def _side(judgement: Judgement, target: Target) -> Side:
    def place(recipe: Recipe) -> tuple[str, int, str]:
        return recipe.path, recipe.line, recipe.label

    recipes = sorted(judgement.recipes, key=place)
    states = recipe_states(recipes, judgement.causes, lambda code, severity: severity)
    at_hand = frozenset(recipe.path for recipe in recipes).__contains__
    lines = lines_of(lambda path: text_of(path, judgement.sources))
    return Side(target.name, target, recipes, states, lines, at_hand)


def _document(found: Upgrade) -> dict[str, Any]:
    return {
        "old": printable(found.old.label),
        "new": printable(found.new.label),
        "equal": found.compared.equal,
        "breaks": [
            {
                "place": printable(f"{each.span.path}:{each.span.line}"),
                "message": printable(f"{each.message}{instead_of(each)}"),
                "reason": printable(each.reason),
                "edited": bool(each.edits),
                "perhaps": [
                    printable(": ".join(filter(None, (".".join(other.name), "; ".join(other.differs)))))
                    for other in (() if each.successor else each.candidates)
                ],
            }
            for each in found.breaks
        ],
        "causes": [
            {"title": CAUSES[cause], "changes": [_change(each) for each in changes]}
            for cause, changes in groupby(found.changes, key=lambda each: each.cause)
        ],
        "wants": list(wanted(found)),
        "moved": [[printable(each) for each in pair] for pair in sorted(found.compared.moved.items())],
        "undecided": [[printable(path), number] for path, number in sorted(found.compared.undecided.items())],
        "appeared": [[each.code, printable(each.message), printable(each.span.path)] for each in found.appeared],
        "gone": [[each.code, printable(each.message), printable(each.span.path)] for each in found.gone],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "setting": printable(change.path),
        "meaning": meaning_of(change.path) or "",
        "old": printable(describe(change.old)),
        "new": printable(describe(change.new)),
        "places": [[printable(old), printable(new)] for old, new in change.places],
        "recipes": [printable(each) for each in change.recipes],  # which is what the page's script calls them
    }
