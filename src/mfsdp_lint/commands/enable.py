"""`mfsdp-lint enable ADDRESS`: what to write so that a recipe trains with Megatron-FSDP."""

from __future__ import annotations

import argparse

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import add_configuration, add_what_is_read, options_from, tell
from mfsdp_lint.fixes.enabling.guide import STRATEGY, Asked
from mfsdp_lint.fixes.enabling.outcome import Enabling
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.reports.enabling import render

SUMMARY = (
    "Turns Megatron-FSDP on in a recipe as NVIDIA's guides describe it, with whatever else the rules require, "
    "and proves that nothing else changes. Shows the change as a patch, unless it is to be written."
)

EXAMPLES = (
    ("mfsdp-lint enable recipes/llama.py::pretrain", "show the patch"),
    ("mfsdp-lint enable recipes/llama.py::pretrain --write", "make the change"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument("address", metavar="ADDRESS", help="path.py::function, or a file with one recipe (path.yaml)")
    parser.add_argument("--write", action="store_true", help="change the file instead of showing a patch")
    parser.add_argument(
        "--save", metavar="DIR", help="where checkpoints are saved, and read from by a run that resumes"
    )
    parser.add_argument("--strategy", metavar="NAME", default=STRATEGY, help=f"what is sharded (default: {STRATEGY})")
    add_what_is_read(parser.add_argument_group("what is read"), launch=False)
    add_configuration(parser.add_argument_group("configuration"))


def main(arguments: argparse.Namespace) -> int:
    """Print the patch or write it.

    Exit code 0: FSDP is on now, or would be; 1: no edit can make it run, or none was written. Raises UsageError.
    """
    options = options_from({**vars(arguments), "paths": (arguments.address,), "output_format": None})
    _check_strategy(arguments.strategy)

    from mfsdp_lint.engine import write
    from mfsdp_lint.engine.enable import enable

    outcome = enable(options, Asked(arguments.strategy, arguments.save))
    if not isinstance(outcome, Enabling):
        return tell((), outcome)
    left = _write(outcome) if arguments.write else tuple(write.left(_blocked(outcome), tried=False))
    if not arguments.write and not left:
        terminal.data(outcome.patch)
    for line in left or render(outcome, written=arguments.write):
        terminal.note(f"{line}")
    return int(bool(outcome.reasons or left))


def _write(outcome: Enabling) -> tuple[str, ...]:
    """Write the files; return those that could not be written, and why."""
    from mfsdp_lint.engine import write

    if outcome.fixed is None:
        return ()
    return tuple(write.left(_blocked(outcome))) or write.write(outcome.fixed, outcome.sources).left


def _blocked(outcome: Enabling) -> dict[str, str]:
    """Return the files that cannot be written, and why."""
    from mfsdp_lint.engine import write

    return {} if outcome.fixed is None else write.not_writable(outcome.fixed.texts, outcome.sources)


def _check_strategy(name: str) -> None:
    """Raise UsageError for a name that is no sharding strategy."""
    entry = table().entry("ddp.data_parallel_sharding_strategy")
    choices = entry.choices if entry else ()
    if name not in choices:
        raise UsageError(f"--strategy {name}: expected one of {', '.join(map(str, choices))}")
