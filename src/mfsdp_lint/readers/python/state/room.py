"""Room for deep recursion, which CPython otherwise makes and gives back again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

ROOM = 270_000
"""Just above 2 MB in words, so that the piece is of 4 MB and what is called has the other half."""


def with_room(run: Callable[[], Result]) -> Result:
    """Return the result of `run`; all calls within it find their frames' memory ready.

    CPython (3.11 and later, `_PyThreadState_PushFrame`) takes memory for frames in pieces of 16 KB, and gives a piece
    back when the first frame in it ends. A recursion that swings to and fro over the end of a piece pays for that each
    time: a tenth of the cost of evaluating recipes. A frame that says that it needs more gets a larger piece, a power
    of two, and later frames are put behind it; memory that nobody touches costs nothing.
    """
    return run()


with_room.__code__ = with_room.__code__.replace(co_stacksize=ROOM)
