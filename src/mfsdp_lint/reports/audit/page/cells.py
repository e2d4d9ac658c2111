"""Cells of the page, one for each setting of a recipe: its value, the value's origin, and what replaces it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from mfsdp_lint.core.recipe import Origin, Recipe, Setting
from mfsdp_lint.core.values import UNKNOWN, Value, describe
from mfsdp_lint.readers.command_line_overrides import COMMAND_LINE
from mfsdp_lint.reports.audit.page.tables import NOTHING, Tables

Kind = Literal["nobody", "default", "upstream", "helper", "here", "startup"]
"""Where a value comes from: nobody is known to write it; its declared default; upstream's code; another function or
file at hand; the recipe itself, the top level of its file, or its launch; or start-up sets another."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""From what is least worth a look to what is most: of several settings in one column the last counts."""

IsAtHand = Callable[[str], bool]
"""Whether a path is one of the files that were read."""


def cell_of(recipe: Recipe, written: Setting, run: Setting | None, tables: Tables, at_hand: IsAtHand) -> int:
    """Return the number of the cell; `run` is the setting after start-up, if that is another."""
    kind: Kind = "startup" if run else kind_of(recipe, written.origin, at_hand)
    origin = tables.origin(written.origin) if written.origin else NOTHING
    unwritten = run is not None and written.origin is None and written.value == UNKNOWN
    row = (NOTHING if unwritten else tables.text(shown(written.value)), KINDS.index(kind), origin)
    return tables.cells.number(row if run is None else (*row, *_replaced(run, tables)))


def _replaced(run: Setting, tables: Tables) -> tuple[int, int, int]:
    """Return the value after start-up, the step of start-up that replaces it, and the place of that step."""
    origin = run.origin
    if origin is None or origin.how != "startup":
        return tables.text(shown(run.value)), NOTHING, NOTHING
    place = tables.place(origin.span, origin.function, origin.upstream)
    return tables.text(shown(run.value)), tables.text(origin.because), place


def kind_of(recipe: Recipe, origin: Origin | None, at_hand: IsAtHand) -> Kind:
    """Classify the place of the text that decides a value."""
    if origin is None:
        return "nobody"
    if origin.how == "default":
        return "default"
    path, function = _deciding(origin)
    if path == COMMAND_LINE:
        return "here"
    if path == recipe.path and (recipe.kind != "function" or function in ("", recipe.name)):
        return "here"
    if at_hand(path) or not origin.upstream:
        return "helper"
    return "upstream"


def _deciding(origin: Origin) -> tuple[str, str]:
    if not origin.sources:
        return origin.span.path, origin.function
    return origin.sources[-1].span.path, origin.sources[-1].function


def shown(value: Value) -> str:
    """Write a value as a person would; `?` if nothing is known."""
    return "?" if value == UNKNOWN else describe(value)
