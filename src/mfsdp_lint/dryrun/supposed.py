"""Suppositions of a finding that its recipe need not fulfil: that it saves, or loads. A trial has to put them in."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.values import Known, NotNone, OneOf
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.rules.check import Violation

SAVE = "/dry-run/checkpoints"
"""A place to save, for what only goes wrong once something is saved. Validation never looks for it."""

LOADS = ("checkpoint.load", "checkpoint.pretrained_checkpoint")


def loads(settings: PlainSettings) -> bool:
    """Tell whether settings load a checkpoint."""
    return any(settings.get(path) is not None for path in LOADS)


def with_a_checkpoint(violation: Violation, settings: PlainSettings) -> dict[str, Any]:
    """Add the finding's supposition to the settings: a save, or a load of the saved checkpoint."""
    stage = violation.case.stage
    put_in = {}
    if stage in ("save", "load") and settings.get("checkpoint.save") is None:
        put_in["checkpoint.save"] = SAVE
    if stage == "load" and not loads(settings):
        put_in["checkpoint.load"] = SAVE
    return {**settings, **put_in}


def supposed(violation: Violation) -> str:
    """Return the supposition that the recipe is not known to fulfil: "it saved", "it loaded"; "" where there is none.

    The content of a folder is not known either. A warning that is only about some checkpoints is seen with one that
    the trial made; an error is about whatever is loaded.
    """
    stage, variant = violation.case.stage, violation.variant
    if stage == "save" and not _is_there(variant, "checkpoint.save"):
        return "it saved"
    if stage == "load" and not any(_is_there(variant, path) for path in LOADS):
        return "it loaded"
    if stage == "load" and violation.case.severity != "error" and violation.case.showing.saved_with:
        return "what it loads was saved like that"
    return ""


def confirmed(violation: Violation, tier: str, seen: str) -> Confirmation:
    """Confirm a finding whose failure was seen, with its suppositions."""
    if what := supposed(violation):
        return Confirmation("hypothetical", tier, seen, f"would be confirmed if {what}")
    return Confirmation("confirmed", tier, seen)


def _is_there(variant: Variant, path: str) -> bool:
    match variant.value(path):
        case Known(value):
            return value is not None
        case OneOf(values):
            return None not in values
        case NotNone():
            return True
        case _:
            return False
