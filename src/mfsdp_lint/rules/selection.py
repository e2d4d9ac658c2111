"""A project's choice of rules, by code, its beginning, or name (`--select`, `--extend-select`, `--ignore`).

It may give them severities of its own, and add rules: YAML files of the same form in its own repository
(`extend-rules = ["lint/"]`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mfsdp_lint.core.finding import Finding, Severity
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.rules.fields import RuleError
from mfsdp_lint.rules.load import extended_rules
from mfsdp_lint.rules.model import Rule


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
    """Find the most similar name or code, among equals the one with the longest common beginning, for the message."""
    from difflib import SequenceMatcher
    from itertools import takewhile

    asked = word.upper()
    is_name = "-" in word or not any(character.isdigit() for character in word)
    known = sorted(names.values() if is_name and word.islower() else names)

    def likeness(each: str) -> tuple[float, int]:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(asked, each.upper(), strict=False))
        return SequenceMatcher(None, asked, each.upper()).ratio(), len(list(alike))

    nearest = max(known, key=likeness, default=None)
    return f"; the nearest is {nearest}" if nearest else ""


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
