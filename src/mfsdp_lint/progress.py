"""Progress of a run: one line on standard error that goes away, if that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mfsdp_lint import terminal

AFTER = 1.0
"""Seconds before anything is shown: a quicker run needs no line."""

EVERY = 0.1
"""Seconds between two lines."""

_WIDTH = 100

_watched: Callable[[str, int, int], None] | None = None


def progress() -> Callable[[str], None]:
    """Return a function that shows a line in place of the one before; "" takes it away."""
    if not sys.stderr.isatty():
        return lambda _: None

    def show(text: str) -> None:
        terminal.progress(text, _WIDTH)

    return show


def tell(what: str, done: int, of: int) -> None:
    """Report how far a stage of the run has come."""
    if _watched is not None:
        _watched(what, done, of)


@contextmanager
def shown() -> Iterator[None]:
    """Show the progress that is reported meanwhile, once it takes a while.

    The line is gone before anything else is printed.
    """
    global _watched
    if not sys.stderr.isatty():
        yield
        return
    show, begun, last = progress(), time.monotonic(), 0.0

    def watch(what: str, done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - begun >= AFTER and now - last >= EVERY:
            last = now
            show(f"{what}: {done} of {of}")

    _watched = watch
    try:
        yield
    finally:
        _watched = None
        if last:
            show("")
