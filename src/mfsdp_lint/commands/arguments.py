"""The argument parser of a command, and the types of arguments that commands share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from mfsdp_lint import terminal
from mfsdp_lint.core import files
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.core.records import fields, replace
from mfsdp_lint.core.version import __version__
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.options import Options, UsageError, merge
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.reports.wording import count, unfollowed_lines

if TYPE_CHECKING:
    from mfsdp_lint.engine.read import Question, Read


class Help(argparse.HelpFormatter):
    """A formatter as wide as the terminal.

    argparse asks `shutil` for the width, with all its archives, for every single argument.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break a sentence where the line ends; keep the lines of a text that has several."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


def _columns() -> int:
    try:
        return int(os.environ["COLUMNS"]) or 80
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 80
    except (AttributeError, ValueError, OSError):
        return 80


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as the rest of the tool does, instead of printing the whole usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, with the known options that an unknown one begins or is nearest to."""
        # argparse lists every word behind an unknown option as well: it does not know whether they are its values.
        words = message.partition("unrecognized arguments: ")[2].split()
        if option := next((word.partition("=")[0] for word in words if word.startswith("-")), None):
            known = list(self._option_string_actions)
            begun = [name for name in known if name.startswith(f"{option}-")]
            hint = f"; it begins {', '.join(begun)}" if begun else did_you_mean(option, known, cutoff=0.7)
            message = f"unknown option {option}{hint}"
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            known = [str(choice) for choice in action.choices or ()]
            raise argparse.ArgumentError(action, f"{error.message}{did_you_mean(str(value), known)}") from None

    def format_usage(self) -> str:
        """Return the usage in one line: the options are listed below it."""
        positional = " ".join(self._shown(action) for action in self._get_positional_actions())
        return f"usage: {self.prog} [OPTIONS] {positional}".rstrip() + "\n"

    def format_help(self) -> str:
        """Return the help with one line of usage."""
        self.usage = self.format_usage().removeprefix("usage: ").rstrip().replace("%", "%%")
        return super().format_help()

    def _shown(self, action: argparse.Action) -> str:
        name = str(action.metavar or action.dest)
        return {"*": f"[{name} ...]", "?": f"[{name}]", "+": f"{name} ..."}.get(str(action.nargs), name)


def parser_for(prog: str, summary: str, examples: Sequence[tuple[str, str]]) -> Parser:
    """Return the parser of one command, with the options of every command.

    Each example is a command line and its purpose.
    """
    lines = [f"  {line}\n      {says}" for line, says in examples]
    epilog = "\n".join(["examples:", *lines])
    parser = Parser(prog=prog, description=summary, epilog=epilog, allow_abbrev=False, formatter_class=Help)
    parser.add_argument("-V", "--version", action="version", version=f"mfsdp-lint {__version__}")
    return parser


def word_first(arguments: list[str]) -> list[str]:
    """Return the arguments of a command about a word, which may look like an option (`--ckpt-format`) and is none."""
    own = ("-h", "--help", "-V", "--version", "--front-end", "--", "--all")
    return ["--", *arguments] if arguments and arguments[0].startswith("-") and arguments[0] not in own else arguments


def comma_separated(text: str) -> tuple[str, ...]:
    """Split `A,B` into a tuple; empty pieces do not count."""
    return tuple(piece.strip() for piece in text.split(",") if piece.strip())


class OptionList:
    """Options of a command, or of one heading of its help: the names of each, perhaps a metavar, and the help."""

    def __init__(self, parser: argparse.ArgumentParser, heading: str = "") -> None:
        self._add: Callable[..., Any] = (parser.add_argument_group(heading) if heading else parser).add_argument

    def flag(self, *said: str) -> None:
        """Add an option that is given or not."""
        *names, about = said
        self._add(*names, action="store_true", help=about)

    def switch(self, name: str, about: str) -> None:
        """Add an option with an opposite, `--no-…`; None where neither is given."""
        self._add(name, action=argparse.BooleanOptionalAction, help=about)

    def constant(self, name: str, value: object, about: str, **more: Any) -> None:
        """Add an option that stands for a value; None where it is not given."""
        self._add(name, action="store_const", const=value, help=about, **more)

    def value(self, *said: str, **more: Any) -> None:
        """Add an option with a value."""
        *names, metavar, about = said
        self._add(*names, metavar=metavar, help=about, **more)

    def choice(self, name: str, choices: Iterable[str], about: str = "", **more: Any) -> None:
        """Add an option with one of several values."""
        self._add(name, choices=choices, help=about or None, **more)

    def several(self, name: str, metavar: str, about: str, **more: Any) -> None:
        """Add an option that can be repeated."""
        self._add(name, action="append", metavar=metavar, help=about, **more)


def add_pinned_versions(group: OptionList) -> None:
    """Add the options for what a megatron-bridge release is judged together with."""
    group.value("--target-core", "VERSION", "the megatron-core release, if it is not the one that megatron-bridge pins")
    group.value("--target-te", "VERSION", "the Transformer Engine version")
    group.value("--target-torch", "VERSION", "the PyTorch version")
    group.value("--target-gpu", "NAME", "the GPU type, for example h100")


def add_what_is_read(group: OptionList, *, launch: bool = True) -> None:
    """Add the options that decide which files are read and against which versions they are judged.

    None means "not given". The options of one launch are left out for commands that change a file, because the file
    has other launches.
    """
    group.several("--exclude", "PATTERN", "skip matching files and folders; repeatable")
    group.constant("--force-exclude", True, "apply --exclude also to files named on the command line")
    group.constant("--no-ignore", False, "also read files that git ignores", dest="respect_gitignore")
    group.value(
        "--target-bridge",
        "VERSION",
        "the megatron-bridge release to judge against (0.4.2, head), or a range of them (>=0.4,<0.6)",
    )
    add_pinned_versions(group)
    group.value("--front-end", "NAME", "read YAML files as configurations of this framework")
    group.several("--search-path", "DIR", "a folder to find imports in; repeatable")
    group.constant(
        "--no-installed-source",
        False,
        "do not read the target's source where it is installed or checked out beside the project",
        dest="installed_source",
    )
    if not launch:
        return
    group.several("--set", "PATH=VALUE", "override a setting, as a launcher would; repeatable", dest="overrides")
    group.several(
        "--env",
        "NAME=VALUE",
        "set an environment variable for the run; NAME alone: unset it; repeatable",
        dest="environment",
    )


def add_output(parser: argparse.ArgumentParser, formats: Sequence[str]) -> OptionList:
    """Add the options of printing and configuration; return their group."""
    output = OptionList(parser, "output and configuration")
    output.choice("--output-format", formats)
    add_configuration(output)
    return output


def add_configuration(group: OptionList) -> None:
    """Add the options of every command that reads a project: a wrapper may hand them to each."""
    group.value("--config", "FILE", "read the configuration from this file")
    group.flag("--isolated", "ignore configuration files")
    group.switch("--cache", "reuse results while no file that a check read has changed")
    group.value("--cache-dir", "DIR", "the folder for the cache (default: .mfsdp_cache in the project)")


def options_from(arguments: Mapping[str, Any]) -> Options:
    """Merge the options of a command line over those of the configuration. Raises UsageError."""
    given: dict[str, Any] = {field.name: arguments.get(field.name) for field in fields(Options)}
    if isinstance(given["output_format"], str):
        given["output_format"] = [given["output_format"]]
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    given |= lists | {"paths": tuple(given["paths"]) or None}
    configured = {} if arguments.get("isolated") else read_configuration(arguments["config"])
    return merge(given, configured)


def read_asked(
    arguments: argparse.Namespace, *, only_runs: bool = False, tracing: bool = False, **given: Any
) -> tuple[Question, Sources, Read]:
    """Read the files that a command is asked about; `given` replaces arguments. Raises UsageError."""
    from mfsdp_lint.engine.read import question, read

    asked, not_there = question(options_from({**vars(arguments), "output_format": None, **given}))
    asked = replace(asked, only_runs=only_runs)
    sources = Sources(asked.texts)
    found = read(asked, sources, tracing=tracing)
    return asked, sources, replace(found, problems=(*not_there, *found.problems))


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


def print_json(document: Any) -> None:
    """Print a document for programs."""
    import json

    terminal.document([json.dumps(document, indent=2), "\n"])


def needs_jinja() -> None:
    """Raise UsageError where a page cannot be made, before a run that would be for nothing."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise UsageError(f"{error.name} comes with mfsdp-lint[report]: pip install '.[report]' in a checkout") from None


def tell(remarks: Iterable[str], problems: Iterable[Problem]) -> int:
    """Print to stderr which files could not be read or are missing.

    Returns the exit code of a command that only asks.
    """
    for remark in remarks:
        terminal.note(f"warning: {remark}")
    code = 0
    for problem in dict.fromkeys(problems):
        place = "" if problem.kind == "usage" else f":{problem.line}:{problem.column}"
        weight = "warning" if problem.kind == "foreign" else "error"
        terminal.note(f"{weight}: {problem.path}{place}: {problem.message}")
        code = max(code, {"usage": 2, "foreign": 0}.get(problem.kind, 1))
    return code


def tell_unfollowed(unfollowed: Sequence[Unfollowed], *, every: bool) -> None:
    """Print to stderr the code of which there is no recipe though there should be; or only its amount."""
    if every:
        for line in unfollowed_lines(unfollowed):
            terminal.note(line)
    elif unfollowed:
        terminal.note(f"{count(len(unfollowed), 'recipe')} could not be followed (--show-unfollowed)")
