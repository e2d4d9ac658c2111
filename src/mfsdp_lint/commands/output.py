"""What a run came to, told in every format that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from mfsdp_lint.core.records import replace
from mfsdp_lint.engine.outcome import Outcome
from mfsdp_lint.inputs.options import Options, UsageError, output_of
from mfsdp_lint.inputs.sources import NOTEBOOK
from mfsdp_lint.reports import applied

COLORS = ("auto", "always", "never")


def formats(asked: Sequence[str]) -> tuple[str, ...]:
    """The formats that are asked for, with one for the standard output: what GitHub reads inside its Actions."""
    if any(not output_of(each)[1] for each in asked):
        return tuple(asked)
    return ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full", *asked)


def wants_color(asked: str) -> bool:
    """Whether the text is coloured: as asked, else on a terminal that shows it."""
    if asked != "auto":
        return asked == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def tell(outcome: Outcome, options: Options, *, color: bool, file: str | None) -> None:
    """Prints the report, and writes those that go to files; `file` takes what would be printed. Raises UsageError."""
    asked = [output_of(each) for each in dict.fromkeys(options.output_format)]
    printed = [name for name, target in asked if not target]
    if len(printed) > 1:
        raise UsageError(f"--output-format: {' and '.join(printed)} cannot both be printed; write one as FORMAT=FILE")
    for name, target in asked:
        to = target or file
        write([_rendered(name, outcome, options, color=color and not to)], to)
        if name == "github":
            _append_step_summary(outcome)


def print_patch(outcome: Outcome, *, show_fixes: bool) -> None:
    """The patch goes out as bytes: a file's own encoding and line ends must arrive as they are."""
    from mfsdp_lint.results.summary import summary_line

    sys.stdout.flush()
    sys.stdout.buffer.write(outcome.patch)
    sys.stdout.buffer.flush()
    if show_fixes:
        sys.stderr.write(applied.lines(outcome.fixes, done=False))
    print(summary_line(outcome.summary), file=sys.stderr)


def write(pieces: Iterable[str], file: str | None) -> None:
    """Prints a text, or writes it to a file. Raises UsageError."""
    if not file:
        sys.stdout.writelines(pieces)
        return
    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None


def _rendered(name: str, outcome: Outcome, options: Options, *, color: bool) -> str:
    """The text of a format. For people the fixes that were made stand before what remains; for programs they are part
    of the document."""
    outcome, summary = _placed(name, outcome), outcome.summary
    findings = outcome.findings
    match name:
        case "json":
            from mfsdp_lint.reports import json

            return json.render(findings, summary, outcome.unfollowed, fixes=outcome.fixes, recipes=outcome.recipes)
        case "sarif":
            from mfsdp_lint.reports import sarif
            from mfsdp_lint.rules.extend import rules_for

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
    made = applied.lines(outcome.fixes) if options.show_fixes else ""
    if options.fix_only:
        from mfsdp_lint.reports import concise

        return made + concise.lines(findings) + applied.only(summary)
    if name == "github":
        from mfsdp_lint.reports import github

        return made + github.render(findings, summary, directory=_directory_in_repository())
    if options.statistics:
        from mfsdp_lint.reports import statistics

        return made + statistics.render(findings, summary)
    if options.group_by == "recipe":
        from mfsdp_lint.reports import readiness

        return made + readiness.render(outcome.recipes, summary, concise=name == "concise")
    if name == "concise":
        from mfsdp_lint.reports import concise

        return made + concise.render(findings, summary)
    from mfsdp_lint.reports import full

    return made + full.render(findings, summary, outcome.shown, color=color)


def _placed(name: str, outcome: Outcome) -> Outcome:
    """The same with findings in notebooks where the readers of a format look for them."""
    if not any(place.endswith(NOTEBOOK) for finding in outcome.findings for place in finding.files):
        return outcome
    from mfsdp_lint.results.cells import in_cells, in_files

    place = in_cells if name in ("full", "concise") else in_files
    return replace(outcome, findings=place(outcome.findings, outcome.sources))


def _directory_in_repository() -> str:
    """Where the tool runs, relative to the root of the repository that GitHub or GitLab has checked out."""
    workspace = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")
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
            placed = _placed("github", outcome)
            stream.write(github.step_summary(placed.findings, outcome.summary, room=room))
    except OSError as error:
        print(f"mfsdp-lint: warning: {page}: {error.strerror or error}: no summary written", file=sys.stderr)
