"""Finding a rule by its code, its name, or the text of an error that a run has ended with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.rules.errortext import ErrorText
from mfsdp_lint.rules.model import Rule

SHORTEST = 12
"""The number of characters of an error text that have to be the same."""

_MOST_NEAREST = 3
_CLOSE = 0.6


@dataclass(frozen=True, slots=True)
class Found:
    """The rules that a text stands for; where there are none, those that come nearest."""

    rules: tuple[Rule, ...]
    nearest: tuple[Rule, ...] = ()


def lookup(text: str, rules: Sequence[Rule]) -> Found:
    """Find rules by code ("mfsdp101"), name, or error: a line of it, a piece of it, or the traceback that it ended."""
    word = text.strip().casefold()
    named = tuple(rule for rule in rules if word in (rule.code.casefold(), rule.name))
    if named:
        return Found(named)
    pasted = _plain(text)
    lengths = {rule.code: _matched(pasted, rule) for rule in rules}
    longest = max(lengths.values(), default=0)
    if longest >= SHORTEST:
        return Found(tuple(rule for rule in rules if lengths[rule.code] == longest))
    return Found((), _nearest(pasted, rules))


def errors(rule: Rule) -> Iterator[ErrorText]:
    """Return upstream's error texts for a rule, in every version."""
    return (text for case in rule.cases for _, text in case.raises.entries)


def _matched(pasted: str, rule: Rule) -> int:
    """Count the characters of a rule's error text in the pasted text, or of the latter in the former; 0 for none."""
    return max((_common(pasted, text) for text in errors(rule)), default=0)


def _common(pasted: str, text: ErrorText) -> int:
    pieces = [_plain(piece) for piece in text.pieces()]
    whole = ".*?".join(map(re.escape, pieces))
    if re.search(whole, pasted):
        return sum(map(len, pieces))
    if len(pasted) >= SHORTEST and any(pasted in piece for piece in pieces):
        return len(pasted)
    return 0


def _nearest(pasted: str, rules: Sequence[Rule]) -> tuple[Rule, ...]:
    from difflib import SequenceMatcher

    last_line = pasted.rpartition("error: ")[2] or pasted

    def likeness(rule: Rule) -> float:
        known = [rule.code.casefold(), rule.name, *(_plain(text.fixed()) for text in errors(rule))]
        return max(SequenceMatcher(None, last_line, each).ratio() for each in known)

    close = sorted(((likeness(rule), rule.code, rule) for rule in rules), key=lambda each: (-each[0], each[1]))
    return tuple(rule for ratio, _, rule in close[:_MOST_NEAREST] if ratio >= _CLOSE)


def _plain(text: str) -> str:
    """Normalise white space and case, and drop ranks: terminals wrap, and launchers put ranks before lines."""
    lines = (re.sub(r"^\s*\[?(?:rank|default)\s?\d+\]?:\s?", "", line) for line in text.splitlines())
    return " ".join(" ".join(lines).split()).casefold()
