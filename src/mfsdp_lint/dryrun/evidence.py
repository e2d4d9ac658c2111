"""Evidence of a mistake in a run: the error that its rule names, numbers that plain DDP does not have, observations.

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
from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, describe
from mfsdp_lint.dryrun.control import confirmed, inconclusive
from mfsdp_lint.dryrun.outcome import Failure, Measured, PlainSettings, RunOutcome
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.judging import variant_of
from mfsdp_lint.rules.model import Case, ErrorText
from mfsdp_lint.rules.writes import with_facts


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Tolerance for a loss or a norm in the first step, and in later ones, relative to plain DDP's."""

    first: float
    later: float

    @property
    def told(self) -> str:
        """`0.005`, or `0.005 in the first step, then 0.03`."""
        return (
            f"{self.first:g}" if self.first == self.later else f"{self.first:g} in the first step, then {self.later:g}"
        )


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
    return tuple(_symptoms(outcome, plain, tolerance, sharded))


def _symptoms(outcome: RunOutcome, plain: RunOutcome, tolerance: Tolerance, sharded: bool) -> Iterator[str]:
    losses, expected = losses_of(outcome), losses_of(plain)
    if not all(map(math.isfinite, losses)):
        yield f"the loss is {losses[-1]}"
        return
    # Up to megatron-core 0.16 at least, the gradients of one rank are in the very buffer that they are then added to.
    if sharded and len(outcome.ranks) == 1:
        return
    if _differ(losses, expected, tolerance):
        yield f"the losses are {_numbers(losses)}, with plain DDP {_numbers(expected)}"
    norms, plain_norms = _norms(outcome.ranks[0]), _norms(plain.ranks[0])
    if _differ(norms, plain_norms, tolerance):
        yield f"the norm of the gradients is {_numbers(norms)}, with plain DDP {_numbers(plain_norms)}"
    if any(_differ(_norms(rank), norms, tolerance) for rank in outcome.ranks):
        yield "the ranks do not agree on the norm of the gradients"
    if sharded and _is_whole(outcome, plain):
        sums = [rank.sum for rank in outcome.ranks]
        if _off(sums, [sums[0]] * len(sums)) > _SAME_SUM:
            yield f"the replicas drift apart: their weights sum up to {_numbers(sums)}"
        yield (
            f"nothing is sharded: a rank holds {outcome.bytes_per_rank} bytes, with plain DDP {plain.bytes_per_rank}"
        )


def after_a_load(saver: RunOutcome, loader: RunOutcome, plain: RunOutcome, *, tolerance: Tolerance) -> tuple[str, ...]:
    """Describe the faults of a run that continues from another run's save, compared with plain DDP's next step.

    The state that the load restores is compared to the bit: the weights, and the optimizer unless it begins anew.
    """
    return tuple(_after_a_load(saver, loader, plain, tolerance))


def _after_a_load(saver: RunOutcome, loader: RunOutcome, plain: RunOutcome, tolerance: Tolerance) -> Iterator[str]:
    for was, became in zip(saver.ranks, loader.ranks, strict=False):
        if any(was.saved.get(part) != digest for part, digest in became.loaded.items()):
            yield "what was loaded is not what was saved"
            break
    for what, values, expected in (
        ("loss", losses_of(loader)[-1:], losses_of(plain)[-1:]),
        ("norm of the gradients", _norms(loader.ranks[0])[-1:], _norms(plain.ranks[0])[-1:]),
    ):
        if not all(map(math.isfinite, values)) or _off(values, expected) > tolerance.later:
            seen = f"{_numbers(values)}, with plain DDP {_numbers(expected)}"
            yield f"in the first step after a load the {what} is {seen}"


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
    """Return the norms that were taken: where nothing is clipped the distributed optimizer takes none, and
    reports 0.
    """
    norms = [norm for norm in rank.norms if norm is not None]
    return norms if any(norms) else []


def _differ(values: Sequence[float], expected: Sequence[float], tolerance: Tolerance) -> bool:
    return _off(values[:1], expected[:1]) > tolerance.first or _off(values[1:], expected[1:]) > tolerance.later


def _off(values: Sequence[float], expected: Sequence[float]) -> float:
    """Return the largest relative difference."""
    return max((abs(a - b) / max(abs(b), 1e-9) for a, b in zip(values, expected, strict=False)), default=0.0)


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


_SEEN, _READ, _WRITE = "seen.", "seen.read.", "seen.write."


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
    told = "; ".join(_told(violation, *bad))
    if not bad[1].conclusive:
        return inconclusive(bad[1].told, tier=tier)
    shown = _truth(violation, *bad)
    if shown is False:
        # It contradicts the rule where it passed, or failed for the mistake.
        if bad[1].passed or (bad[1].stage == violation.case.stage and bad[1].told != good[1].told):
            return Confirmation("refuted", tier, told)
        return inconclusive(f"it ends otherwise: {bad[1].told}", told, tier=tier)
    if shown is None:
        return inconclusive(f"what would show it was not seen: {bad[1].told}", told, tier=tier)
    without = _truth(violation, *good)
    if without:
        return inconclusive("the run without the mistake shows it as well", told, tier=tier)
    if not good[1].conclusive or (without is None and not good[1].passed):
        return inconclusive(f"the control run is not right either: {good[1].told}", told, tier=tier)
    control = "; ".join(_told(violation, *good))
    return confirmed(violation, tier, f"{told}; without the mistake {control}" if control else told)


def _asked(case: Case) -> tuple[str, ...]:
    shows = case.showing.shows
    return tuple(sorted(shows.paths())) if shows else ()


def _truth(violation: Violation, settings: PlainSettings, outcome: RunOutcome) -> bool | None:
    shows = violation.case.showing.shows
    return shows.truth(_observed(violation, settings, outcome)) if shows else None


def _told(violation: Violation, settings: PlainSettings, outcome: RunOutcome) -> Iterator[str]:
    seen = _observed(violation, settings, outcome)
    for path in _asked(violation.case):
        value = seen.value(path)
        if path.startswith(_SEEN) and isinstance(value, Known):
            yield f"{path} is {describe(value)}"


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
        facts |= _of_the_write(violation.primary.setting, settings, facts)
    return with_facts(variant_of(settings), facts)


def _of_the_write(path: str, settings: PlainSettings, facts: dict[str, Any]) -> dict[str, Any]:
    found = {}
    if f"seen.after.{path}" in facts:
        after = facts[f"seen.after.{path}"]
        found = {_WRITE + "after": describe(Known(after)), _WRITE + "replaced": after != settings[path]}
    if _READ + path in facts:
        found[_WRITE + "read"] = facts[_READ + path]
    return found


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
