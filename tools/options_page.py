"""docs/options.md, made from the commands' parsers: `python -m tools.options_page` (`make docs`)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

from mfsdp_lint.checkout import CHECKOUT
from mfsdp_lint.cli import COMMANDS, DEFAULT_COMMAND
from mfsdp_lint.commands.arguments import Parser, parser_for

PAGE = CHECKOUT.parent / "docs" / "options.md"

HEAD = f"""# Commands and options

`mfsdp-lint COMMAND [OPTIONS]`; without a command it is `{DEFAULT_COMMAND}`. `mfsdp-lint COMMAND --help` shows
the same. Options that a project always
wants are keys of its [configuration](configuration.md).

| command | |
| --- | --- |"""


def text() -> str:
    """Write the page."""
    rows = (f"| [`{name}`](#{name}) | {_cell(summary)} |" for name, summary in COMMANDS.items())
    return "\n".join([HEAD, *rows, "", *(line for name in COMMANDS for line in _command(name))])


def _command(name: str) -> Iterator[str]:
    module = import_module(f"mfsdp_lint.commands.{name.replace('-', '_')}")
    prog = f"mfsdp-lint {name}"
    parser = parser_for(prog, module.SUMMARY, ())
    module.add_arguments(parser)
    yield from (f"## {name}", "", module.SUMMARY, "")
    yield from ("```console", *(f"$ {line}  # {says}" for line, says in module.EXAMPLES), "```", "")
    yield from _groups(parser)


def _groups(parser: Parser) -> Iterator[str]:
    formatter = argparse.HelpFormatter(parser.prog)
    for group in parser._action_groups:
        told = [action for action in group._group_actions if _is_told(action)]
        if not told:
            continue
        yield from (f"| {group.title} | |", "| --- | --- |")
        yield from (f"| {_spelling(action)} | {_cell(_help(action, formatter))} |" for action in told)
        yield ""


def _is_told(action: argparse.Action) -> bool:
    """Tell whether the page has an option: it leaves out `--help`, `--version`, and options hidden in the help."""
    return action.help != argparse.SUPPRESS and action.dest not in ("help", "version")


def _help(action: argparse.Action, formatter: argparse.HelpFormatter) -> str:
    """Return the help of an option; empty if its name and choices say all."""
    return formatter._expand_help(action) if action.help else ""


def _spelling(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    taken = "" if action.nargs == 0 else f" {action.metavar or _choices(action) or action.dest.upper()}"
    return ", ".join(f"`{option}{_cell(taken)}`" for option in action.option_strings)


def _choices(action: argparse.Action) -> str:
    return ",".join(map(str, action.choices)).join("{}") if action.choices else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
