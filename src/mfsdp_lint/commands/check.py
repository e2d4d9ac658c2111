"""`mfsdp-lint [PATHS]`: judge, fix, and report in every format that was asked for."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection
from functools import partial
from typing import Any

from mfsdp_lint import process, terminal
from mfsdp_lint.commands.arguments import (
    OptionList,
    add_configuration,
    add_what_is_read,
    comma_separated,
    options_from,
    tell,
    tell_unfollowed,
    write,
)
from mfsdp_lint.core import files
from mfsdp_lint.core.finding import SEVERITIES
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.engine import cache
from mfsdp_lint.engine.cache import Outcome
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.options import FAIL_ON, GROUPINGS, OUTPUT_FORMATS, PRESETS, Options, UsageError, output_of
from mfsdp_lint.inputs.sources import NOTEBOOK, SIZE_LIMIT
from mfsdp_lint.reports import text as for_people
from mfsdp_lint.reports.summary import summary_line
from mfsdp_lint.reports.wording import count

SUMMARY = "Finds and fixes FSDP mistakes in Megatron-Bridge recipes, before the run."

EXAMPLES = (
    ("mfsdp-lint recipes/", "check every file in a folder"),
    ("mfsdp-lint --diff recipes/llama.py", "show what --fix would change"),
    ("mfsdp-lint --select MFSDP1 --fail-on error .", "check only checkpoint rules, and fail only for errors"),
    ("mfsdp-lint --output-format github --output-format sarif=out.sarif .", "write two reports in one run"),
    ("mfsdp-lint --since origin/main .", "report only what the current changes caused"),
)

STANDARD_INPUT = "-"

SHELLS = ("bash", "zsh", "tcsh", "fish")
COLORS = ("auto", "always", "never")

FOR_PROGRAMS = ("json", "github", "sarif", "gitlab", "junit", "rdjson")
"""The formats that are printed as they are: each escapes text in its own way."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; each default is None, "not given", so that the configuration shows through."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files, directories, path.py::function, or - for stdin (default: here)"
    )
    fixing = OptionList(parser, "fixing")
    fixing.switch("--fix", "apply safe fixes")
    fixing.switch("--fix-only", "apply safe fixes, and do not report the remaining findings")
    fixing.switch("--show-fixes", "prove every fix, and list the fixes that are applied")
    fixing.switch("--unsafe-fixes", "include unsafe fixes when fixes are counted, shown or applied")
    fixing.switch("--diff", "print the changes that --fix would make as a patch; write nothing")
    judged = OptionList(parser, "what is judged")
    codes: dict[str, Any] = {"action": "extend", "type": comma_separated}
    judged.value("--select", "RULES", "check only these rules: codes, prefixes of codes, or names", **codes)
    judged.value("--extend-select", "RULES", "check these rules in addition", **codes)
    judged.value("--ignore", "RULES", "do not check these rules", **codes)
    judged.choice("--preset", PRESETS, "the set of rules that is on by default")
    judged.switch("--preview", "include new rules, which may still change")
    judged.value("--baseline", "FILE", "do not report the findings that this file accepts")
    judged.constant("--update-baseline", True, "write the current findings into the baseline")
    judged.value("--add-ignore", "RULES", "write suppression comments for the findings of these rules", **codes)
    judged.value("--reason", "TEXT", "the reason in these comments; required")
    judged.value("--since", "REV", "report only findings that the changes since this git revision caused")
    judged.switch("--dependents", "also check the files that use a named file (default: on, off for stdin)")
    judged.value("--stdin-filename", "FILE", "the file name for the text on stdin")
    add_what_is_read(judged)
    tried = OptionList(parser, "trying out")
    tried.constant("--confirm", True, "check each finding in a dry run (see `dry-run --help`)")
    tried.value("--python", "PROGRAM", "the Python interpreter with torch and megatron-bridge, for --confirm")
    tried.value("--megatron-lm", "DIR", "a Megatron-LM source tree, to confirm findings about its flags")
    shown = OptionList(parser, "output and configuration")
    shown.several(
        "--output-format",
        "FORMAT[=FILE]",
        f"{', '.join(OUTPUT_FORMATS)}; FORMAT=FILE writes to a file; repeatable",
        type=_format,
    )
    shown.value("-o", "--output-file", "FILE", "write the report to this file instead of stdout")
    shown.choice("--group-by", GROUPINGS, "recipe: list the findings and the changes that each recipe needs")
    shown.flag("--show-info", "list infos instead of counting them")
    shown.flag("-q", "--quiet", "print only findings and errors: no summary, no warnings about the run")
    shown.flag("-v", "--verbose", "the same as --show-info --show-unfollowed")
    shown.switch("--statistics", "count the findings of each rule instead of listing them")
    shown.flag("--show-unfollowed", "list the code that could not be evaluated, with the reason")
    shown.flag("--show-files", "list the files that would be checked, then exit")
    shown.flag("--show-settings", "print the value of every option, then exit")
    shown.choice("--completion", SHELLS, "print a completion script for this shell, then exit")
    shown.choice("--fail-on", FAIL_ON, "the lowest severity that makes the run fail (default: warning)")
    shown.flag("--exit-zero", "exit with 0 even if there are findings")
    shown.choice("--color", COLORS, "auto: colours on a terminal, unless NO_COLOR is set", default="auto")
    shown.constant("--no-color", "never", "the same as --color never", dest="color")
    add_configuration(shown)


def main(arguments: argparse.Namespace) -> int:
    """Run the check and print its outcome; the exit code is that of `exit_code`. Raises UsageError."""
    if arguments.completion:
        terminal.document([_completion_script(arguments.completion), "\n"])
        return 0
    options = _with_text(options_from(vars(arguments)), arguments)
    if all(output_of(each)[1] for each in options.output_format):  # nothing is for the standard output
        printed = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full"
        options = replace(options, output_format=(printed, *options.output_format))
    if arguments.verbose:
        arguments.show_info = arguments.show_unfollowed = True
    if arguments.show_settings or arguments.show_files:
        return _show_settings(options) if arguments.show_settings else _show_files(options)
    if arguments.add_ignore or arguments.reason is not None:
        return _add_ignores(options, arguments)
    with process.progress_shown():
        outcome = cache.run(options)
    if arguments.show_unfollowed:
        outcome = replace(outcome, summary=replace(outcome.summary, listed=True))
    if options.diff:
        terminal.data(outcome.patch)  # as bytes: a file's own encoding and line ends must arrive as they are
        made = for_people.fix_lines(outcome.fixes, done=False) if options.show_fixes else ""
        terminal.notes(f"{made}{summary_line(outcome.summary)}\n")
    else:
        plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        color = arguments.color == "always" or (arguments.color == "auto" and not plain)
        # Who lets infos fail the run, or chose rules by hand, has asked for infos.
        infos = options.fails_on == "info" or bool(options.select) or arguments.show_info
        look = ReportLook(color, terminal.columns(), infos, arguments.quiet)
        outcome = tell_findings(outcome, options, look, file=arguments.output_file)
    if arguments.show_unfollowed and "json" not in options.output_format:
        from mfsdp_lint.reports.places import unfollowed_in_files

        tell_unfollowed(unfollowed_in_files(outcome.unfollowed, outcome.sources), every=True)
    for remark in () if arguments.quiet else outcome.remarks:
        terminal.note(f"warning: {remark}")
    for problem in (*outcome.left, *outcome.problems):
        terminal.note(f"error: {problem}")
    return exit_code(outcome, options, exit_zero=arguments.exit_zero)


@dataclass(frozen=True, slots=True)
class ReportLook:
    """The look of a report for people: in colour, broken at so many columns (0: not), with infos, without a summary."""

    color: bool
    columns: int
    infos: bool
    quiet: bool


def tell_findings(outcome: Outcome, options: Options, look: ReportLook, *, file: str | None) -> Outcome:
    """Print the report, and write those that go to files; `file` receives the text that would be printed.

    Raises UsageError. Returns the outcome that was reported: a file that a report fails for is left out of all, and
    the fault is reported instead.
    """
    asked = [output_of(each) for each in dict.fromkeys(options.output_format)]
    printed = [name for name, target in asked if not target]
    if len(printed) > 1:
        raise UsageError(f"--output-format: {' and '.join(printed)} cannot both be printed; write one as FORMAT=FILE")
    faults = Faults()
    page = os.environ.get("GITHUB_STEP_SUMMARY") if any(name == "github" for name, _ in asked) else None

    def rendered(paths: Collection[str]) -> tuple[Outcome, list[str], str]:
        failed = []
        if faults.problems:
            from mfsdp_lint.rules.about_files import file_finding

            failed = [file_finding(problem) for problem in dict.fromkeys(faults.problems)]
        told = outcome.only(paths, failed)
        on_paper = replace(look, color=False, columns=0)
        texts = [_rendered(name, told, options, on_paper if target or file else look) for name, target in asked]
        if not page:
            return told, texts, ""
        from mfsdp_lint.reports import forges

        room = forges.SUMMARY_BYTES - disk.size(page)
        return told, texts, forges.github_summary(_placed("github", told).findings, told.summary, room=room)

    told, texts, step_summary = faults.over_files(outcome.files, rendered)
    for (name, target), text in zip(asked, texts, strict=True):
        to = target or file
        if to or name in FOR_PROGRAMS:
            write([text], to)
        else:
            terminal.show(text, colored=look.color)
    if page and step_summary:
        try:
            with files.written(page, "a") as stream:
                stream.write(step_summary.encode("utf-8", "backslashreplace"))
        except OSError as error:
            terminal.note(f"warning: {page}: {error.strerror or error}: no summary written")
    return told


def _rendered(name: str, outcome: Outcome, options: Options, look: ReportLook) -> str:
    """Return the text of a format.

    For people the fixes that were made are printed before the findings that remain; for programs they are part of the
    document.
    """
    outcome = _placed(name, outcome)
    findings, summary = outcome.findings, outcome.summary
    # The tool's directory, relative to the root of the repository that GitHub or GitLab has checked out.
    workspace = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")
    directory = os.path.relpath(os.curdir, workspace).replace(os.sep, "/") if workspace else ""
    if name == "json":
        from mfsdp_lint.reports import json

        return json.render(findings, summary, outcome.unfollowed, fixes=outcome.fixes, recipes=outcome.recipes)
    if name in ("sarif", "gitlab", "junit", "rdjson"):
        from mfsdp_lint.reports import forges
        from mfsdp_lint.rules.selection import rules_for

        match name:
            case "sarif":
                return forges.sarif(findings, rules_for(options.extend_rules), outcome.written, directory=directory)
            case "gitlab":
                return forges.gitlab(findings, directory=directory)
            case "junit":
                return forges.junit(findings, summary)
        return forges.rdjson(findings, outcome.written)
    # Beside the workflow commands that are meant, nothing is one.
    made = terminal.lines(for_people.fix_lines(outcome.fixes)) if options.show_fixes else ""
    if options.fix_only:
        fixed = f"{count(summary.files, 'file')}: {count(summary.fixed, 'finding')} fixed\n"
        return made + terminal.lines(for_people.finding_lines(findings) + fixed)
    if name == "github":
        from mfsdp_lint.reports import forges

        return made + forges.github(findings, summary, directory=directory)
    if options.statistics:
        return made + for_people.statistics(findings, summary)
    if options.group_by == "recipe":
        return made + for_people.recipe_blocks(outcome.recipes, summary, brief=name == "concise")
    if name == "concise":
        return made + (for_people.finding_lines(findings) if look.quiet else for_people.concise(findings, summary))
    return made + for_people.full(
        findings, summary, outcome.shown, color=look.color, columns=look.columns, infos=look.infos, brief=look.quiet
    )


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


def exit_code(outcome: Outcome, options: Options, *, exit_zero: bool = False) -> int:
    """Return the exit code of an outcome.

    - 0: no finding remains that is as severe as those that fail (an info does not fail, unless it is asked for).
    - 1: such a finding remains, or there is a patch to show, or a file was not written.
    - 2: a requested file or address could not be checked.
    """
    if outcome.problems:
        return 2
    failing = SEVERITIES[: SEVERITIES.index(options.fails_on) + 1]
    fails = any(each.severity in failing for each in outcome.findings if each.suppressed is None)
    return int(not exit_zero and bool(fails or outcome.patch or outcome.left))


def _format(text: str) -> str:
    """Return a format, perhaps with a file. Raises argparse's error for an unknown format."""
    name, _ = output_of(text)
    if name not in OUTPUT_FORMATS:
        from mfsdp_lint.core.nearest import did_you_mean

        known = ", ".join(OUTPUT_FORMATS)
        raise argparse.ArgumentTypeError(
            f"invalid choice: {name!r} (choose from {known}){did_you_mean(name, OUTPUT_FORMATS)}"
        )
    return text


def _with_text(options: Options, arguments: argparse.Namespace) -> Options:
    """Return the options, with the text on stdin where that is asked for. Raises UsageError."""
    if STANDARD_INPUT not in options.paths:
        if arguments.stdin_filename is not None:
            raise UsageError("--stdin-filename: there is no - among the paths")
        return options
    if len(options.paths) > 1:
        raise UsageError("-: stdin is checked by itself, and other paths were given as well")
    if options.since is not None:
        raise UsageError("--since: what comes from stdin was in no revision")
    if options.fix or options.fix_only:
        raise UsageError("--fix: what comes from stdin is not written; --diff prints a patch")
    name = arguments.stdin_filename or "stdin.py"
    try:
        content = sys.stdin.buffer.read(SIZE_LIMIT + 1)
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("-: not UTF-8") from None
    if len(content) > SIZE_LIMIT:
        raise UsageError(f"-: larger than {SIZE_LIMIT >> 20} MB")
    return replace(options, paths=(name,), stdin=text)


def _add_ignores(options: Options, arguments: argparse.Namespace) -> int:
    """Write suppression comments, or show them as a patch. Raises UsageError."""
    if not arguments.add_ignore or arguments.reason is None:
        raise UsageError(
            "--add-ignore RULES and --reason TEXT go together: a comment without a reason silences nothing"
        )
    if options.stdin is not None or options.overrides or options.fix or options.fix_only or options.since:
        raise UsageError("--add-ignore writes comments for files as they are; use it by itself")
    from mfsdp_lint.engine import ignore
    from mfsdp_lint.engine.write import patch
    from mfsdp_lint.inputs.sources import Unreadable
    from mfsdp_lint.inputs.writing import replace_file

    found = ignore.ignored(ignore.chosen(options, arguments.add_ignore), arguments.reason)
    left = list(found.left)
    if options.diff:
        terminal.data(patch(found.texts, found.sources))
    else:
        for path, text in found.texts.items():
            try:
                replace_file(path, found.sources.encode(path, text), partial(found.sources.still_on_disk, path))
            except (OSError, Unreadable) as error:
                left.append(f"{path}: not written: {error}")
        silenced = f"{count(found.number, 'finding')} silenced in {count(len(found.texts), 'file')}"
        terminal.show(f"{silenced}\n" if not left else "")
    for each in (*left, *found.problems):
        terminal.note(f"error: {each}")
    return 2 if found.problems else int(bool(left))


def _show_files(options: Options) -> int:
    """Print the files that would be checked, one a line. Raises UsageError."""
    from mfsdp_lint.engine.read import question

    asked, problems = question(options)
    terminal.show("".join(f"{terminal.printable(file.path)}\n" for file in asked.every_file))
    return tell((), problems)


def _show_settings(options: Options) -> int:
    """Print the value of every key, and the versions judged against. Raises UsageError."""
    from mfsdp_lint.engine.read import question
    from mfsdp_lint.inputs.configuration import KEYS, configuration_file
    from mfsdp_lint.reports.summary import judged_against

    asked, _ = question(options)
    said = [f"# configuration: {configuration_file() or 'none'}", f"# {judged_against(asked.targets)}"]
    said += [f"{key.name} = {_spelled(key.kind, getattr(options, key.field))}" for key in KEYS]
    terminal.show("".join(f"{terminal.printable(line)}\n" for line in said))
    return 0


def _spelled(kind: str, value: object) -> str:
    import json

    if value is None:
        return "# not set"
    if kind in ("codes by glob", "levels", "table") and isinstance(value, tuple):
        return "{ " + ", ".join(f"{json.dumps(name)} = {json.dumps(said)}" for name, said in value) + " }"
    return json.dumps(value, ensure_ascii=False)


def _completion_script(shell: str) -> str:
    """Return the script that a shell reads once, made by shtab, but for fish. Raises UsageError where it is missing.

    shtab reads one parser of all commands; the real ones are made one by one.
    """
    from importlib import import_module
    from pkgutil import iter_modules

    from mfsdp_lint import commands as package

    root = argparse.ArgumentParser("mfsdp-lint", allow_abbrev=False)
    commands = root.add_subparsers(dest="command")
    for found in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{found.name}")
        if hasattr(module, "SUMMARY"):  # else commands share it
            parser = commands.add_parser(found.name.replace("_", "-"), help=module.SUMMARY, allow_abbrev=False)
            module.add_arguments(parser)
    if shell == "fish":
        return _fish_script(commands)
    try:
        import shtab
    except ImportError:
        raise UsageError(
            "--completion: shtab comes with mfsdp-lint[completion]: pip install '.[completion]' in a checkout"
        ) from None
    text: str = shtab.complete(root, shell)
    return text


def _fish_script(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> str:
    """Return the script for fish, which shtab does not know."""

    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    default = __name__.rpartition(".")[2]
    lines = [
        f"complete -c mfsdp-lint -n __fish_use_subcommand -a {each.dest} -d {quoted(each.help or '')}"
        for each in commands._choices_actions
    ]
    for name, parser in commands.choices.items():
        where = "__fish_use_subcommand" if name == default else f"'__fish_seen_subcommand_from {name}'"
        formatter = argparse.HelpFormatter(parser.prog)
        for action in parser._actions:
            spelled = [
                f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                for option in action.option_strings
            ]
            if not spelled or action.help == argparse.SUPPRESS:
                continue
            takes = " -r" if action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction) else ""
            choices = f" -f -a {quoted(' '.join(map(str, action.choices)))}" if action.choices else ""
            says = f" -d {quoted(formatter._expand_help(action))}" if action.help else ""
            lines.append(f"complete -c mfsdp-lint -n {where} {' '.join(spelled)}{takes}{choices}{says}")
    return "\n".join(lines)
