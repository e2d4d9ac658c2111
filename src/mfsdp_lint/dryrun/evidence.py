"""Evidence of a mistake in a run: the error that its rule names, numbers that plain DDP does not have, observations.

The control run of a finding has the same settings without the mistake. A trial puts in what a finding supposes and its
recipe need not do: that it saves, or loads.

For a mistake that raises nothing, a rule's `shows` speaks of observations as of settings:

    seen.stage         "done", or the stage in which the run failed
    seen.wrapped_as    the class that wrapped the model
    seen.after.PATH    a setting, or a variable of the environment (env.NAME), when the run was over
    seen.read.PATH     whether Megatron's code asked for a setting
    seen.write.after   the assignment that a rule about writes speaks of: what was there when the run was over,
    seen.write.replaced   whether that is something else than what was written,
    seen.write.read    and whether Megatron's code asked for it

The worker's Observer lists the other observations of a rank (`seen.buffers`, …). What was not seen is unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, NotNone, OneOf, describe
from mfsdp_lint.dryrun.outcome import DONE, Failure, Measured, PlainSettings, RunOutcome
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.judging import variant_of
from mfsdp_lint.rules.model import Case, ErrorText
from mfsdp_lint.rules.writes import with_facts

FACTS = ("run.", "startup.", "write.")
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
    if rule.judges == "writes":  # the value that start-up puts there, the intended name, or no such assignment
        remedy = violation.remedy
        renamed = {new: violation.variant.value(old) for old, new in (remedy.rename if remedy else {}).items()}
        meant = {new: value.value for new, value in renamed.items() if isinstance(value, Known)}
        return (Control({**(remedy.set if remedy else {}), **meant}, (violation.primary.setting,)),)
    spec = rule.fix_for(violation.variant, violation.seen)
    fix = {**spec.set, **dict.fromkeys(spec.unset)} if spec else {}
    if found := {**fix, **rule.control}:
        return (Control(found),)
    good = (example.settings for example in rule.examples if example.severity is None)
    guesses = [
        Control({}, _paths(rule.blame.value, violation)),
        *(Control({path: each[path] for path in violation.witnesses if path in each}) for each in good),
        Control({}, _paths(rule.blame.enabled_by, violation)),
    ]
    return tuple(guess for number, guess in enumerate(guesses) if guess.paths and guess not in guesses[:number])


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
    return {path: value for path, value in result.items() if path == WORLD_SIZE or not path.startswith(FACTS)}


SAVE = "/dry-run/checkpoints"
"""A place to save, for what only goes wrong once something is saved. Validation never looks for it."""

TIER: Literal["introspect"] = "introspect"
"""The tier that start-up validation decides."""

NO_CONTROL = "no setting is known that takes the mistake out, so there is no run to compare with"

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


def confirmed_by(violation: Violation, tier: str, seen: str) -> Confirmation:
    """Confirm a finding whose failure was seen, with its suppositions."""
    if what := supposed(violation):
        return Confirmation("hypothetical", tier, seen, f"would be confirmed if {what}")
    return Confirmation("confirmed", tier, seen)


def inconclusive(reason: str, seen: str = "", tier: str = TIER) -> Confirmation:
    """Make an inconclusive verdict: nothing seen can be relied on."""
    return Confirmation("inconclusive", tier, seen, reason)


def _is_there(variant: Variant, path: str) -> bool:
    value = variant.value(path)
    values = value.values if isinstance(value, OneOf) else (value.value,) if isinstance(value, Known) else (None,)
    return isinstance(value, NotNone) or None not in values


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Tolerance for a loss or a norm in the first step, and in later ones, relative to plain DDP's."""

    first: float
    later: float

    @property
    def told(self) -> str:
        """`0.005`, or `0.005 in the first step, then 0.03`."""
        return f"{self.first:g}" + ("" if self.first == self.later else f" in the first step, then {self.later:g}")


TOLERANCE = Tolerance(1e-4, 1e-4)
"""In 32 bits. Where all is well, six decimals agree."""

TOLERANCE_IN_16_BITS = Tolerance(5e-3, 5e-3)

TOLERANCE_OF_EXPERTS = Tolerance(5e-3, 3e-2)
"""In 16 bits: once weights differ by rounding, a token here and there is sent to another expert."""

TOLERANCE_IN_8_BITS = Tolerance(0.1, 0.1)
"""Against plain DDP in 16 bits. Not measured: gradients that are not reduced, or added twice, are off by much more."""

_SAME_SUM = 1e-6
_WHOLE = 0.99


def symptoms(outcome: RunOutcome, plain: RunOutcome, *, tolerance: Tolerance, sharded: bool) -> tuple[str, ...]:
    """Describe the faults of a run in words; empty where all is well. `sharded`: FSDP was asked for.

    A single rank has nobody to share anything with, and nobody trains so: there FSDP need not agree with plain DDP.
    """
    losses, expected = losses_of(outcome), losses_of(plain)
    if not all(map(math.isfinite, losses)):
        return (f"the loss is {losses[-1]}",)
    # Up to megatron-core 0.16 at least, the gradients of one rank are in the very buffer that they are then added to.
    if sharded and len(outcome.ranks) == 1:
        return ()
    found = []
    if _differ(losses, expected, tolerance):
        found.append(f"the losses are {_numbers(losses)}, with plain DDP {_numbers(expected)}")
    norms, plain_norms = _norms(outcome.ranks[0]), _norms(plain.ranks[0])
    if _differ(norms, plain_norms, tolerance):
        found.append(f"the norm of the gradients is {_numbers(norms)}, with plain DDP {_numbers(plain_norms)}")
    if any(_differ(_norms(rank), norms, tolerance) for rank in outcome.ranks):
        found.append("the ranks do not agree on the norm of the gradients")
    if sharded and _is_whole(outcome, plain):
        sums = [rank.sum for rank in outcome.ranks]
        if _off(sums, [sums[0]] * len(sums)) > _SAME_SUM:
            found.append(f"the replicas drift apart: their weights sum up to {_numbers(sums)}")
        held, whole = outcome.bytes_per_rank, plain.bytes_per_rank
        found.append(f"nothing is sharded: a rank holds {held} bytes, with plain DDP {whole}")
    return tuple(found)


def after_a_load(saver: RunOutcome, loader: RunOutcome, plain: RunOutcome, *, tolerance: Tolerance) -> tuple[str, ...]:
    """Describe the faults of a run that continues from another run's save, compared with plain DDP's next step.

    The state that the load restores is compared to the bit: the weights, and the optimizer unless it begins anew.
    """
    ranks = zip(saver.ranks, loader.ranks, strict=False)
    restored = all(was.saved.get(part) == digest for was, became in ranks for part, digest in became.loaded.items())
    found = [] if restored else ["what was loaded is not what was saved"]
    for what, values, expected in (
        ("loss", losses_of(loader)[-1:], losses_of(plain)[-1:]),
        ("norm of the gradients", _norms(loader.ranks[0])[-1:], _norms(plain.ranks[0])[-1:]),
    ):
        if not all(map(math.isfinite, values)) or _off(values, expected) > tolerance.later:
            seen = f"{_numbers(values)}, with plain DDP {_numbers(expected)}"
            found.append(f"in the first step after a load the {what} is {seen}")
    return tuple(found)


def losses_of(outcome: RunOutcome) -> Sequence[float]:
    """Return the loss of every step, from a rank that has it."""
    return next((rank.losses for rank in outcome.ranks if rank.losses), ())


def _is_whole(outcome: RunOutcome, plain: RunOutcome) -> bool:
    """Tell whether each rank keeps the optimizer's moments of the whole model, as it does with plain DDP."""
    moments = [rank.bytes.get("moments", 0) for rank in plain.ranks]
    replicas = _off([rank.sum for rank in plain.ranks], [plain.ranks[0].sum] * len(plain.ranks)) <= _SAME_SUM
    whole = max(moments) if replicas else sum(moments)  # the distributed optimizer shards them, without FSDP too
    held = [rank.bytes.get("moments", 0) for rank in outcome.ranks]
    return whole > 0 and len(held) > 1 and min(held) >= _WHOLE * whole


def _norms(rank: Measured) -> list[float]:
    """Return the norms that were taken; the distributed optimizer takes none where nothing is clipped, and says 0."""
    norms = [norm for norm in rank.norms if norm is not None]
    return norms if any(norms) else []


def _differ(values: Sequence[float], expected: Sequence[float], tolerance: Tolerance) -> bool:
    return _off(values[:1], expected[:1]) > tolerance.first or _off(values[1:], expected[1:]) > tolerance.later


def _off(values: Sequence[float], expected: Sequence[float]) -> float:
    """Return the largest relative difference."""
    return max((abs(a - b) / max(abs(b), 1e-9) for a, b in zip(values, expected, strict=False)), default=0.0)


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


_SEEN, _READ, _AFTER, _WRITE = "seen.", "seen.read.", "seen.after.", "seen.write."


def watched(violation: Violation) -> tuple[str, ...]:
    """Return the settings for which a run has to report whether they were read."""
    asked = [path.removeprefix(_READ) for path in _asked(violation.case) if path.startswith(_READ)]
    if _WRITE + "read" in _asked(violation.case):
        asked.append(violation.primary.setting)
    return tuple(asked)


def confirm_by_observation(
    violation: Violation, tier: str, bad: tuple[PlainSettings, RunOutcome], good: tuple[PlainSettings, RunOutcome]
) -> Confirmation:
    """Decide a finding that shows in observations, by two runs: with the mistake, and without."""
    told = _told(violation, *bad)
    if not bad[1].conclusive:
        return inconclusive(bad[1].told, tier=tier)
    shown = _truth(violation, *bad)
    if shown is False:
        # It contradicts the rule where it passed, or failed for the mistake.
        if bad[1].passed or (bad[1].stage == violation.case.stage and bad[1].told != good[1].told):
            return Confirmation("refuted", tier, told)
        return inconclusive(f"the run with the mistake does not show it: {bad[1].told}", told, tier=tier)
    if shown is None:
        return inconclusive(f"nothing was seen that would show it: {bad[1].told}", told, tier=tier)
    without = _truth(violation, *good)
    if without:
        return inconclusive("the run without the mistake shows it as well", told, tier=tier)
    if not good[1].conclusive or (without is None and not good[1].passed):
        return inconclusive(f"the run without the mistake is not right either: {good[1].told}", told, tier=tier)
    control = _told(violation, *good)
    return confirmed_by(violation, tier, f"{told}; without the mistake {control}" if control else told)


def _asked(case: Case) -> tuple[str, ...]:
    shows = case.showing.shows
    return tuple(sorted(shows.paths())) if shows else ()


def _truth(violation: Violation, settings: PlainSettings, outcome: RunOutcome) -> bool | None:
    shows = violation.case.showing.shows
    return shows.truth(_observed(violation, settings, outcome)) if shows else None


def _told(violation: Violation, settings: PlainSettings, outcome: RunOutcome) -> str:
    seen = _observed(violation, settings, outcome)
    known = {path: seen.value(path) for path in _asked(violation.case) if path.startswith(_SEEN)}
    return "; ".join(_in_words(path, value) for path, value in known.items() if isinstance(value, Known))


def _in_words(path: str, value: Known) -> str:
    """Describe an observation: `ddp.average_in_collective is False at the end of the run`."""
    name, no = path.removeprefix(_SEEN), "" if value.value else "not "
    if path.startswith(_READ):
        return f"{path.removeprefix(_READ)} is {no}read"
    if path.startswith(_AFTER):
        return f"{path.removeprefix(_AFTER)} is {describe(value)} at the end of the run"
    flags = {"write.read": "the setting is {}read", "write.replaced": "the value is {}replaced"}
    flags["scaled"] = "gradients are {}scaled before they are reduced"
    values = {"write.after": "the value is {} at the end of the run"}
    values |= {"wrapped_as": "the model is wrapped in {}", "buffers": "Megatron-FSDP's buffers are {}"}
    if name == "stage":
        return "it ran through" if value.value == DONE else f"it failed in the stage {value.value}"
    if name in flags:
        return flags[name].format(no)
    said = str(value.value) if name == "write.after" else describe(value)
    return values.get(name, f"{name} is {{}}").format(said)


def _observed(violation: Violation, settings: PlainSettings, outcome: RunOutcome) -> Variant:
    """Return a run's settings and observations as a variant."""
    facts: dict[str, Any] = {"seen.stage": outcome.stage, "seen.wrapped_as": outcome.wrapped_as}
    if outcome.passed:
        given = {path: value for path, value in settings.items() if path not in outcome.not_given}
        facts |= {f"seen.after.{path}": value for path, value in given.items()}
        facts |= {f"{_SEEN}{name}": value for name, value in outcome.seen.items()}
    if violation.rule.judges == "writes":
        for path in violation.seen.settings:
            if path.startswith("write.") and isinstance(value := violation.seen.value(path), Known):
                facts[path] = value.value
        path = violation.primary.setting
        if f"seen.after.{path}" in facts:
            after = facts[f"seen.after.{path}"]
            facts |= {_WRITE + "after": describe(Known(after)), _WRITE + "replaced": after != settings[path]}
        if _READ + path in facts:
            facts[_WRITE + "read"] = facts[_READ + path]
    return with_facts(variant_of(settings), facts)


def is_of(violation: Violation, failure: Failure) -> bool:
    """Tell whether the error is the one that the finding's rule names. False where it names none."""
    error = violation.case.error
    return error is not None and matches(error, failure)


def matches(error: ErrorText, failure: Failure) -> bool:
    """Tell whether an error has a text, with anything in place of its holes."""
    pieces = [re.escape(_plain(piece)) for piece in error.pieces()]
    return bool(pieces) and re.search(".*?".join(pieces), _plain(failure.message)) is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
