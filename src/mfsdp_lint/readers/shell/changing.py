"""`${X%.*}`, `${X//a/b}`, `${X,,}`: what a text becomes."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase


def edited(text: str, change: str) -> str | None:
    """Edit a text as `%.*`, `##*/`, `/a/b`, `,,` or `^^` does; return None for every other change."""
    if change in (",,", "^^"):
        return text.lower() if change == ",," else text.upper()
    if (found := re.fullmatch(r":(\d+)(?::(\d+))?", change)) is not None:
        start = int(found[1])
        return text[start:] if found[2] is None else text[start : start + int(found[2])]
    if change[0] == "/":
        parts = change.lstrip("/").split("/")
        if len(parts) > 2 or any(each in parts[0] for each in "*?[\\\"'"):
            return None
        new = parts[1].strip("\"'") if len(parts) == 2 else ""
        return text.replace(parts[0], new, -1 if change.startswith("//") else 1) if parts[0] else None
    if change[0] in "%#":
        pattern = change.lstrip(change[0])
        longest = len(change) - len(pattern) == 2
        return None if any(each in pattern for each in "\\\"'") else _without(text, pattern, change[0], longest=longest)
    return None


def _without(text: str, pattern: str, side: str, *, longest: bool) -> str:
    cuts = range(len(text) + 1)
    if side == "#":
        ends = [end for end in cuts if fnmatchcase(text[:end], pattern)]
        return text[(max if longest else min)(ends) :] if ends else text
    starts = [start for start in cuts if fnmatchcase(text[start:], pattern)]
    return text[: (min if longest else max)(starts)] if starts else text
