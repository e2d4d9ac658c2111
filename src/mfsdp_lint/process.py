"""What the tool changes of a whole process. The command line does, because the process is its own; a library does not.

Without it everything works: helpers that call each other very deeply are followed less far, and reading takes longer.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

STACK = 20_000
"""Frames of Python's own stack: the evaluator needs about 15 for a call that it follows."""

MOST_SET_ASIDE = 1_000_000
"""Objects of earlier readings that are kept without asking whether anybody needs them (about 100 MB)."""

_is_own = False
_needed = 0
"""Objects that were still needed when that was last asked."""


def own() -> None:
    """Says that nobody else's code runs in this process."""
    global _is_own
    _is_own = True
    sys.setrecursionlimit(max(sys.getrecursionlimit(), STACK))


@contextmanager
def without_collection() -> Iterator[None]:
    """No garbage is looked for meanwhile, where the process is the tool's own.

    Syntax trees and recipes stay alive to the end; looking for cycles among them costs a third of the time. What is
    there at the end is set aside, so that it is not looked at right afterwards, but only once there is much of it.
    """
    if not (_is_own and gc.isenabled()):
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        _set_aside()
        gc.enable()


def _set_aside() -> None:
    """What is needed grows with the project, so that it is asked again when there is MOST_SET_ASIDE more."""
    global _needed
    if gc.get_freeze_count() > MOST_SET_ASIDE + _needed:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        _needed = gc.get_freeze_count()
    gc.freeze()
