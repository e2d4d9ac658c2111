"""Output of a run's outcome, in every format that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Sequence

from mfsdp_lint import terminal
from mfsdp_lint.core import files
from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.records import replace
from mfsdp_lint.engine.cache import Outcome
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.options import Options, UsageError, output_of
from mfsdp_lint.inputs.sources import NOTEBOOK
from mfsdp_lint.reports import concise

FOR_PROGRAMS = ("json", "github", "sarif", "gitlab", "junit", "rdjson")
"""The formats that are printed as they are: each escapes text in its own way."""

COLORS = ("auto", "always", "never")


def formats(asked: Sequence[str]) -> tuple[str, ...]:
    """Return the formats that are asked for, with one for the standard output.

    That one is `github` inside GitHub's Actions, else `full`.
    """
    if any(not output_of(each)[1] for each in asked):
        return tuple(asked)
    return ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full", *asked)


def wants_color(asked: str) -> bool:
    """Tell whether the text is coloured: as asked, else on a terminal that shows it."""
    if asked != "auto":
        return asked == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def tell(outcome: Outcome, options: Options, *, color: bool, file: str | None) -> Outcome:
    """Print the report, and write those that go to files; `file` receives the text that would be printed.

    Raises UsageError. Returns the outcome that was reported: a file that a report fails for is left out of all, and
    the fault is reported instead.
    """
    asked = [output_of(each) for each in dict.fromkeys(options.output_format)]
    printed = [name for name, target in asked if not target]
    if len(printed) > 1:
        raise UsageError(f"--output-format: {' and '.join(printed)} cannot both be printed; write one as FORMAT=FILE")
    faults = Faults()

    def rendered(paths: Collection[str]) -> tuple[Outcome, list[str], str]:
        told = outcome.only(paths, _told(faults))
        texts = [_rendered(name, told, options, color=color and not (target or file)) for name, target in asked]
        return told, texts, _step_summary(told) if any(name == "github" for name, _ in asked) else ""

    told, texts, page = faults.over_files(outcome.files, rendered)
    for (name, target), text in zip(asked, texts, strict=True):
        to = target or file
        if to or name in FOR_PROGRAMS:
            write([text], to)
        else:
            terminal.show(text, colored=color)
    if page:
        _append_step_summary(page)
    return told


def _told(faults: Faults) -> list[Finding]:
    if not faults.problems:
        return []
    from mfsdp_lint.rules.about_files import file_finding

    return [file_finding(problem) for problem in dict.fromkeys(faults.problems)]


def print_patch(outcome: Outcome, *, show_fixes: bool) -> None:
    """Print the patch as bytes: a file's own encoding and line ends must arrive as they are."""
    from mfsdp_lint.reports.summary import summary_line

    terminal.data(outcome.patch)
    if show_fixes:
        terminal.notes(concise.fix_lines(outcome.fixes, done=False))
    terminal.notes(summary_line(outcome.summary) + "\n")


def write(pieces: Iterable[str], file: str | None) -> None:
    """Print a text, or write it to a file. Raises UsageError."""
    if not file:
        terminal.document(pieces)
        return
    try:
        with files.written(file) as stream:
            stream.writelines(piece.encode("utf-8", "backslashreplace") for piece in pieces)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None


def _rendered(name: str, outcome: Outcome, options: Options, *, color: bool) -> str:
    """Return the text of a format.

    For people the fixes that were made are printed before the findings that remain; for programs they are part of the
    document.
    """
    outcome, summary = _placed(name, outcome), outcome.summary
    findings = outcome.findings
    match name:
        case "json":
            from mfsdp_lint.reports import json

            return json.render(findings, summary, outcome.unfollowed, fixes=outcome.fixes, recipes=outcome.recipes)
        case "sarif":
            from mfsdp_lint.reports import sarif
            from mfsdp_lint.rules.selection import rules_for

            rules = rules_for(options.extend_rules)
            return sarif.render(findings, rules, outcome.written, directory=_directory_in_repository())
        case "gitlab":
            from mfsdp_lint.reports import gitlab

            return gitlab.render(findings, directory=_directory_in_repository())
        case "junit":
            from mfsdp_lint.reports import junit

            return junit.render(findings, summary)
        case "rdjson":
            from mfsdp_lint.reports import rdjson

            return rdjson.render(findings, outcome.written)
        case _:
            return _for_people(name, outcome, options, color)


def _for_people(name: str, outcome: Outcome, options: Options, color: bool) -> str:
    findings, summary = outcome.findings, outcome.summary
    # Beside the workflow commands that are meant, nothing is one.
    made = terminal.lines(concise.fix_lines(outcome.fixes)) if options.show_fixes else ""
    if options.fix_only:
        return made + terminal.lines(concise.lines(findings) + concise.fixed_line(summary))
    if name == "github":
        from mfsdp_lint.reports import github

        return made + github.render(findings, summary, directory=_directory_in_repository())
    if options.statistics:
        return made + concise.statistics(findings, summary)
    if options.group_by == "recipe":
        from mfsdp_lint.reports import by_recipe

        return made + by_recipe.render(outcome.recipes, summary, concise=name == "concise")
    if name == "concise":
        return made + concise.render(findings, summary)
    from mfsdp_lint.reports import full

    return made + full.render(findings, summary, outcome.shown, color=color)


def _placed(name: str, outcome: Outcome) -> Outcome:
    """Return the outcome with places in notebooks where the readers of a format look for them."""
    told = (place for finding in outcome.findings for place in finding.files)
    if not any(place.endswith(NOTEBOOK) for place in (*outcome.files, *told)):
        return outcome
    from mfsdp_lint.reports.places import in_cells, in_files, line_in_file, unfollowed_in_files

    sources = outcome.sources
    return replace(
        outcome,
        findings=(in_cells if name in ("full", "concise") else in_files)(outcome.findings, sources),
        recipes=tuple(replace(each, line=line_in_file(each.path, each.line, sources)) for each in outcome.recipes),
        unfollowed=tuple(unfollowed_in_files(outcome.unfollowed, sources)),
    )


def _directory_in_repository() -> str:
    """Return the tool's directory, relative to the root of the repository that GitHub or GitLab has checked out."""
    workspace = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")
    return os.path.relpath(os.curdir, workspace).replace(os.sep, "/") if workspace else ""


def _step_summary(outcome: Outcome) -> str:
    """Return the table for the file that GitHub's runner names, as long as that has room; "" where it names none."""
    from mfsdp_lint.reports import github

    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if not page:
        return ""
    room = github.SUMMARY_BYTES - disk.size(page)
    return github.step_summary(_placed("github", outcome).findings, outcome.summary, room=room)


def _append_step_summary(text: str) -> None:
    page = os.environ["GITHUB_STEP_SUMMARY"]
    try:
        with files.written(page, "a") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        terminal.note(f"warning: {page}: {error.strerror or error}: no summary written")
