"""Fixes that have an edit in common are made together, or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mfsdp_lint.core.finding import Edit, Fix
from mfsdp_lint.core.records import replace


def grouped(fixes: Mapping[str, Fix]) -> dict[str, Fix]:
    """Add to each fix, by fingerprint, the keys of the fixes that must be made together with it."""
    users: dict[Edit, list[str]] = defaultdict(list)
    group: dict[str, set[str]] = {}
    for key, fix in fixes.items():
        group[key] = {key}
        for edit in fix.edits:
            users[edit].append(key)
    for keys in users.values():
        together = set().union(*(group[key] for key in keys))
        group |= dict.fromkeys(together, together)
    return {key: replace(fix, together=tuple(sorted(group[key] - {key}))) for key, fix in fixes.items()}
