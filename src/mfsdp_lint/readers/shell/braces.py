"""`{a,b}` and `{1..3}` in a word: the several words that it stands for."""

from __future__ import annotations

import re

_GROUP = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?(?:0|[1-9]\d{0,5}))\.\.(-?(?:0|[1-9]\d{0,5}))")
_MOST = 64


def words_of(text: str) -> list[str] | None:
    """Expand the braces of a word without quotes; return None where that is not modelled (groups within groups,
    letters).
    """
    found = next((each for each in _GROUP.finditer(text) if "," in each[1] or ".." in each[1]), None)
    if found is None:
        return [text] if "{" not in text or "," not in text else None
    middle = _alternatives(found[1])
    after = words_of(text[found.end() :])
    before = text[: found.start()]
    if middle is None or after is None or before.count("{") != before.count("}") or len(middle) * len(after) > _MOST:
        return None
    return [before + each + rest for each in middle for rest in after]


def _alternatives(inner: str) -> list[str] | None:
    if "," in inner:
        return inner.split(",")
    found = _RANGE.fullmatch(inner)
    if found is None or abs(int(found[1]) - int(found[2])) >= _MOST:
        return None
    first, last = int(found[1]), int(found[2])
    step = 1 if first <= last else -1
    return [str(number) for number in range(first, last + step, step)]
