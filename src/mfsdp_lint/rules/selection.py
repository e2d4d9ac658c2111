"""A project's choice of rules, and the search for a rule.

Rules are chosen by code, its beginning, or name (`--select`, `--extend-select`, `--ignore`). A project may give them
severities of its own, and add rules: YAML files of the same form in its own repository (`extend-rules = ["lint/"]`).
A rule is found by its code, its name, the text of an error that ended a run, or a setting that it looks at.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from mfsdp_lint.core.finding import Finding, Severity
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.rules.form import RuleError
from mfsdp_lint.rules.load import TERMS_FILE, extended_rules, raw_rules
from mfsdp_lint.rules.model import ErrorText, Rule


def selected(codes: Collection[str], select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """Select those of `codes` that count. If both sides match, the longer prefix decides; if equally long, `ignore`.

    An empty `select` means all. `select` and `ignore` have codes and prefixes, see `resolved`.
    """
    return frozenset(code for code in codes if longest(code, select or [""]) > longest(code, ignore))


def longest(code: str, prefixes: Sequence[str]) -> int:
    """Return the length of the longest prefix that matches, -1 if none does."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def resolved(words: Sequence[str], names: Mapping[str, str], option: str) -> tuple[str, ...]:
    """Convert the words to codes and prefixes of codes; `names` has the name of every code.

    Raises UsageError for a word that is neither a name nor the beginning of a code.
    """
    by_name = {name: code for code, name in names.items()}
    for word in words:
        if word not in by_name and not any(code.startswith(word) for code in names):
            raise UsageError(f"{option}: there is no rule {word!r}{_nearest(word, names)}")
    return tuple(by_name.get(word, word) for word in words)


def _nearest(word: str, names: Mapping[str, str]) -> str:
    """Return the code or name that was meant, for the message; "" where none is near.

    Numbers of codes are all alike, so a code is near only if its number is the same.
    """
    digits = "".join(filter(str.isdigit, word))
    if "-" in word or not digits:
        return did_you_mean(word.lower(), names.values(), cutoff=0.7)
    return did_you_mean(word.upper(), [code for code in names if code.endswith(digits) and len(digits) == 3])


@dataclass(frozen=True, slots=True)
class Levels:
    """By code or prefix; the longest that matches decides, and of equals the last."""

    said: tuple[tuple[str, Severity], ...] = ()

    def of(self, code: str, severity: Severity) -> Severity:
        """Return the severity of a finding that the rule gives `severity`."""
        matching = [each for each in self.said if code.startswith(each[0])]
        if not matching:
            return severity
        most = max(len(prefix) for prefix, _ in matching)
        return next(level for prefix, level in reversed(matching) if len(prefix) == most)

    def applied(self, finding: Finding) -> Finding:
        """Give the finding, and its entry for each recipe, the severity that counts here."""
        if not self.said:
            return finding
        recipes = tuple(replace(each, severity=self.of(finding.code, each.severity)) for each in finding.recipes)
        return replace(finding, severity=self.of(finding.code, finding.severity), recipes=recipes)


def rules_for(extensions: Sequence[str]) -> tuple[Rule, ...]:
    """Load the tool's rules and those of some folders. Raises UsageError for a folder or a rule that is not right."""
    from pathlib import Path  # few projects have rules of their own

    folders = [Path(extension) for extension in extensions]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"extend-rules: {folder}: no such folder")
    try:
        return extended_rules(folders)
    except RuleError as problem:
        raise UsageError(f"extend-rules: {problem}") from None


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
    if re.fullmatch(r"mfsdp\d*", word):  # numbers of codes are all alike
        return LookupResult(())
    pasted = _plain(text)
    # The characters of a rule's error text in the pasted text, or of the latter in the former; 0 for none.
    lengths = {rule.code: max((_common(pasted, each) for each in errors(rule)), default=0) for rule in rules}
    longest = max(lengths.values(), default=0)
    if longest >= SHORTEST:
        return LookupResult(tuple(rule for rule in rules if lengths[rule.code] == longest))
    return LookupResult((), _nearest_rules(pasted, rules))


def errors(rule: Rule) -> Iterator[ErrorText]:
    """Return upstream's error texts for a rule, in every version."""
    return (text for case in rule.cases for _, text in case.raises.entries)


def _common(pasted: str, text: ErrorText) -> int:
    pieces = [_plain(piece) for piece in text.pieces()]
    end = 0  # of the pieces so far, each as early as it can be: if that finds no way, there is none
    for piece in pieces:
        begin = pasted.find(piece, end)
        if begin < 0:
            break
        end = begin + len(piece)
    else:
        return sum(map(len, pieces))
    if len(pasted) >= SHORTEST and any(pasted in piece for piece in pieces):
        return len(pasted)
    return 0


def _nearest_rules(pasted: str, rules: Sequence[Rule]) -> tuple[Rule, ...]:
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

_WORD = lazy_pattern(r"[A-Za-z_][\w.]*")


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
