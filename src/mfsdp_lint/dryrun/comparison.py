"""Mistakes that raise nothing: what a run did, against what plain DDP does with the same data and seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.dryrun.outcome import Measured, Outcome


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


def symptoms(outcome: Outcome, plain: Outcome, *, tolerance: Tolerance, sharded: bool) -> tuple[str, ...]:
    """Describe the faults of a run in words; empty where all is well. `sharded`: FSDP was asked for.

    A single rank has nobody to share anything with, and nobody trains so: there FSDP need not agree with plain DDP.
    """
    return tuple(_symptoms(outcome, plain, tolerance, sharded))


def _symptoms(outcome: Outcome, plain: Outcome, tolerance: Tolerance, sharded: bool) -> Iterator[str]:
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


def after_a_load(saver: Outcome, loader: Outcome, plain: Outcome, *, tolerance: Tolerance) -> tuple[str, ...]:
    """Describe the faults of a run that continues from another run's save, compared with plain DDP's next step.

    The state that the load restores is compared to the bit: the weights, and the optimizer unless it begins anew.
    """
    return tuple(_after_a_load(saver, loader, plain, tolerance))


def _after_a_load(saver: Outcome, loader: Outcome, plain: Outcome, tolerance: Tolerance) -> Iterator[str]:
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


def losses_of(outcome: Outcome) -> Sequence[float]:
    """Return the loss of every step, from a rank that has it."""
    return next((rank.losses for rank in outcome.ranks if rank.losses), ())


def _is_whole(outcome: Outcome, plain: Outcome) -> bool:
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
