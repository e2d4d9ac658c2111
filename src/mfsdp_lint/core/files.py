"""The tool's own files: where they are, and how one is written. Imports next to nothing: every run starts here."""

from __future__ import annotations

import os
from contextlib import suppress

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

RULES = os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), "rules")
"""The rules of a checkout; a wheel has no such folder beside it."""


def put(path: str, content: bytes, mode: int = 0o666) -> None:
    """Writes a file in one step: one that reads or writes it at the same time sees the old file or the new one.

    `mode` are its permissions, as far as the process grants them. Raises OSError, and then nothing is left behind.
    """
    beside = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), mode)
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
