"""`mfsdp-lint [PATHS]`: judge, fix, report."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from mfsdp_lint import progress
from mfsdp_lint.commands.arguments import add_what_is_read, comma_separated, options_from, tell_unfollowed
from mfsdp_lint.engine import cache
from mfsdp_lint.engine.outcome import Outcome
from mfsdp_lint.inputs.options import GROUPINGS, OUTPUT_FORMATS, PRESETS, Options
from mfsdp_lint.reports import applied

SUMMARY = "Finds and fixes FSDP mistakes in Megatron-Bridge recipes, before the run."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Every option's default is None, "not given", so that the configuration shows through."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files, directories, and path.py::function (default: here)"
    )
    switch = argparse.BooleanOptionalAction
    fixing = parser.add_argument_group("fixing")
    fixing.add_argument("--fix", action=switch, help="apply the safe fixes")
    fixing.add_argument("--fix-only", action=switch, help="apply them, and say nothing of what remains")
    fixing.add_argument("--show-fixes", action=switch, help="prove the fixes, and list those that are applied")
    fixing.add_argument("--unsafe-fixes", action=switch, help="count, show and apply unsafe fixes as well")
    fixing.add_argument("--diff", action=switch, help="print what --fix would do as a patch, and write nothing")
    judged = parser.add_argument_group("what is judged")
    codes: dict[str, Any] = {"action": "extend", "type": comma_separated, "metavar": "CODES"}
    judged.add_argument("--select", help="only these rules, by code or prefix", **codes)
    judged.add_argument("--preset", choices=PRESETS, help="rules that are off otherwise")
    judged.add_argument("--preview", action=switch, help="new rules as well, which may still change")
    judged.add_argument("--ignore", help="not these rules", **codes)
    add_what_is_read(judged)
    tried = parser.add_argument_group("trying out")
    tried.add_argument("--confirm", action="store_const", const=True, help="dry-run the findings, see `dry-run --help`")
    tried.add_argument("--python", metavar="PROGRAM", help="the Python that has torch and megatron-bridge, for that")
    tried.add_argument("--megatron-lm", metavar="DIR", help="a source tree of it, for what its command line reads")
    output = parser.add_argument_group("output and configuration")
    output.add_argument("--output-format", choices=OUTPUT_FORMATS)
    output.add_argument("--group-by", choices=GROUPINGS, help="recipe: what is wrong with each, and what must change")
    output.add_argument("--show-unfollowed", action="store_true", help="list code that could not be followed")
    output.add_argument("--no-color", action="store_true", help="as does the environment variable NO_COLOR")
    output.add_argument("--cache", action=switch, help="keep what a run comes to, and use it while nothing changes")
    output.add_argument("--cache-dir", metavar="DIR", help=f"where (default: {cache.FOLDER} in the project)")
    output.add_argument("--config", metavar="FILE", help="read [tool.mfsdp-lint] from FILE")


def main(arguments: argparse.Namespace) -> int:
    """Runs and prints; the exit code is that of `exit_code`. Raises UsageError."""
    options = options_from(vars(arguments))
    with progress.shown():
        outcome = cache.run(options)
    if options.diff:
        _print_patch(outcome, show_fixes=bool(options.show_fixes))
    else:
        color = not arguments.no_color and _terminal_shows_color()
        sys.stdout.write(_rendered(outcome, options, color=color))
    if arguments.show_unfollowed and options.output_format != "json":
        tell_unfollowed(outcome.unfollowed, every=True)
    for remark in outcome.remarks:
        print(f"mfsdp-lint: warning: {remark}", file=sys.stderr)
    for problem in (*outcome.left, *outcome.problems):
        print(f"mfsdp-lint: error: {problem}", file=sys.stderr)
    return exit_code(outcome)


def exit_code(outcome: Outcome) -> int:
    """0: nothing of severity warning or error remains (info never fails); 1: something does, or there is a patch to
    show, or a file was not written; 2: something asked for could not be checked."""
    if outcome.problems:
        return 2
    return int(bool(outcome.summary.errors or outcome.summary.warnings or outcome.patch or outcome.left))


def _terminal_shows_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _print_patch(outcome: Outcome, *, show_fixes: bool) -> None:
    """The patch goes out as bytes: a file's own encoding and line ends must arrive as they are."""
    from mfsdp_lint.results.summary import summary_line

    sys.stdout.flush()
    sys.stdout.buffer.write(outcome.patch)
    sys.stdout.buffer.flush()
    if show_fixes:
        sys.stderr.write(applied.lines(outcome.fixes, done=False))
    print(summary_line(outcome.summary), file=sys.stderr)


def _rendered(outcome: Outcome, options: Options, *, color: bool) -> str:
    """For people the fixes that were made stand before what remains; for programs they are part of the document."""
    if options.output_format == "json":
        from mfsdp_lint.reports import json

        return json.render(
            outcome.findings, outcome.summary, outcome.unfollowed, fixes=outcome.fixes, recipes=outcome.recipes
        )
    made = applied.lines(outcome.fixes) if options.show_fixes else ""
    if options.fix_only:
        from mfsdp_lint.reports import concise

        return made + concise.lines(outcome.findings) + applied.only(outcome.summary)
    return made + _findings(outcome, options, color)


def _findings(outcome: Outcome, options: Options, color: bool) -> str:
    findings, summary = outcome.findings, outcome.summary
    if options.output_format == "github":
        from mfsdp_lint.reports import github

        _append_step_summary(outcome)
        return github.render(findings, summary, directory=_directory_in_repository())
    if options.group_by == "recipe":
        from mfsdp_lint.reports import readiness

        return readiness.render(outcome.recipes, summary, concise=options.output_format == "concise")
    if options.output_format == "concise":
        from mfsdp_lint.reports import concise

        return concise.render(findings, summary)
    from mfsdp_lint.reports import full

    return full.render(findings, summary, outcome.text, color=color)


def _directory_in_repository() -> str:
    workspace = os.environ.get("GITHUB_WORKSPACE")
    return os.path.relpath(os.curdir, workspace).replace(os.sep, "/") if workspace else ""


def _append_step_summary(outcome: Outcome) -> None:
    """Writes the table to the file that GitHub's runner names, if it names one."""
    from mfsdp_lint.reports import github

    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if not page:
        return
    try:
        with open(page, "a", encoding="utf-8", errors="backslashreplace") as stream:
            room = github.SUMMARY_BYTES - stream.tell()
            stream.write(github.step_summary(outcome.findings, outcome.summary, room=room))
    except OSError as error:
        print(f"mfsdp-lint: warning: {page}: {error.strerror or error}: no summary written", file=sys.stderr)
