"""The control run of a finding, which has the same settings without the mistake, and the suppositions of a finding that
its recipe need not fulfil: that it saves, or loads. A trial has to put them in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, NotNone, OneOf
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.rules.check import Violation

_FACTS = ("run.", "startup.", "write.")
"""Paths that are no settings."""


@dataclass(frozen=True, slots=True)
class Control:
    """Settings to change, and settings to leave at their default."""

    set: PlainSettings
    default: tuple[str, ...] = ()

    def applied(self, settings: PlainSettings) -> dict[str, Any]:
        """Apply the control to settings."""
        return {path: value for path, value in settings.items() if path not in self.default} | dict(self.set)

    @property
    def paths(self) -> frozenset[str]:
        """Settings that the control changes."""
        return frozenset((*self.set, *self.default))


def controls_of(violation: Violation) -> tuple[Control, ...]:
    """Return the controls that remove a mistake: the rule's fix with its control settings.

    For a rule that has neither, each of these is a control: the blamed settings at their default, or as a good example
    has them; the settings that turn on the feature that they harm, at their default.
    """
    rule = violation.rule
    if rule.judges == "writes":
        return (_without_the_write(violation),)
    spec = rule.fix_for(violation.variant, violation.seen)
    fix = {**spec.set, **dict.fromkeys(spec.unset)} if spec else {}
    if found := {**fix, **rule.control}:
        return (Control(found),)
    guesses: list[Control] = []
    for guess in _guesses(violation):
        if guess not in guesses:
            guesses.append(guess)
    return tuple(guesses)


def _without_the_write(violation: Violation) -> Control:
    """Return the control of a wrong assignment: the value that start-up puts there, the intended name, or no such
    assignment.
    """
    path, remedy = violation.primary.setting, violation.remedy
    renamed = {new: violation.variant.value(old) for old, new in (remedy.rename if remedy else {}).items()}
    meant = {new: value.value for new, value in renamed.items() if isinstance(value, Known)}
    return Control({**(remedy.set if remedy else {}), **meant}, (path,))


def _guesses(violation: Violation) -> Iterator[Control]:
    rule = violation.rule
    if blamed := _paths(rule.blame.value, violation):
        yield Control({}, blamed)
    for example in rule.examples:
        settings = {path: example.settings[path] for path in violation.witnesses if path in example.settings}
        if example.severity is None and settings:
            yield Control(settings)
    if enabling := _paths(rule.blame.enabled_by, violation):
        yield Control({}, enabling)


def _paths(blamed: tuple[Condition, ...], violation: Violation) -> tuple[str, ...]:
    return tuple(path for setting in blamed for path in setting.deciding(violation.seen))


def pinned(violation: Violation, settings: PlainSettings) -> dict[str, Any]:
    """Put the mistake into the settings: those that made the rule fire are as the variant has them.

    Where a setting is one of several values, each of which is a mistake, it is the first.
    """
    result = dict(settings)
    for path in violation.witnesses:
        match violation.variant.value(path):
            case Known(value):
                result[path] = value
            case OneOf(values):
                result[path] = values[0]
            case _:
                continue
    return {path: value for path, value in result.items() if path == WORLD_SIZE or not path.startswith(_FACTS)}


SAVE = "/dry-run/checkpoints"
"""A place to save, for what only goes wrong once something is saved. Validation never looks for it."""

TIER: Literal["introspect"] = "introspect"
"""The tier that start-up validation decides."""

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


def inconclusive(reason: str, seen: str = "", tier: str = TIER) -> Confirmation:
    """Make an inconclusive verdict: nothing seen can be relied on."""
    return Confirmation("inconclusive", tier, seen, reason)


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
