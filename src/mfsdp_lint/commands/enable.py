"""`mfsdp-lint enable ADDRESS`: what to write so that a recipe trains with Megatron-FSDP."""

from __future__ import annotations

import argparse
import sys

from mfsdp_lint.commands.arguments import add_what_is_read, options_from, tell
from mfsdp_lint.enabling.guide import STRATEGY, Asked
from mfsdp_lint.enabling.outcome import Enabling
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.reports.enabling import render
from mfsdp_lint.vocabulary import table

SUMMARY = (
    "Turns Megatron-FSDP on in a recipe as NVIDIA's guides describe it, with whatever else the rules require, "
    "and proves that nothing else changes. Shows the change as a patch, unless it is to be written."
)

EXAMPLES = (
    ("mfsdp-lint enable recipes/llama.py::pretrain", "show the patch"),
    ("mfsdp-lint enable recipes/llama.py::pretrain --write", "make the change"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None means "not given"."""
    parser.add_argument("address", metavar="ADDRESS", help="path.py::function, or a file with one recipe (path.yaml)")
    parser.add_argument("--write", action="store_true", help="change the file instead of showing a patch")
    parser.add_argument(
        "--save", metavar="DIR", help="where checkpoints are saved, and read from by a run that resumes"
    )
    parser.add_argument("--strategy", metavar="NAME", default=STRATEGY, help=f"what is sharded (default: {STRATEGY})")
    add_what_is_read(parser.add_argument_group("what is read"), launch=False)
    parser.add_argument("--config", metavar="FILE", help="read [tool.mfsdp-lint] from FILE")


def main(arguments: argparse.Namespace) -> int:
    """Prints or writes. Exit code 0: it is on now, or would be; 1: no edit can make it run, or none was written.

    Raises UsageError.
    """
    options = options_from({**vars(arguments), "paths": (arguments.address,), "output_format": None})
    _check_strategy(arguments.strategy)

    from mfsdp_lint.engine.enable import enable

    outcome = enable(options, Asked(arguments.strategy, arguments.save))
    if not isinstance(outcome, Enabling):
        return tell((), outcome)
    left = _write(outcome) if arguments.write else ()
    if not arguments.write:
        sys.stdout.flush()
        sys.stdout.buffer.write(outcome.patch)
        sys.stdout.buffer.flush()
    for line in left or render(outcome, written=arguments.write):
        print(f"mfsdp-lint: {line}", file=sys.stderr)
    return int(bool(outcome.reasons or left))


def _write(outcome: Enabling) -> tuple[str, ...]:
    """What could not be written, and why."""
    from mfsdp_lint.engine import write

    if outcome.fixed is None:
        return ()
    blocked = write.not_writable(outcome.fixed.texts, outcome.sources)
    return tuple(write.left(blocked)) or write.write(outcome.fixed, outcome.sources).left


def _check_strategy(name: str) -> None:
    """Raises UsageError for what is no sharding strategy."""
    entry = table().entry("ddp.data_parallel_sharding_strategy")
    choices = entry.choices if entry else ()
    if name not in choices:
        raise UsageError(f"--strategy {name}: expected one of {', '.join(map(str, choices))}")
