"""`mfsdp-lint audit [PATHS]`: the effective configuration of every recipe."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from mfsdp_lint.commands.arguments import add_output, add_what_is_read, options_from, tell, tell_unfollowed
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.versions.target import Target

SUMMARY = "Shows what every recipe really configures, defaults and helpers included."

EXAMPLES = (
    ("mfsdp-lint audit recipes/ --settings ddp", "one section of every recipe"),
    ("mfsdp-lint audit recipes/llama.py::pretrain --output-format json", "one recipe, for programs"),
)

FORMATS = ("table", "json", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None means "not given"."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, directories, path.py::function(name=value), @FILE (default: here)",
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument(
        "--settings", action="append", metavar="GLOB", help="only these settings (ddp, *.use_megatron_fsdp); repeatable"
    )
    shown.add_argument(
        "--recipe", action="append", metavar="NAME", help="only recipes of this name or glob; repeatable"
    )
    shown.add_argument("--show-unfollowed", action="store_true", help="list code that could not be followed")
    add_what_is_read(parser.add_argument_group("what is read"))
    add_output(parser, FORMATS)


def main(arguments: argparse.Namespace) -> int:
    """Prints the table or document. Exit code 0, 1 where a file cannot be read, 2 where one is not there."""
    given = vars(arguments)
    options = options_from({**given, "output_format": None})
    asked, not_there = question(options)
    found = read(asked, Sources(asked.command_line.texts))
    recipes = [recipe for recipe in found.recipes if _wanted(recipe, arguments.recipe)]
    globs = arguments.settings or ()
    output_format = arguments.output_format or FORMATS[0]
    sys.stdout.writelines(_rendered(output_format, recipes, asked.target, globs, found.unfollowed))
    if output_format == "table":
        tell_unfollowed(found.unfollowed, every=bool(arguments.show_unfollowed))
    return tell(found.remarks, (*not_there, *found.problems))


def _wanted(recipe: Recipe, names: Sequence[str] | None) -> bool:
    if not names:
        return True
    return any(fnmatchcase(known, name) for name in names for known in (recipe.name, recipe.qualified_name))


def _rendered(
    output_format: str,
    recipes: Sequence[Recipe],
    target: Target,
    globs: Sequence[str],
    unfollowed: Sequence[Unfollowed],
) -> Iterable[str]:
    match output_format:
        case "json":
            from mfsdp_lint.reports.audit import json

            return json.render(recipes, target, globs, unfollowed)
        case "csv":
            from mfsdp_lint.reports.audit import csv

            return csv.render(recipes, globs)
        case _:
            from mfsdp_lint.reports.audit import table

            columns = shutil.get_terminal_size((table.WIDTH, 24)).columns
            return [table.render(recipes, target, globs, columns=columns)]
