"""`mfsdp-lint runs [PATHS]`: the training runs that launch scripts start."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_output, add_what_is_read, print_json, read_asked, tell
from mfsdp_lint.core.recipe import LaunchCommand, Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE, will_run
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.reports.audit.columns import COLUMNS
from mfsdp_lint.reports.json import recipe_document, target_document
from mfsdp_lint.reports.wording import count, printable

SUMMARY = "Lists the training runs that the launch scripts of a project start, with recipe, overrides and environment."

EXAMPLES = (
    ("mfsdp-lint runs", "every run that the scripts here start"),
    ("mfsdp-lint runs jobs/all.sh[2] --output-format json", "the second run of a script, for programs"),
)

FORMATS = ("text", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files, directories, launch.sh[2] (its second run), @FILE"
    )
    add_what_is_read(OptionList(parser, "what is read"))
    add_output(parser, FORMATS)


def main(arguments: argparse.Namespace) -> int:
    """Print a line a run, or a document. Exit code 0, 1 where a file cannot be read, 2 where one is not there."""
    asked, _, found = read_asked(arguments, only_runs=True)
    runs = [
        _document(recipe, recipe.command, asked.targets_at(recipe.path)[0])
        for recipe in found.recipes
        if recipe.command
    ]
    # Several files may start the same script.
    missed = list({(each.point, each.message): each for each in found.unfollowed if each.kind == "launch"}.values())
    if arguments.output_format == "json":
        not_followed = [{"path": each.point.path, "line": each.point.line, "message": each.message} for each in missed]
        print_json({"target": target_document(asked.target), "runs": runs, "not_followed": not_followed})
    else:
        lines = [printable(_line(run)) for run in runs]
        lines += [printable(f"{each.point.path}:{each.point.line}: not followed: {each.message}") for each in missed]
        number = count(len(runs), "run") if runs else "no runs"
        lines.append(f"{number}, as configured for {printable(asked.target.label)}")
        terminal.show("".join(f"{line}\n" for line in lines))
    return tell(found.remarks, found.problems)


_SHOWN = tuple(column for column in COLUMNS if column.title in ("FSDP", "strategy", "format", "TP/PP/CP/EP"))
_MOST_NAMED = 3
_KNOBS = ("CUDA_", "NCCL_", "NVTE_", "PYTORCH_", "TORCH_", "TORCHINDUCTOR_", "NVSHMEM_", "MAMBA_")
"""Beginnings of the names of variables that decide how a run goes."""


def _line(run: dict[str, Any]) -> str:
    """Write the steps to the run, and the settings that it has in the end."""
    steps = [run["qualified_name"], run["program"], run["recipe"], *run["files"]]
    for words in (run["overrides"], [each for each in run["environment"] if each.startswith(_KNOBS)]):
        more = [f"and {len(words) - _MOST_NAMED} more"] if len(words) > _MOST_NAMED else []
        steps.append(" ".join([*words[:_MOST_NAMED], *more]))
    if run["requires"]:
        steps.append(f"given {', '.join(run['requires'])}")
    ends = [f"{title} {cell}" for title, cell in run["runs"].items()]
    ends += [] if run["world_size"] is None else [f"{run['world_size']} ranks"]
    return " → ".join([*filter(None, steps), ", ".join(ends)])


def _by_name(words: Sequence[str]) -> list[str]:
    """Write each name once, with its values on the different ways: `a=1|2`."""
    found: dict[str, dict[str, None]] = {}
    for name, equals, value in (word.partition("=") for word in words):
        found.setdefault(name + equals, {})[value] = None
    return [name + "|".join(values) for name, values in found.items()]


def _document(recipe: Recipe, command: LaunchCommand, target: Target) -> dict[str, Any]:
    after, ranks = will_run(recipe, target), recipe.setting(WORLD_SIZE).value
    return {
        **recipe_document(recipe),
        "program": command.program,
        "recipe": "|".join(command.recipes) or None,
        "files": list(command.files),
        "overrides": _by_name(command.overrides),
        "environment": _by_name(command.environment),
        "requires": list(command.requires),
        "runs": {column.title: column.both(recipe, after) for column in _SHOWN},
        "world_size": ranks.value if isinstance(ranks, Known) else None,
    }
