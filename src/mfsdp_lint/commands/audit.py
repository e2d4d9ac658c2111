"""`mfsdp-lint audit [PATHS]`: the effective configuration of every recipe."""

from __future__ import annotations

import argparse
import math
import re
import shutil
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mfsdp_lint import process, terminal
from mfsdp_lint.commands.arguments import (
    OptionList,
    add_output,
    add_what_is_read,
    needs_jinja,
    options_from,
    read_asked,
    tell,
    tell_unfollowed,
    write,
)
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.memory.counting import GivenParameters
from mfsdp_lint.memory.estimate import GIB, Limit, Memory, MemoryOf
from mfsdp_lint.reports.places import problems_in_files, recipes_in_files, unfollowed_in_files
from mfsdp_lint.rules.about_files import UNREADABLE

if TYPE_CHECKING:
    from mfsdp_lint.reports.audit.page import FormerReport

SUMMARY = "Shows the effective configuration of every recipe, with defaults and helpers."

EXAMPLES = (
    ("mfsdp-lint audit recipes/ --settings ddp", "one section of every recipe"),
    ("mfsdp-lint audit recipes/llama.py::pretrain --output-format json", "one recipe, for programs"),
    ("mfsdp-lint audit recipes/ --output-format html -o audit.html", "one page to explore"),
    ("mfsdp-lint audit recipes/llama.py::pretrain --memory --world-size 64", "bytes on each rank"),
    ("mfsdp-lint audit recipes/ --memory --world-size 64 --gpu h100", "whether it fits, and what would make it fit"),
    (
        "mfsdp-lint audit recipes/ --memory --world-size 64 --parameters 8.03B",
        "with a model that its recipe does not size",
    ),
)

FORMATS = ("table", "json", "csv", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, directories, path.py::function(name=value), @FILE (default: here)",
    )
    shown = OptionList(parser, "what is shown")
    shown.several("--settings", "GLOB", "only these settings (ddp, *.use_megatron_fsdp); repeatable")
    shown.several("--recipe", "NAME", "only recipes of this name or glob; repeatable")
    shown.flag("--show-unfollowed", "list the code that could not be evaluated, with the reason")
    shown.value("--since", "REV", "html: compare with the recipes at this git revision")
    shown.value("--former", "FILE", "html: show the trend since this report of mfsdp-lint --output-format json")
    memory = OptionList(parser, "memory")
    memory.flag(
        "--memory", "bytes of parameters, gradients, main parameters, optimizer states and activations on each rank"
    )
    memory.value("--world-size", "N", "the number of ranks, with --memory", type=_ranks)
    memory.value(
        "--parameters",
        "N[,EXPERTS]",
        "the number of parameters of the model (8.03B), and of its experts; default: computed from the settings",
        type=_parameters,
    )
    memory.value("--gpu", "NAME", "tell whether a recipe fits this GPU, with --memory (h100, b200, …)", type=_gpu)
    memory.value("--memory-limit", "SIZE", "tell whether a recipe fits this memory (80GiB, 64GB)", type=_limit)
    add_what_is_read(OptionList(parser, "what is read"))
    output = add_output(parser, FORMATS)
    output.value("-o", "--output-file", "FILE", "write the report to this file instead of stdout")


def main(arguments: argparse.Namespace) -> int:
    """Print the table or document. Exit code 0, 1 where a file cannot be read, 2 where one is not there."""
    if not arguments.memory and (
        arguments.world_size or arguments.parameters or arguments.gpu or arguments.memory_limit
    ):
        raise UsageError("--world-size, --parameters, --gpu and --memory-limit are about --memory")
    if arguments.gpu and arguments.memory_limit:
        raise UsageError("--gpu and --memory-limit both say the memory of a GPU")
    if arguments.output_format == "html":
        return _write_page(arguments)
    if arguments.since is not None:
        raise UsageError("--since: two revisions are compared in the page alone: --output-format html")
    if arguments.former is not None:
        raise UsageError("--former: only the page shows a trend: --output-format html")
    if arguments.memory and arguments.settings and arguments.output_format != "json":
        raise UsageError("--memory and --settings go together in JSON alone (--output-format json)")
    asked, sources, found = read_asked(arguments)
    found = replace(
        found,
        recipes=tuple(recipes_in_files(found.recipes, sources)),
        unfollowed=tuple(unfollowed_in_files(found.unfollowed, sources)),
        problems=tuple(problems_in_files(found.problems, sources)),
    )
    recipes = [recipe for recipe in found.recipes if _wanted(recipe.name, recipe.qualified_name, arguments.recipe)]
    globs = arguments.settings or ()
    output_format = arguments.output_format or FORMATS[0]
    memory_of = _memory_with(asked.target, arguments) if arguments.memory else None
    faults = Faults()

    def rendered(paths: Collection[str]) -> list[str]:
        shown = [recipe for recipe in recipes if recipe.path in paths]
        unfollowed = [each for each in found.unfollowed if each.path in paths]
        if output_format == "json":
            from mfsdp_lint.reports.audit import json

            return list(json.render(shown, asked.target, globs, unfollowed, memory_of))
        from mfsdp_lint.reports.audit import table

        if output_format == "csv":
            return list(table.memory_csv(shown, memory_of) if memory_of else table.csv_lines(shown, globs))
        if memory_of is not None:
            return [table.memory_table(shown, asked.target, memory_of)]
        columns = shutil.get_terminal_size((table.WIDTH, 24)).columns
        return [table.render(shown, asked.target, globs, columns=columns, fold=terminal.columns())]

    paths = [*(recipe.path for recipe in recipes), *(each.path for each in found.unfollowed)]
    pieces = faults.over_files(paths, rendered)
    if output_format == "table" and not arguments.output_file:
        terminal.show("".join(pieces))
    else:
        write(pieces, arguments.output_file)
    if output_format == "table":
        tell_unfollowed(found.unfollowed, every=bool(arguments.show_unfollowed))
    return tell(found.remarks, (*found.problems, *faults.problems))


def _memory_with(target: Target, arguments: argparse.Namespace) -> MemoryOf:
    """Return a function that estimates the memory of a recipe, with the sizes in the arguments."""
    from mfsdp_lint.memory.estimate import memory
    from mfsdp_lint.memory.fit import answer

    def plain(recipe: Recipe) -> Memory:
        return memory(recipe, target, arguments.world_size, arguments.parameters)

    limit = arguments.gpu or arguments.memory_limit
    if limit is None:
        return plain

    def asked(recipe: Recipe) -> Memory:
        found = plain(recipe)
        return replace(found, fit=answer(recipe, found, limit, plain, lambda each: _refused_by(each, target)))

    return asked


def _refused_by(recipe: Recipe, target: Target) -> frozenset[str]:
    """Return the codes of the rules by which start-up, or building the model, refuses a recipe."""
    from mfsdp_lint.rules.judging import bench

    judge = bench(target, recipe.front_end)
    findings = (each for variant in recipe.variants for each in judge(variant).findings)
    return frozenset(
        each.code for each in findings if each.severity == "error" and each.stage in ("startup", "wrap", "first-step")
    )


def _gpu(text: str) -> Limit:
    """Read a kind of GPU, of which the memory is known."""
    from mfsdp_lint.megatron.versions import GPU_MEMORY

    kind = text.strip().lower()
    if kind not in GPU_MEMORY:
        known = ", ".join(GPU_MEMORY)
        raise argparse.ArgumentTypeError(f"the memory of {text!r} is not known (known: {known}); see --memory-limit")
    return Limit(GPU_MEMORY[kind] * GIB, f"{kind} ({GPU_MEMORY[kind]} GiB)")


_UNITS = {"GIB": 2**30, "GB": 10**9, "MIB": 2**20, "MB": 10**6, "TIB": 2**40, "TB": 10**12}


def _limit(text: str) -> Limit:
    """Parse `80GiB`, `64GB`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([GMT]i?B)", text.strip(), re.IGNORECASE)
    number = float(found[1]) * _UNITS[found[2].upper()] if found else math.nan
    if not 1 <= number < _MOST:
        raise argparse.ArgumentTypeError(f"expected an amount of memory such as 80GiB, not {text!r}")
    return Limit(round(number), text.strip())


_MULTIPLES = {"M": 10**6, "B": 10**9, "T": 10**12}


def _parameters(text: str) -> GivenParameters:
    """Parse `8030261248`, `8.03e9`, `46.7B,45.1B`."""
    total, _, experts = text.partition(",")
    found = GivenParameters(_number(total), _number(experts) if experts else None)
    if found.experts is not None and found.experts > found.total:
        raise argparse.ArgumentTypeError(f"{experts} in experts, of {total}")
    return found


def _number(text: str) -> int:
    text = text.strip().upper()
    multiple = _MULTIPLES.get(text[-1:], 1)
    try:
        number = float(text[:-1] if multiple > 1 else text) * multiple
    except ValueError:
        number = math.nan
    if not 1 <= number < _MOST:
        raise argparse.ArgumentTypeError(f"expected a number of parameters such as 8.03B or 8030261248, not {text!r}")
    return round(number)


_MOST = 10**18


def _ranks(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < _MOST:
        raise argparse.ArgumentTypeError(f"expected a number of ranks, not {text!r}")
    return int(text)


def _wanted(name: str, qualified_name: str, globs: Sequence[str] | None) -> bool:
    """Tell whether a recipe is asked for by one of its names."""
    return not globs or any(fnmatchcase(known, glob) for glob in globs for known in (name, qualified_name))


def _former(path: str) -> FormerReport:
    """Read an earlier report. Raises UsageError."""
    from mfsdp_lint.reports.audit.page import former_report

    try:
        return former_report(Sources().as_it_is(path))
    except Unreadable as error:
        raise UsageError(f"--former: {path}: {error.message}") from None
    except ValueError as error:
        raise UsageError(f"--former: {path}: {error}") from None


def _write_page(arguments: argparse.Namespace) -> int:
    """Write the page. The exit code reports unreadable files, not findings. Raises UsageError."""
    needs_jinja()
    from mfsdp_lint.engine.audited import audited
    from mfsdp_lint.reports.audit.page import render
    from mfsdp_lint.rules.selection import rules_for

    former = _former(arguments.former) if arguments.former is not None else None
    options = options_from({**vars(arguments), "output_format": None})
    with process.progress_shown():
        found = audited(
            options,
            lambda name, qualified: _wanted(name, qualified, arguments.recipe),
            (lambda target: _memory_with(target, arguments)) if arguments.memory else None,
        )
    outcome = found.outcome
    page = render(
        found.sides,
        outcome.findings,
        rules_for(options.extend_rules),
        outcome.summary,
        outcome.shown,
        settings=tuple(arguments.settings or ()),
        former=former,
    )
    write([page, "\n"], arguments.output_file)
    tell_unfollowed(outcome.unfollowed, every=bool(arguments.show_unfollowed))
    for remark in outcome.remarks:
        terminal.note(f"warning: {remark}")
    for problem in outcome.problems:
        terminal.note(f"error: {problem}")
    unreadable = (each for each in outcome.findings if each.code == UNREADABLE and each.severity == "error")
    return 2 if outcome.problems else int(any(unreadable))
