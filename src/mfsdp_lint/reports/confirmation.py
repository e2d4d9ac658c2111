"""Verdicts of a dry run on a finding, in words."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.core.finding import Confirmation

_LINES = 3


def told(confirmation: Confirmation) -> str:
    """Describe a verdict: `a dry run (introspect) confirmed it: AssertionError: …`"""
    tier = f" ({confirmation.tier})" if confirmation.tier else ""
    match confirmation.verdict:
        case "inconclusive":
            seen = f" (seen: {first_lines(confirmation.seen)})" if confirmation.seen else ""
            return f"a dry run{tier} was inconclusive: {first_lines(confirmation.reason)}{seen}"
        case "hypothetical":
            return f"a dry run{tier}: it {confirmation.reason}: {first_lines(confirmation.seen)}"
        case "refuted":
            return (
                f"a dry run{tier} refuted it: {first_lines(confirmation.seen)}; "
                "the rule seems wrong for these versions, please report it"
            )
        case verdict:
            return f"a dry run{tier} {verdict} it: {first_lines(confirmation.seen)}"


def first_lines(message: str) -> str:
    """Put the beginning of an error on one line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return " ".join(lines[:_LINES])


def document(confirmation: Confirmation) -> dict[str, Any]:
    """Describe a verdict as JSON."""
    return {
        "verdict": confirmation.verdict,
        "tier": confirmation.tier,
        "seen": confirmation.seen,
        "reason": confirmation.reason,
    }
