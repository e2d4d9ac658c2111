"""The runs that launch scripts start: for people a line each, what leads to it first, then what it comes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.core.recipe import Command, Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE, will_run
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.reports.audit.columns import COLUMNS, Column
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.reports.settings import recipe_document, target_document

ARROW = " → "
_TITLES = ("FSDP", "strategy", "format", "TP/PP/CP/EP")
_SHOWN: tuple[Column, ...] = tuple(column for column in COLUMNS if column.title in _TITLES)
_MOST_NAMED = 3
_KNOBS = ("CUDA_", "NCCL_", "NVTE_", "PYTORCH_", "TORCH_", "TORCHINDUCTOR_", "NVSHMEM_", "MAMBA_")
"""What the names of variables begin with that decide how a run goes."""


def render(recipes: Sequence[Recipe], target: Target) -> str:
    """Render a line for each run, and a last line with their number and the target."""
    lines = [printable(ARROW.join(_line(recipe, target))) for recipe in recipes]
    number = f"{len(recipes)} run{'' if len(recipes) == 1 else 's'}" if recipes else "no runs"
    return "".join(f"{line}\n" for line in (*lines, f"{number}, as configured for {printable(target.label)}"))


def _line(recipe: Recipe, target: Target) -> Iterator[str]:
    assert recipe.command is not None
    command = recipe.command
    yield recipe.qualified_name
    yield command.program
    yield from filter(None, (command.recipe, *command.files))
    yield from filter(None, (_some(command.overrides), _some(_knobs(command))))
    yield _comes_to(recipe, target)


def _knobs(command: Command) -> Sequence[str]:
    return [each for each in command.environment if each.startswith(_KNOBS)]


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MOST_NAMED
    return " ".join((*words[:_MOST_NAMED], *((f"and {more} more",) if more > 0 else ())))


def _comes_to(recipe: Recipe, target: Target) -> str:
    run = will_run(recipe, target)
    cells = [f"{column.title} {column.both(recipe, run)}" for column in _SHOWN]
    ranks = recipe.setting(WORLD_SIZE).value
    return ", ".join((*cells, *((f"{ranks.value} ranks",) if isinstance(ranks, Known) else ())))


def document(recipes: Sequence[Recipe], target: Target) -> dict[str, Any]:
    """Describe the runs for programs."""
    return {"target": target_document(target), "runs": [_document(recipe, target) for recipe in recipes]}


def _document(recipe: Recipe, target: Target) -> dict[str, Any]:
    assert recipe.command is not None
    command, run = recipe.command, will_run(recipe, target)
    ranks = recipe.setting(WORLD_SIZE).value
    return {
        **recipe_document(recipe),
        "program": command.program,
        "recipe": command.recipe or None,
        "files": list(command.files),
        "overrides": list(command.overrides),
        "environment": list(command.environment),
        "runs": {column.title: column.both(recipe, run) for column in _SHOWN},
        "world_size": ranks.value if isinstance(ranks, Known) else None,
    }
