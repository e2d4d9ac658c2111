"""Which rules make which others say nothing new: one cause, one finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mfsdp_lint.rules.model import Rule


def stronger(rules: Sequence[Rule]) -> Mapping[str, frozenset[str]]:
    """The codes whose finding makes that of a code superfluous, by code: `weaker_than`, through groups and onwards."""
    members = groups(rules)
    direct = {
        rule.code: {code for name in rule.weaker_than for code in members.get(name, (name,))} - {rule.code}
        for rule in rules
    }
    return {code: frozenset(_reached(code, direct) - {code}) for code in direct}


def groups(rules: Sequence[Rule]) -> Mapping[str, tuple[str, ...]]:
    """The codes of the rules that belong to each group."""
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
