"""`mfsdp-lint snapshot CHECKOUT -o FILE`: the facts about a Megatron-Bridge release, read in its source."""

from __future__ import annotations

import argparse
import os

from mfsdp_lint import terminal
from mfsdp_lint.inputs.options import UsageError

SUMMARY = "Makes a snapshot of a Megatron-Bridge source tree. Nothing in the tree is imported or run."

EXAMPLES = (
    ("mfsdp-lint snapshot bridge/ --core core/ --release 0.6.0 -o bridge-0.6.0.snapshot", "from two source trees"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("checkout", metavar="CHECKOUT", help="a clone of Megatron-Bridge, or its wheel unpacked")
    parser.add_argument(
        "--core", metavar="TREE", help="the Megatron-LM that goes with it (default: CHECKOUT/3rdparty/Megatron-LM)"
    )
    parser.add_argument("--release", metavar="VERSION", help="the release of the tree, if its package_info.py is wrong")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where to write the snapshot")
    parser.add_argument("--verbose", action="store_true", help="print each module as it is done")


def main(arguments: argparse.Namespace) -> int:
    """Make the snapshot, write it, and return 0. Raises UsageError."""
    from mfsdp_lint.inputs.writing import replace_file
    from mfsdp_lint.snapshots import Snapshot
    from mfsdp_lint.snapshots.making import NoSource, make_snapshot

    say = (lambda text: terminal.notes(f"{text}\n")) if arguments.verbose else (lambda text: None)
    try:
        data = make_snapshot(arguments.checkout, arguments.core, say, arguments.release)
    except NoSource as error:
        raise UsageError(str(error)) from None
    try:
        replace_file(arguments.output, data)
    except OSError as error:
        raise UsageError(f"{arguments.output}: cannot be written: {error.strerror or error}") from None
    made = Snapshot(data)
    size = os.path.getsize(arguments.output) // 1024
    terminal.show(
        f"{arguments.output}: megatron-bridge {made.bridge} with megatron-core {made.core}, "
        f"{len(made.modules())} modules, {size} KiB\n"
    )
    return 0
