"""Finding a rule by its code, its name, the text of an error that ended a run, or a setting that it looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.rules.load import TERMS_FILE, raw_rules
from mfsdp_lint.rules.model import ErrorText, Rule

SHORTEST = 12
"""The number of characters of an error text that have to be the same."""

_MOST_NEAREST = 3
_CLOSE = 0.6


@dataclass(frozen=True, slots=True)
class LookupResult:
    """The rules that a text stands for; where there are none, those that come nearest."""

    rules: tuple[Rule, ...]
    nearest: tuple[Rule, ...] = ()


def lookup(text: str, rules: Sequence[Rule]) -> LookupResult:
    """Find rules by code ("mfsdp101"), name, or error: a line of it, a piece of it, or the traceback that it ended."""
    word = text.strip().casefold()
    named = tuple(rule for rule in rules if word in (rule.code.casefold(), rule.name))
    if named:
        return LookupResult(named)
    pasted = _plain(text)
    # The characters of a rule's error text in the pasted text, or of the latter in the former; 0 for none.
    lengths = {rule.code: max((_common(pasted, each) for each in errors(rule)), default=0) for rule in rules}
    longest = max(lengths.values(), default=0)
    if longest >= SHORTEST:
        return LookupResult(tuple(rule for rule in rules if lengths[rule.code] == longest))
    return LookupResult((), _nearest(pasted, rules))


def errors(rule: Rule) -> Iterator[ErrorText]:
    """Return upstream's error texts for a rule, in every version."""
    return (text for case in rule.cases for _, text in case.raises.entries)


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


_LOOKS = ("applies", "when", "condition", "safe", "set", "unset", "blame")
"""The keys under which a rule or a term speaks of settings."""

_WORD = re.compile(r"[A-Za-z_][\w.]*")


def rules_about(path: str) -> dict[str, str]:
    """Find the rules that look at a setting: their names by code. Raises RuleError and OSError as `raw_rules` does."""
    files = raw_rules()
    terms = files[TERMS_FILE]
    return {
        data["code"]: data["name"]
        for file, data in sorted(files.items())
        if file != TERMS_FILE and path in _mentioned(data, terms)
    }


def _mentioned(data: Any, terms: Mapping[str, Any]) -> set[str]:
    """Collect the settings that a rule names, directly or through its terms."""
    found: set[str] = set()
    waiting = list(_words(data))
    while waiting:
        word = waiting.pop()
        if word not in found:
            found.add(word)
            waiting += _words(terms.get(word))
    return found


def _words(data: Any, inside: bool = False) -> Iterator[str]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if inside and isinstance(key, str):
                yield from _WORD.findall(key)
            yield from _words(value, inside or key in _LOOKS)
    elif isinstance(data, list):
        for each in data:
            yield from _words(each, inside)
    elif inside and isinstance(data, str):
        yield from _WORD.findall(data)
