"""The tool's own process: its recursion limit, its garbage collection, its budgets, and the progress that it shows.

The command line changes them, because the process is its own; a library does not. Without the changes everything
works: helpers that call each other very deeply are followed less far, and reading takes longer.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mfsdp_lint import terminal

STACK = 20_000
"""Frames of Python's own stack: the evaluator needs about 15 for a call that it follows."""

MOST_SET_ASIDE = 2_000_000
"""Objects of earlier readings that are kept without asking whether anybody needs them (about 200 MB)."""

MOST_BETWEEN = 50_000
"""Objects that are made outside of readings before the garbage among them is collected: nearly all of a start stay."""

MOST_NEW = 300_000
"""Objects that are made before the garbage among them is collected (about 50 MB)."""

MOST_SURVIVING = 1_000_000
"""Objects that outlive that before all of them are looked at: some were needed only until their program ended."""

PROGRESS_AFTER = 1.0
"""Seconds before any progress is shown: a quicker run needs no line."""

PROGRESS_EVERY = 0.1
"""Seconds between two lines of progress."""

_WIDTH = 100

_is_own = False
_set_aside_since = 0
"""Objects that were set aside since it was last asked which of them are needed."""
_surviving = 0
"""Objects that outlived a collection of new ones since all of this reading were looked at."""

_watched: Callable[[str, int, int], None] | None = None

_left: int | None = None
"""Units of work that may still be done; None where nothing limits it."""


def own() -> None:
    """Mark the process as the tool's own: it may recurse deeper, and garbage is collected less often."""
    global _is_own
    _is_own = True
    sys.setrecursionlimit(max(sys.getrecursionlimit(), STACK))
    gc.set_threshold(MOST_BETWEEN)


@contextmanager
def without_collection() -> Iterator[None]:
    """Switch garbage collection off for a while, where the process is the tool's own.

    Syntax trees and recipes stay alive to the end; looking for cycles among them costs a third of the time. The
    objects left at the end are set aside, so that they are not looked at right afterwards. Garbage among these is
    collected once MOST_SET_ASIDE more were set aside. Counting them would walk through all of them at every reading;
    gc's own count of new objects is at hand, and a reading begins with hardly any.
    """
    global _set_aside_since
    if not (_is_own and gc.isenabled()):
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        collect_new()
        _set_aside_since += gc.get_count()[0]
        if _set_aside_since > MOST_SET_ASIDE:
            gc.unfreeze()
            gc.collect()
            _set_aside_since = 0
        gc.freeze()
        gc.enable()


def collect_new() -> None:
    """Collect the garbage among the objects made since the last time, once they are many; only these are looked at,
    and now and then all that this reading has made since it was last done.
    """
    global _set_aside_since, _surviving
    made = gc.get_count()[0]
    if made > MOST_NEW:
        survived = made - gc.collect(0)
        _surviving += survived
        if _surviving > MOST_SURVIVING:
            survived -= gc.collect()
            gc.freeze()  # what outlives this as well is needed to the end of the reading, nearly always
            _surviving = 0
        _set_aside_since += survived


class OverBudget(BaseException):
    """More work would be needed than may be done here. No fault of a file: what contains faults lets it pass."""


@contextmanager
def budget(units: int | None) -> Iterator[None]:
    """Limit the work that is done meanwhile (None: no limit), in units that are the same on every machine.

    Whoever works spends them; past the limit that raises OverBudget.
    """
    global _left
    before, _left = _left, units
    try:
        yield
    finally:
        _left = before


def afford(units: int) -> None:
    """Give up at once where work surely takes more than the budget still allows. Raises OverBudget."""
    if _left is not None and units > _left:
        raise OverBudget


def spend(units: int) -> None:
    """Count work against the budget. Raises OverBudget."""
    global _left
    if _left is not None:
        _left -= units
        if _left < 0:
            raise OverBudget


def spend_all() -> None:
    """End the work that a budget limits, at its next step: somebody waits for something else."""
    global _left
    if _left is not None:
        _left = 0


def progress_line() -> Callable[[str], None]:
    """Return a function that shows a line in place of the one before, if there is a terminal; "" takes it away."""
    return (lambda text: terminal.progress(text, _WIDTH)) if sys.stderr.isatty() else (lambda _: None)


def tell_progress(what: str, done: int, of: int) -> None:
    """Report how far a stage of the run has come."""
    if _watched is not None:
        _watched(what, done, of)


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show the progress that is reported meanwhile on a terminal, once it takes a while.

    The line is gone before anything else is printed.
    """
    global _watched
    if not sys.stderr.isatty():
        yield
        return
    show, begun, last = progress_line(), time.monotonic(), 0.0

    def watch(what: str, done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - begun >= PROGRESS_AFTER and now - last >= PROGRESS_EVERY:
            last = now
            show(f"{what}: {done} of {of}")

    _watched = watch
    try:
        yield
    finally:
        _watched = None
        if last:
            show("")
