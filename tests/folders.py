"""Folders that tests and benchmarks work in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Makes a folder the current one for a while (`contextlib.chdir`, which Python 3.10 does not have)."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
