"""Changes of a whole process. The command line makes them, because the process is its own; a library does not.

Without them everything works: helpers that call each other very deeply are followed less far, and reading takes
longer.
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
_set_aside_since = 0
"""Objects that were set aside since it was last asked which of them are needed."""


def own() -> None:
    """Mark the process as the tool's own, without anybody else's code, and raise the limit of recursion."""
    global _is_own
    _is_own = True
    sys.setrecursionlimit(max(sys.getrecursionlimit(), STACK))


@contextmanager
def without_collection() -> Iterator[None]:
    """Switch garbage collection off for a while, where the process is the tool's own.

    Syntax trees and recipes stay alive to the end; looking for cycles among them costs a third of the time. The
    objects left at the end are set aside, so that they are not looked at right afterwards, but only once there are
    many.
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
    """Set the live objects aside; collect garbage first once there are MOST_SET_ASIDE more than are needed.

    Counting those that are set aside would walk through all of them at every reading; gc's own count of new objects is
    at hand, and a reading begins with hardly any.
    """
    global _set_aside_since
    _set_aside_since += gc.get_count()[0]
    if _set_aside_since > MOST_SET_ASIDE:
        gc.unfreeze()
        gc.collect()
        _set_aside_since = 0
    gc.freeze()
