"""`mfsdp-lint upgrade --to VERSION [PATHS]`: what moving to another Megatron-Bridge does to recipes, and doing it."""

from __future__ import annotations

import argparse

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_output, needs_jinja, options_from, tell, write
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.options import UsageError

SUMMARY = (
    "Shows what moving to another release of Megatron-Bridge does to recipes: what breaks, which settings change "
    "without a word and why, and which findings are new or gone. Edits what can be proved."
)

EXAMPLES = (
    ("mfsdp-lint upgrade --to 0.6.0 recipes/", "what would happen"),
    ("mfsdp-lint upgrade --to 0.6.0 --diff --pin recipes/", "the edits that keep every recipe as it is"),
    ("mfsdp-lint upgrade --from 0.3.1 --to 0.6.0 --write recipes/", "mend what breaks, and accept new defaults"),
    ("mfsdp-lint upgrade --to head --output-format json", "what the next release will break, for programs"),
    ("mfsdp-lint upgrade --to 0.6.0 --output-format html -o upgrade.html", "one page to explore"),
)

FORMATS = ("text", "json", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files, directories, @FILE (default: here)")
    parser.add_argument("--to", metavar="VERSION", required=True, help="the release of megatron-bridge to move to")
    parser.add_argument(
        "--from", dest="since", metavar="VERSION", help="the release in use (default: the one that the project names)"
    )
    parser.add_argument("--write", action="store_true", help="change the files")
    parser.add_argument("--diff", action="store_true", help="show the changes as a patch, and write nothing")
    parser.add_argument(
        "--pin",
        action="store_true",
        help="write the old value of every setting that would change, where that is proved",
    )
    parser.add_argument("--all", action="store_true", help="list everything, however much it is")
    reading = OptionList(parser, "what is read")
    reading.several("--exclude", "PATTERN", "skip matching files and folders; repeatable")
    reading.constant("--no-ignore", False, "also read files that git ignores", dest="respect_gitignore")
    reading.several("--search-path", "DIR", "a folder to find imports in; repeatable")
    output = add_output(parser, FORMATS)
    output.value("-o", "--output-file", "FILE", "write the report to this file instead of stdout")


def main(arguments: argparse.Namespace) -> int:
    """Print the report, or the patch, or write the files.

    Exit code 0: nothing breaks and nothing changes, or everything that does was edited; 1: something is left; 2: wrong
    usage. Raises UsageError.
    """
    if arguments.write and arguments.diff:
        raise UsageError("--write changes the files, and --diff only shows how; give one of them")
    if arguments.output_file and arguments.output_format not in ("json", "html"):
        raise UsageError("--output-file goes with --output-format json and html")
    if arguments.output_format == "html":
        needs_jinja()
    options = replace(options_from({**vars(arguments), "output_format": None}), fix=False)
    from mfsdp_lint import process
    from mfsdp_lint.engine.write import left as left_lines
    from mfsdp_lint.engine.write import not_writable, patch, write_texts
    from mfsdp_lint.upgrade.run import upgrade

    with process.progress_shown():
        found = upgrade(options, arguments.to, arguments.since, pin=arguments.pin)
    left = tuple(left_lines(not_writable(found.texts, found.sources), tried=arguments.write))
    if arguments.write and not left:
        left = write_texts(found.texts, found.sources)
    if arguments.diff:
        terminal.data(patch(found.texts, found.sources))
    elif arguments.output_format == "json":
        import json

        from mfsdp_lint.upgrade.report import document

        write([json.dumps(document(found), indent=2), "\n"], arguments.output_file)
    elif arguments.output_format == "html":
        from mfsdp_lint.upgrade.page import render_page

        write([render_page(found), "\n"], arguments.output_file)
    else:
        from mfsdp_lint.reports.wording import folded
        from mfsdp_lint.upgrade.report import render

        lines = render(found, written=arguments.write and not left, pin=arguments.pin, every=arguments.all)
        columns = terminal.columns()
        folds = (each for line in lines for each in folded(line, columns, "        "))
        terminal.show("".join(f"{line}\n" for line in folds))
    for line in left:
        terminal.note(line)
    code = tell(found.remarks, found.problems)
    open_ = any(not each.edits for each in found.breaks) or bool(found.changes)
    mended = arguments.write and not left
    return max(code, int(open_ or bool(left) or (bool(found.breaks) and not mended)))
