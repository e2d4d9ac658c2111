"""PlainSettings to dry-run, and a Megatron that says what a test wants it to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mfsdp_lint.dryrun.outcome import DONE, Failure, Measured, PlainSettings, RunOutcome
from mfsdp_lint.dryrun.subject import Examiner, Subject, recipe_of
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.rules.load import load_rules

FSDP: Mapping[str, Any] = {
    "dist.use_megatron_fsdp": True,
    "ddp.use_megatron_fsdp": True,
    "dist.use_torch_fsdp2": False,
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "ddp.overlap_grad_reduce": True,
    "ddp.overlap_param_gather": True,
    "checkpoint.ckpt_format": "fsdp_dtensor",
    "comm_overlap": None,
}

WRONG_FORMAT = "AssertionError: Megatron FSDP only supports fsdp_dtensor checkpoint format"

JUDGE = Examiner(resolve_target("0.3.1"), [rule for rule in load_rules() if rule.preset is None])

PASSED = RunOutcome(DONE)


def subject(settings: PlainSettings) -> Subject:
    """The settings, and what the rules say of them."""
    return JUDGE.subjects([recipe_of(settings)])[0]


def failed(stage: str, message: str) -> RunOutcome:
    """A run that ended so."""
    kind, _, text = message.partition(": ")
    return RunOutcome(stage, Failure(kind, text))


def refuses(check: Callable[[PlainSettings], str]) -> Callable[[PlainSettings], RunOutcome]:
    """A start-up validation that refuses what `check` has an error for."""

    def ask(settings: PlainSettings) -> RunOutcome:
        message = check(settings)
        return failed("startup", message) if message else PASSED

    return ask


def only_fsdp_dtensor(settings: PlainSettings) -> str:
    """What the real one says of the checkpoint format."""
    saves = settings.get("checkpoint.save") is not None or settings.get("checkpoint.load") is not None
    wrong = saves and settings.get("checkpoint.ckpt_format") != "fsdp_dtensor"
    return WRONG_FORMAT if wrong and settings.get("dist.use_megatron_fsdp") else ""


def trained(
    losses: tuple[float, ...] = (4.88, 4.85, 4.9),
    norms: tuple[float, ...] = (1.8, 1.0, 0.9),
    moments: int = 100,
    sums: tuple[float, ...] = (250.0, 430.0),
    saved: Mapping[str, str] | None = None,
    loaded: Mapping[str, str] | None = None,
) -> RunOutcome:
    """Ranks that ran through, two unless `sums` has one for each of another number."""
    ranks = tuple(
        Measured(losses, norms, {"weights": 50, "moments": moments}, total, saved or {}, loaded or {}) for total in sums
    )
    return RunOutcome(DONE, None, ranks, "FullyShardedDataParallel")
