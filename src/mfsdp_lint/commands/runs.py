"""`mfsdp-lint runs [PATHS]`: the training runs that launch scripts start."""

from __future__ import annotations

import argparse

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import add_output, add_what_is_read, options_from, tell
from mfsdp_lint.core.records import replace
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.inputs.sources import Sources

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
    from mfsdp_lint.reports import runs

    options = options_from({**vars(arguments), "output_format": None})
    asked, not_there = question(options)
    asked = replace(asked, only_runs=True)
    found = read(asked, Sources(asked.command_line.texts))
    recipes = [recipe for recipe in found.recipes if recipe.command is not None]
    if arguments.output_format == "json":
        import json

        terminal.document([json.dumps(runs.document(recipes, asked.target), indent=2), "\n"])
    else:
        terminal.show(runs.render(recipes, asked.target))
    return tell(found.remarks, (*not_there, *found.problems))
