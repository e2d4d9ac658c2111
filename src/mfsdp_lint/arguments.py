"""The argument parser of a command, and the types of arguments that commands share."""

from __future__ import annotations

import argparse
from typing import NoReturn

from mfsdp_lint import __version__
from mfsdp_lint.options import UsageError


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as the rest of the tool does, instead of printing the whole usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def parser_for(prog: str, summary: str, epilog: str = "") -> Parser:
    """The parser of one command, with what every command has."""
    parser = Parser(prog=prog, description=summary, epilog=epilog, allow_abbrev=False)
    parser.add_argument("-V", "--version", action="version", version=f"mfsdp-lint {__version__}")
    return parser


def comma_separated(text: str) -> tuple[str, ...]:
    """`A,B` as a tuple; empty pieces do not count."""
    return tuple(piece.strip() for piece in text.split(",") if piece.strip())
