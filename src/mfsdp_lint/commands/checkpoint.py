"""`mfsdp-lint checkpoint DIR …`: what a checkpoint's folder holds, and what is wrong with it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import add_output, add_what_is_read, options_from, tell
from mfsdp_lint.commands.why import only
from mfsdp_lint.inputs.options import UsageError

if TYPE_CHECKING:
    from mfsdp_lint.checkpoints.iteration import CheckpointFolder
    from mfsdp_lint.checkpoints.loading import Answer

SUMMARY = (
    "Tells which format a checkpoint has, which iterations there are and whether they are whole. Nothing in it is "
    "unpickled, and torch is not needed."
)

EXAMPLES = (
    ("mfsdp-lint checkpoint /results/checkpoints", "what there is, and whether it is whole"),
    ("mfsdp-lint checkpoint /results/checkpoints --for recipes/llama.py::pretrain", "whether a recipe can load it"),
)

FORMATS = ("text", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a folder as `checkpoint.load` names it")
    parser.add_argument(
        "--for",
        dest="recipe",
        metavar="ADDRESS",
        help="path.py::function of a recipe: whether it can load that, else the commands that convert it",
    )
    add_what_is_read(parser.add_argument_group("what is read of the recipe"))
    add_output(parser, FORMATS)


def main(arguments: argparse.Namespace) -> int:
    """Print the contents of checkpoints.

    Exit code 0, 1 where a checkpoint has an error, or a recipe cannot load it. Raises UsageError.
    """
    from mfsdp_lint.checkpoints.folder import NoFolder, checkpoint
    from mfsdp_lint.reports import checkpoint as report

    try:
        found = [checkpoint(folder) for folder in arguments.folders]
    except NoFolder as error:
        raise UsageError(str(error)) from None
    answers = _answers(arguments, found) if arguments.recipe else ()
    if arguments.output_format == "json":
        import json

        terminal.document([json.dumps(report.document(found, answers), indent=2), "\n"])
    else:
        terminal.show(report.text(found, answers))
    broken = any(trouble.weight == "error" for each in found for trouble in each.every_trouble)
    return int(broken or any(each.loads is False for each in answers))


def _answers(arguments: argparse.Namespace, found: Sequence[CheckpointFolder]) -> tuple[Answer, ...]:
    """Tell of each checkpoint whether the recipe can load it. Raises UsageError."""
    from mfsdp_lint.checkpoints.loading import answer
    from mfsdp_lint.engine.read import question, read
    from mfsdp_lint.inputs.sources import Sources

    options = options_from({**vars(arguments), "output_format": None, "paths": (arguments.recipe,)})
    asked, not_there = question(options)
    known = read(asked, Sources(asked.command_line.texts))
    if tell(known.remarks, (*not_there, *known.problems)):
        raise UsageError(f"{arguments.recipe}: cannot be read")
    recipe = only(known.recipes, arguments.recipe)
    return tuple(answer(each, recipe, asked.target) for each in found)
