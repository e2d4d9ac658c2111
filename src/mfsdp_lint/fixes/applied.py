"""A fix that was made, for those who want to know what it did."""

from __future__ import annotations

from mfsdp_lint.core.finding import Applied
from mfsdp_lint.core.values import spell
from mfsdp_lint.fixes.prove import Proved


def applied(fix: Proved) -> Applied:
    """Describe a proved fix as it was applied."""
    changes = [f"{path} = {spell(value)}" for need in fix.request.needs for path, value in need.set.items()]
    changes += [f"{path} is not set any more" for need in fix.request.needs for path in need.unset]
    changes += [edit.text.strip() or "taken out" for need in fix.request.needs for edit in need.edits]
    first = min(fix.edits, key=lambda edit: edit.span)
    return Applied(fix.request.code.split()[0], fix.request.safety, first.span, tuple(dict.fromkeys(changes)))
