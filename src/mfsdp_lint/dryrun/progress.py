"""What is going on, for whoever watches: one line that goes away."""

from __future__ import annotations

import sys
from collections.abc import Callable

_WIDTH = 100


def progress() -> Callable[[str], None]:
    """Shows a line on standard error in place of the one before, if that is a terminal; "" takes it away."""
    if not sys.stderr.isatty():
        return lambda _: None

    def show(text: str) -> None:
        print(f"\r\x1b[K{text[:_WIDTH]}", end="", file=sys.stderr, flush=True)

    return show
