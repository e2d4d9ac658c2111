"""card.yaml: the skill in short, as data."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from tools.evidenced import BRIDGE
from tools.skill.enabling import to_write
from tools.skill.page import DESCRIPTION, NAME
from tools.skill.pitfalls import NEWEST, Pitfall


def card(pitfalls: Sequence[Pitfall]) -> str:
    """Write the card. Constraints stop a run of the newest release, limitations make it go wrong in silence."""
    there = (Pitfall(each.rule, {NEWEST: each.at[NEWEST]}) for each in pitfalls if NEWEST in each.at)
    now = [each for each in there if each.severity == "error"]
    data = {
        "title": NAME.replace("-", "_"),
        "summary": DESCRIPTION,
        "releases": list(BRIDGE),
        "newest": NEWEST,
        "recommended_path": dict(to_write()),
        "known_constraints": [_told(each) for each in now if not each.is_silent],
        "known_limitations": [_told(each) for each in now if each.is_silent],
        "evidence": sorted({f"{place.repository} {place.path}" for each in now for place in each.evidence}),
    }
    written: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120)
    return written


def _told(pitfall: Pitfall) -> str:
    return f"{pitfall.rule.code} {pitfall.rule.summary}"
