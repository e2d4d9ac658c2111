"""`mfsdp-lint runs [PATHS]`: the training runs that launch scripts start."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import add_output, add_what_is_read, print_json, read_asked, tell
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE, will_run
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.reports.audit.columns import COLUMNS
from mfsdp_lint.reports.json import recipe_document, target_document
from mfsdp_lint.reports.wording import count, printable

SUMMARY = "Lists the runs that the launch scripts of a project start, and what each comes to."

EXAMPLES = (
    ("mfsdp-lint runs", "every run that the scripts here start"),
    ("mfsdp-lint runs jobs/all.sh[2] --output-format json", "the second run of a script, for programs"),
)

FORMATS = ("text", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, directories, launch.sh[2] (its second run), @FILE",
    )
    add_what_is_read(parser.add_argument_group("what is read"))
    add_output(parser, FORMATS)


def main(arguments: argparse.Namespace) -> int:
    """Print a line a run, or a document. Exit code 0, 1 where a file cannot be read, 2 where one is not there."""
    asked, _, found = read_asked(arguments, only_runs=True)
    recipes = [recipe for recipe in found.recipes if recipe.command is not None]
    if arguments.output_format == "json":
        runs = [_document(recipe, asked.target) for recipe in recipes]
        print_json({"target": target_document(asked.target), "runs": runs})
    else:
        lines = [printable(_ARROW.join(_line(recipe, asked.target))) for recipe in recipes]
        number = count(len(recipes), "run") if recipes else "no runs"
        lines.append(f"{number}, as configured for {printable(asked.target.label)}")
        terminal.show("".join(f"{line}\n" for line in lines))
    return tell(found.remarks, found.problems)


_ARROW = " → "
_SHOWN = tuple(column for column in COLUMNS if column.title in ("FSDP", "strategy", "format", "TP/PP/CP/EP"))
_MOST_NAMED = 3
_KNOBS = ("CUDA_", "NCCL_", "NVTE_", "PYTORCH_", "TORCH_", "TORCHINDUCTOR_", "NVSHMEM_", "MAMBA_")
"""Beginnings of the names of variables that decide how a run goes."""


def _line(recipe: Recipe, target: Target) -> Iterator[str]:
    """Yield the steps to the run, and the settings that it has in the end."""
    assert recipe.command is not None
    command = recipe.command
    yield recipe.qualified_name
    yield command.program
    yield from filter(None, (command.recipe, *command.files))
    knobs = [each for each in command.environment if each.startswith(_KNOBS)]
    yield from filter(None, (_some(command.overrides), _some(knobs)))
    ranks = _ranks(recipe)
    cells = [f"{title} {cell}" for title, cell in _cells(recipe, target).items()]
    yield ", ".join((*cells, *(() if ranks is None else (f"{ranks} ranks",))))


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MOST_NAMED
    return " ".join((*words[:_MOST_NAMED], *((f"and {more} more",) if more > 0 else ())))


def _cells(recipe: Recipe, target: Target) -> dict[str, str]:
    run = will_run(recipe, target)
    return {column.title: column.both(recipe, run) for column in _SHOWN}


def _ranks(recipe: Recipe) -> Any:
    """Return the number of ranks; None if it is not known."""
    ranks = recipe.setting(WORLD_SIZE).value
    return ranks.value if isinstance(ranks, Known) else None


def _document(recipe: Recipe, target: Target) -> dict[str, Any]:
    assert recipe.command is not None
    command = recipe.command
    return {
        **recipe_document(recipe),
        "program": command.program,
        "recipe": command.recipe or None,
        "files": list(command.files),
        "overrides": list(command.overrides),
        "environment": list(command.environment),
        "runs": _cells(recipe, target),
        "world_size": _ranks(recipe),
    }
