"""Results of trying out the rules' examples, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.dryrun.inventory import Installed
from mfsdp_lint.dryrun.verify import VerifiedRule

_EXPECTED = {True: "confirmed", False: "passed"}


def table(rows: Sequence[VerifiedRule], label: str) -> str:
    """Render Markdown: the rules that were tried, the number that could not be, and the grounds of every other
    verdict.

    `label` names the versions used.
    """
    tried = [row for row in rows if row.tier in ("introspect", "cpu") or (row.tier == "gpu" and row.tried)]
    lines = ["| rule | tier | bad examples | good examples | seconds | |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {row.code} {row.name} | {row.tier} | {row.told(True)} | {row.told(False)} | {row.seconds:.2f} "
        f"| {row.agreement} |"
        for row in tried
    ]
    counts = Counter(row.agreement for row in tried)
    of_gpu = sum(row.tier == "gpu" and not row.tried for row in rows)
    lines += [
        "",
        f"{label}: {len(tried)} rules tried, {counts['agreement']} in agreement, {counts['disagreement']} in "
        f"disagreement, {counts['undecidable']} undecidable. {of_gpu} more need a GPU, and "
        f"{len(rows) - len(tried) - of_gpu} are about what no run shows.",
        "",
        *(
            f"- {each.name}: {each.verdict}: {' '.join(each.seen.split())}"
            for row in tried
            for each in row.tried
            if each.verdict != _EXPECTED[each.bad]
        ),
    ]
    return "\n".join(lines) + "\n"


def document(rows: Sequence[VerifiedRule], installed: Installed) -> dict[str, Any]:
    """Describe the results as JSON."""
    return {
        "version": 1,
        "installed": dict(installed.packages),
        "rules": [
            {
                "code": row.code,
                "name": row.name,
                "tier": row.tier,
                "agreement": row.agreement,
                "seconds": round(row.seconds, 3),
                "examples": [
                    {"bad": each.bad, "number": each.number, "verdict": each.verdict, "seen": each.seen}
                    for each in row.tried
                ],
            }
            for row in rows
        ],
    }
