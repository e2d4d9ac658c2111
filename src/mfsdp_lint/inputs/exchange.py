"""Two files that change places in one step: Linux does it (renameat2), so that nothing can be lost between."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

_HERE = -100  # AT_FDCWD: paths are relative to the working directory
_EXCHANGE = 2  # RENAME_EXCHANGE


def exchange(one: str, other: str) -> bool:
    """Has two files change places. False where the system or the file system cannot, and nothing has changed then."""
    call = _renameat2()
    return call is not None and call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


@cache
def _renameat2() -> Any:
    if sys.platform != "linux":  # Emscripten's says that it did, and does nothing
        return None
    try:
        call = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):  # a library without it
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call
