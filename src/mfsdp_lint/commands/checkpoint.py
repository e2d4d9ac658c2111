"""`mfsdp-lint checkpoint DIR …`: what a checkpoint's folder holds, and what is wrong with it."""

from __future__ import annotations

import argparse
import sys

from mfsdp_lint.inputs.options import UsageError

SUMMARY = (
    "Tells which format a checkpoint has, which iterations there are and whether they are whole. Nothing in it is "
    "unpickled, and torch is not needed."
)

FORMATS = ("text", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None means "not given"."""
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a folder as `checkpoint.load` names it")
    parser.add_argument("--output-format", choices=FORMATS, default="text")


def main(arguments: argparse.Namespace) -> int:
    """Prints what is found. Exit code 0, 1 where something is wrong with a checkpoint. Raises UsageError."""
    from mfsdp_lint.checkpoints.folder import NoFolder, checkpoint
    from mfsdp_lint.reports import checkpoint as report

    try:
        found = [checkpoint(folder) for folder in arguments.folders]
    except NoFolder as error:
        raise UsageError(str(error)) from None
    if arguments.output_format == "json":
        import json

        print(json.dumps(report.document(found), indent=2))
    else:
        sys.stdout.write(report.text(found))
    return int(any(trouble.weight == "error" for each in found for trouble in each.every_trouble))
