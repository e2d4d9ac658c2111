"""`mfsdp-lint audit --output-format html`: one page to look around in."""

from __future__ import annotations

import argparse

from mfsdp_lint import progress, terminal
from mfsdp_lint.commands.arguments import options_from, tell_unfollowed
from mfsdp_lint.commands.audit import memory_with, wanted
from mfsdp_lint.commands.output import write
from mfsdp_lint.engine.audited import audited
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.rules.about_files import UNREADABLE
from mfsdp_lint.rules.selection import rules_for


def main(arguments: argparse.Namespace) -> int:
    """Write the page. The exit code reports unreadable files, not findings. Raises UsageError."""
    try:
        from mfsdp_lint.reports.audit.page import render
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed: pip install 'mfsdp-lint[report]'") from None
    options = options_from({**vars(arguments), "output_format": None})
    with progress.shown():
        found = audited(
            options,
            lambda name, qualified: wanted(name, qualified, arguments.recipe),
            (lambda target: memory_with(target, arguments)) if arguments.memory else None,
        )
    outcome = found.outcome
    page = render.render(
        found.sides,
        outcome.findings,
        rules_for(options.extend_rules),
        outcome.summary,
        outcome.shown,
        settings=tuple(arguments.settings or ()),
    )
    write([page, "\n"], arguments.output_file)
    tell_unfollowed(outcome.unfollowed, every=bool(arguments.show_unfollowed))
    for remark in outcome.remarks:
        terminal.note(f"warning: {remark}")
    for problem in outcome.problems:
        terminal.note(f"error: {problem}")
    unreadable = (each for each in outcome.findings if each.code == UNREADABLE and each.severity == "error")
    return 2 if outcome.problems else int(any(unreadable))
