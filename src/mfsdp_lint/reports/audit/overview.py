"""The summary that the audit's page begins with: findings by severity, rule and family, beside an earlier report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mfsdp_lint.core.finding import SEVERITIES, Finding
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.reports.wording import printable


@dataclass(frozen=True, slots=True)
class FormerFinding:
    """A finding of an earlier report that was not suppressed."""

    code: str
    name: str
    severity: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class FormerReport:
    """The findings of an earlier report, and the release that it judged against."""

    findings: tuple[FormerFinding, ...]
    against: str


def former_report(text: str) -> FormerReport:
    """Read what `mfsdp-lint --output-format json` wrote. Raises ValueError if it did not write this text."""
    try:
        document = json.loads(text)
        shown = (each for each in document["findings"] if not each["suppressed"])
        found = tuple(
            FormerFinding(*(str(each[name]) for name in ("code", "name", "severity", "fingerprint"))) for each in shown
        )
        return FormerReport(found, str(document["target"]["bridge"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is no report of mfsdp-lint --output-format json") from None


def overview(side: Mapping[str, Any], findings: Sequence[Finding], former: FormerReport | None) -> dict[str, Any]:
    """Count the findings and the recipes of a side's document, for the page's template.

    Every count has the earlier one beside it, None without a former report. Suppressed findings do not count.
    """
    shown = [finding for finding in findings if finding.suppressed is None]
    earlier = former.findings if former else ()
    names = {each.code: (each.name, each.severity) for each in earlier} | {
        each.code: (each.name, each.severity) for each in sorted(shown, key=_severity, reverse=True)
    }
    recipes = Counter(code for recipe in side["recipes"] for code in {each[0] for each in recipe["troubles"]})
    now, before = Counter(each.code for each in shown), Counter(each.code for each in earlier)
    severities, severities_before = Counter(each.severity for each in shown), Counter(each.severity for each in earlier)
    here, there = ({each.fingerprint for each in some} for some in (shown, earlier))
    return {
        "former": former
        and {"against": printable(former.against), "new": len(here - there), "gone": len(there - here)},
        "severities": [
            {"severity": each, "now": severities[each], "before": severities_before[each] if former else None}
            for each in SEVERITIES
        ],
        "rules": [
            {
                "code": printable(code),
                "name": printable(name),
                "severity": severity if severity in SEVERITIES else "info",
                "recipes": recipes[code],
                "now": now[code],
                "before": before[code] if former else None,
            }
            for code, (name, severity) in sorted(names.items(), key=lambda each: (_order(each[1][1]), each[0]))
        ],
        "families": _families(side),
    }


def _families(side: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Count the recipes of each family by their worst finding; the families with most errors and warnings first."""
    found: dict[str, Counter[str]] = {}
    for recipe in side["recipes"]:
        worst = min((each[2] for each in recipe["troubles"]), key=SEVERITIES.index, default="none")
        found.setdefault(recipe["family"], Counter())[worst] += 1
    rows = [
        {"family": family, "recipes": count.total(), **{each: count[each] for each in (*SEVERITIES, "none")}}
        for family, count in found.items()
    ]
    return sorted(rows, key=lambda row: (-row["error"], -row["warning"], row["family"]))


def _severity(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _order(severity: str) -> int:
    return next((at for at, each in enumerate(SEVERITIES) if each == severity), len(SEVERITIES))
