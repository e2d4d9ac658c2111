"""Order of strength among rules, so that one cause gives one finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mfsdp_lint.rules.model import Rule


def stronger(rules: Sequence[Rule]) -> Mapping[str, frozenset[str]]:
    """Map each code to the codes whose finding makes its own superfluous: `weaker_than`, by groups, transitively."""
    members = groups(rules)
    direct = {
        rule.code: {code for name in rule.weaker_than for code in members.get(name, (name,))} - {rule.code}
        for rule in rules
    }
    return {code: frozenset(_reached(code, direct) - {code}) for code in direct}


def groups(rules: Sequence[Rule]) -> Mapping[str, tuple[str, ...]]:
    """Return the codes of the rules that belong to each group."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        for name in rule.groups:
            found.setdefault(name, []).append(rule.code)
    return {name: tuple(codes) for name, codes in found.items()}


def _reached(code: str, direct: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [code]
    while ahead:
        new = direct.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found
