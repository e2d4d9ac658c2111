"""`mfsdp-lint enable ADDRESS`: the change that makes a recipe train with Megatron-FSDP."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_configuration, add_what_is_read, options_from, tell
from mfsdp_lint.fixes.enabling import STRATEGY, EnableOptions, Enabling
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.reports.summary import judged_against

SUMMARY = (
    "Turns Megatron-FSDP on in a recipe as NVIDIA's guides describe it, with everything else that the rules require, "
    "and proves that no other setting changes. Prints the change as a patch, unless --write is given."
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
        "--save", metavar="DIR", help="the folder in which checkpoints are saved, and from which a run resumes"
    )
    parser.add_argument(
        "--strategy", metavar="NAME", default=STRATEGY, help=f"the sharding strategy (default: {STRATEGY})"
    )
    add_what_is_read(OptionList(parser, "what is read"), launch=False)
    add_configuration(OptionList(parser, "configuration"))


def main(arguments: argparse.Namespace) -> int:
    """Print the patch or write it.

    Exit code 0: FSDP is on now, or would be; 1: no edit can make it run, or none was written. Raises UsageError.
    """
    options = options_from({**vars(arguments), "paths": (arguments.address,), "output_format": None})
    entry = table().entry("ddp.data_parallel_sharding_strategy")
    choices = entry.choices if entry else ()
    if arguments.strategy not in choices:
        raise UsageError(f"--strategy {arguments.strategy}: expected one of {', '.join(map(str, choices))}")

    from mfsdp_lint.engine import write
    from mfsdp_lint.engine.enable import enable

    outcome = enable(options, EnableOptions(arguments.strategy, arguments.save))
    if not isinstance(outcome, Enabling):
        return tell((), outcome)
    left: tuple[str, ...] = ()
    if outcome.fixed is not None:
        blocked = write.not_writable(outcome.fixed.texts, outcome.sources)
        left = tuple(write.left(blocked, tried=arguments.write))
        if arguments.write and not left:
            left = write.write(outcome.fixed, outcome.sources).left
    if not arguments.write and not left:
        terminal.data(outcome.patch)
    for line in left or _outcome_lines(outcome, written=arguments.write):
        terminal.note(line)
    return int(bool(outcome.reasons or left))


def _outcome_lines(outcome: Enabling, *, written: bool) -> Iterator[str]:
    """Yield lines for people beside the patch: the result first, then the reasons of a refusal, or further remarks."""
    path, name = outcome.recipe.path, outcome.recipe.name
    recipe = path if outcome.recipe.kind in ("overrides", "arguments", "configuration") else f"{path}::{name}"
    against = f"({judged_against(outcome.targets)})"
    if outcome.reasons:
        yield f"{recipe}: Megatron-FSDP cannot be turned on, nothing was changed {against}"
        yield from (f"  {reason}" for reason in outcome.reasons)
        return
    if outcome.fixed is None:
        yield f"{recipe}: Megatron-FSDP is on already as the guides describe it {against}"
    else:
        done = "Megatron-FSDP is on now" if written else "this turns Megatron-FSDP on (--write does it)"
        yield f"{recipe}: {done} {against}"
    yield from (f"  {each}" for each in outcome.required)
    if outcome.also:
        yield f"  built on it, and on as well: {', '.join(outcome.also)}"
    if outcome.fixed and outcome.switches:
        yield f"  it is on for every caller then, with {' or '.join(f'{name}=False' for name in outcome.switches)}, too"
    yield from (f"  note: {remark}" for remark in outcome.remarks)
    for each in outcome.rest:
        if each.severity == "warning":
            yield f"  it will run, with a warning: {each.rule.code} {each.case.message.of(each.seen)}"
