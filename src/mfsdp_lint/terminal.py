"""Output of the tool: all text goes through here, so that nothing in it steers a terminal or a job of a CI.

Names of files, keys, values and messages are written by others. Text for people is escaped here, whether or not its
author has escaped it; a format for programs has escapes of its own.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` itself would cost a third of the time that --version takes
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO, TextIO

_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control, direction and other invisible characters, lone surrogates, line and paragraph separators."""

_COMMANDS = ("##[", "##vso[")
"""Beginnings of a command of GitHub's older runners and of Azure Pipelines, anywhere in a line."""


def printable(text: str) -> str:
    r"""Return the text on one line; characters that would steer the terminal are escaped (`\x1b`, `\n`)."""
    if text.isprintable():
        return text
    from unicodedata import category

    return "".join(ascii(each)[1:-1] if category(each) in _STEERING else each for each in text)


def lines(text: str, *, colored: bool = False) -> str:
    """Return the text with its own line ends and tabs, and else as `printable` has it; no line is a command to a CI.

    `colored`: with its own colours.
    """
    return "\n".join(_inert(_line(each, colored)) for each in text.split("\n"))


def _line(text: str, colored: bool) -> str:
    if text.isprintable():
        return text
    if colored:
        import re

        pieces = re.split(r"(\x1b\[[0-9;]*m)", text)
        return "".join(each if number % 2 else _line(each, colored=False) for number, each in enumerate(pieces))
    return "\t".join(map(printable, text.split("\t")))


def _inert(line: str) -> str:
    """Return the line in a form that a runner does not take for a command (`::error::…`)."""
    text = line.lstrip()
    if text.startswith("::"):
        line = line[: len(line) - len(text)] + "\\x3a" + text[1:]
    for command in _COMMANDS:
        line = line.replace(command, "\\x23" + command[1:])
    return line


def columns() -> int:
    """Return the width of the terminal that is printed to; 0 where it is none, and lines may be as long as they are."""
    if not sys.stdout.isatty():
        return 0
    try:
        return int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(sys.stdout.fileno()).columns
    except (ValueError, OSError):
        return 80


def show(text: str, *, colored: bool = False) -> None:
    """Print text for people."""
    sys.stdout.write(lines(text, colored=colored))


def document(pieces: Iterable[str]) -> None:
    """Print text for programs: the format itself says how text is escaped."""
    sys.stdout.writelines(pieces)


def data(content: bytes) -> None:
    """Print bytes as they are: a patch, or the input of another process of ours."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def note(text: str, *more: str) -> None:
    """Print a message on standard error, in one line, and perhaps more lines that belong to it."""
    said = "\n".join([printable(f"mfsdp-lint: {text}"), *map(printable, more)])
    print(lines(said), file=sys.stderr, flush=True)


def notes(text: str) -> None:
    """Print lines on standard error."""
    sys.stderr.write(lines(text))


def channel() -> BinaryIO:
    """Give a program that talks over standard output a stream of its own, which it may close."""
    return os.fdopen(os.dup(sys.stdout.fileno()), "wb")


def hang_up() -> None:
    """Take another standard output where the reader of this one (`| head`) is gone.

    Python would complain when it flushes it at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def progress(text: str, width: int) -> None:
    """Show a line in place of the one before on standard error; "" takes it away."""
    print(f"\r\x1b[K{printable(text)[:width]}", end="", file=sys.stderr, flush=True)


def never_fail_to_print() -> None:
    """Let the streams escape a path or message that the terminal's encoding cannot show, without a traceback."""
    streams: tuple[TextIO, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
