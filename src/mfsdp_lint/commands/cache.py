"""`mfsdp-lint cache`: the folder that keeps the results of earlier runs."""

from __future__ import annotations

import argparse

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_configuration
from mfsdp_lint.engine import cache
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.options import merge
from mfsdp_lint.reports.wording import count

SUMMARY = "Shows or empties the cache of this project."

EXAMPLES = (
    ("mfsdp-lint cache path", "print the folder"),
    ("mfsdp-lint cache clean", "remove all results in it"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("action", choices=("path", "clean"), help="print the folder, or remove the results in it")
    add_configuration(OptionList(parser, "output and configuration"))


def main(arguments: argparse.Namespace) -> int:
    """Print the folder, or remove the cache's own files from it. Raises UsageError."""
    configured = {} if arguments.isolated else read_configuration(arguments.config)
    folder = cache.cache_folder(merge({"cache_dir": arguments.cache_dir}, configured))
    if not folder:
        terminal.show(f"no cache: {cache.VARIABLE} is empty\n")
    elif arguments.action == "path":
        terminal.show(f"{terminal.printable(folder)}\n")
    else:
        terminal.show(f"{terminal.printable(folder)}: {count(cache.clean(folder), 'file')} removed\n")
    return 0
