"""An exception as JSON has it."""

import os
import traceback
from typing import Any

_FRAMES = 6
_LONGEST = 4000


def failure(error: BaseException) -> dict[str, Any]:
    """Describe an error: its type, its text, and the places on its way, the last one last.

    An assertion without a text is known by its source line, which replaces the text.
    """
    frames = traceback.extract_tb(error.__traceback__)
    text = str(error).strip()
    if not text and frames and isinstance(error, AssertionError):
        text = (frames[-1].line or "").strip()
    return {
        "type": type(error).__name__,
        "text": text[:_LONGEST],
        "where": [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames[-_FRAMES:]],
    }


def _short(path: str) -> str:
    """Shorten a path to the part below the folder that packages are installed in."""
    _, found, rest = path.rpartition(f"site-packages{os.sep}")
    return rest if found else path
