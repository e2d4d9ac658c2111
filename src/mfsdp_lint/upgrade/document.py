"""An upgrade for programs: JSON. Every key is always there; version 1 only gains keys."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.reports.json import finding_document, span_document, target_document, value_document
from mfsdp_lint.upgrade.breaks import Break
from mfsdp_lint.upgrade.changes import Change
from mfsdp_lint.upgrade.run import Upgrade
from mfsdp_lint.upgrade.text import wanted

VERSION = 1


def document(found: Upgrade) -> dict[str, Any]:
    """Return the document of an upgrade."""
    return {
        "version": VERSION,
        "from": target_document(found.old),
        "to": target_document(found.new),
        "breaks": [_break(each) for each in found.breaks],
        "changes": [_change(each) for each in found.changes],
        "moved": dict(found.compared.moved),
        "undecided": dict(found.compared.undecided),
        "findings": {
            "new": [_finding(each) for each in found.appeared],
            "gone": [_finding(each) for each in found.gone],
        },
        "wants": [{"name": name, "old": old, "new": new} for name, old, new in wanted(found)],
        "pinned": dict(found.pinned),
        "not_pinned": dict(found.not_pinned),
        "files_to_change": sorted(found.texts),
        "summary": {
            "files": found.files,
            "recipes": found.recipes,
            "compared": found.compared.recipes,
            "equal": found.compared.equal,
        },
    }


def _break(found: Break) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "what": found.what,
        "message": found.message,
        "place": span_document(found.span),
        "successor": found.successor or None,
        "candidates": [{"name": ".".join(each.name), "differs": list(each.differs)} for each in found.candidates],
        "edits": [{**span_document(each.span), "text": each.text} for each in found.edits],
        "reason": found.reason,
        "recipes": list(found.recipes),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "setting": change.path,
        "old": value_document(change.old),
        "new": value_document(change.new),
        "cause": change.cause,
        "places": [{"old": old, "new": new} for old, new in change.places],
        "recipes": list(change.recipes),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {**finding_document(finding), "place": span_document(finding.span)}
