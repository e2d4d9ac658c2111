"""Settings that a rule looks at, read from the rule files as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mfsdp_lint.rules.load import TERMS_FILE, raw_rules

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
