"""Every file that the tool opens, of whatever purpose, is opened here. Imports next to nothing: every run starts here.

A project is input, and so are its configuration, its baseline and its cache: a name in it may lead to a pipe, which
would be waited for, or to a device, which never ends. Only regular files are read, and only so much of them.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO, Literal

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

RULES = os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), "rules")
"""The rules of a checkout; a wheel has no such folder beside it."""

MOST = 64 * 2**20
"""Bytes of a file that is read as a whole: a larger one is not what it is taken for."""

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def descriptor(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open a regular file. Raises OSError, also for what is none, and ValueError for an impossible path."""
    number = os.open(path, flags | _AT_ONCE, mode)
    kind = os.fstat(number).st_mode
    if not stat.S_ISREG(kind):
        os.close(number)
        code = errno.EISDIR if stat.S_ISDIR(kind) else errno.EINVAL
        raise OSError(code, os.strerror(code).lower() if stat.S_ISDIR(kind) else "not a regular file", os.fspath(path))
    return number


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read pieces of it. Raises as `descriptor` does."""
    return os.fdopen(descriptor(path), "rb")


def read(path: str | os.PathLike[str], most: int = MOST) -> bytes:
    """Read a regular file as a whole. Raises OSError, also for what is larger or no file, and ValueError."""
    with opened(path) as file:
        content = beginning(file, most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MB", os.fspath(path))
    return content


def text(path: str | os.PathLike[str], most: int = MOST) -> str:
    """Read a file of UTF-8, with `\\n` for every line end. Raises as `read` does."""
    return read(path, most).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def beginning(file: BinaryIO, most: int) -> bytes:
    """Read up to so many bytes of a file that was just opened."""
    size = os.fstat(file.fileno()).st_size
    # Making room for the largest file takes longer than reading the usual one.
    content = file.read(min(size, most)) or b""
    if len(content) == size < most:
        content += file.read(most - size) or b""  # it has grown, or does not say its size
    return content


def written(path: str | os.PathLike[str], how: Literal["w", "a", "x"] = "w") -> BinaryIO:
    """Open what a user names to write to, which may be a pipe or a device: anew, at its end, or only where it is new.

    Raises OSError, also for a pipe that nobody reads.
    """
    more = {"w": os.O_TRUNC, "a": os.O_APPEND, "x": os.O_EXCL}[how]
    number = os.open(path, os.O_WRONLY | os.O_CREAT | more | _AT_ONCE, 0o666)
    if hasattr(os, "set_blocking"):
        os.set_blocking(number, True)  # a reader that is there may be slow
    return os.fdopen(number, "ab" if how == "a" else "wb")


def put(path: str, content: bytes, mode: int = 0o666) -> None:
    """Write a file in one step: a process that reads or writes it at the same time sees the old file or the new one.

    `mode` holds its permissions, as far as the process grants them. Raises OSError, and then leaves nothing behind.
    """
    beside = f"{path}.{os.getpid()}"
    try:
        with suppress(FileNotFoundError):
            os.unlink(beside)  # of an earlier process of this number; and no link is followed
        with os.fdopen(descriptor(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
