"""The tiers that train: which runs a finding takes, and what these say of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.dryrun import evidence
from mfsdp_lint.dryrun.evidence import LOADS, Tolerance, controls_of, inconclusive, is_of, loads, losses_of
from mfsdp_lint.dryrun.introspection import Judge
from mfsdp_lint.dryrun.inventory import Device
from mfsdp_lint.dryrun.outcome import PlainSettings, RunOutcome
from mfsdp_lint.dryrun.proxy import IN_32_BITS, SHORT, Proxy, base_of, proxy_of
from mfsdp_lint.dryrun.ranks import Batch, Key
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.model import Showing

_16_BITS = ("mixed_precision", "mixed_precision.bf16", "mixed_precision.fp16", "model.bf16", "model.fp16")
_8_BITS = ("mixed_precision.fp8", "mixed_precision.fp4", "model.fp8", "model.fp4")
_NOTHING_MORE = Showing()
_FSDP = ("dist.use_megatron_fsdp", "ddp.use_megatron_fsdp", "dist.use_torch_fsdp2")


@dataclass(frozen=True, slots=True)
class ProxyRuns:
    """A run of the proxy, one of the same with plain DDP, and one that loads what it saved, if it saves."""

    proxy: Proxy
    run: Key
    plain: Key
    load: Key | None


@dataclass(frozen=True, slots=True)
class FindingTrial:
    """Trial of a finding: the run with the mistake alone, and the control run; or `why` it cannot be tried at all."""

    violation: Violation
    bad: ProxyRuns | None = None
    good: ProxyRuns | None = None
    why: str = ""


def too_many(batch: Batch, settings: PlainSettings, ranks: int) -> str:
    """Explain why there are too few ranks for a recipe's settings; "" where there are enough."""
    takes = proxy_of(settings, ranks, batch.device).ranks
    if batch.most is None or takes <= batch.most:
        return ""
    return f"it takes {takes} ranks, and --ranks asks for {batch.most}"


def want(
    batch: Batch,
    settings: PlainSettings,
    ranks: int,
    *,
    save: bool = False,
    load: bool = False,
    showing: Showing = _NOTHING_MORE,
    watched: Sequence[str] = (),
) -> ProxyRuns:
    """Ask for a run of a recipe's settings, with a save, and for one that loads the save, as the settings do.

    The loaded checkpoint may be saved with other settings, as `showing` says.
    """
    if settings.get("checkpoint.pretrained_checkpoint") is not None and settings.get("checkpoint.load") is None:
        settings = {**settings, "checkpoint.finetune": True}  # as the launcher sets it where nothing else is loaded
    proxy = proxy_of(settings, ranks, batch.device, showing.keeps)
    saver = proxy
    if load and showing.saved_with:
        saver = proxy_of({**settings, **showing.saved_with}, proxy.ranks, batch.device, showing.keeps)
    run = batch.want(saver.settings, proxy.ranks, save=save, watched=watched)
    plain = batch.want(proxy.plain, proxy.ranks)
    is_base = saver is not proxy and settings.get("checkpoint.load") is None
    loader = batch.want(proxy.settings, proxy.ranks, load=run, is_base=is_base, watched=watched) if load else None
    return ProxyRuns(proxy, run, plain, loader)


def plan(
    batch: Batch, settings: PlainSettings, violations: Sequence[Violation], ranks: int, judge: Judge
) -> list[FindingTrial]:
    """Ask for the runs that these findings need, each with the mistakes of the others taken out."""
    trials = []
    for violation in violations:
        alone = without(settings, [other for other in violations if other is not violation])
        bad: PlainSettings = evidence.with_a_checkpoint(violation, evidence.pinned(violation, alone))
        good = without(bad, [violation])
        why = too_many(batch, bad, ranks) or too_many(batch, good, ranks)
        if not why and not _is_in(violation, bad, ranks, judge, batch.device):
            why = "the small model does without what the mistake is about"
        if not why and _is_in(violation, good, ranks, judge, batch.device):
            why = evidence.NO_CONTROL
        if why:
            trials.append(FindingTrial(violation, why=why))
            continue
        case = violation.case
        if case.error is None and case.showing.shows is None:
            # In 32 bits, unless the mistake is about fewer: rounding may hide a fault that nothing raises.
            sharp = [
                {
                    **{path: value for path, value in each.items() if not path.startswith("mixed_precision.")},
                    **IN_32_BITS,
                }
                for each in (bad, good)
            ]
            in_bad, in_good = (_is_in(violation, each, ranks, judge, batch.device) for each in sharp)
            bad, good = sharp if in_bad and not in_good else (bad, good)
        runs = []
        for each in (bad, good):
            load = case.stage == "load" and loads(each)  # which needs a save before it
            save, watched = case.stage == "save" or load, evidence.watched(violation)
            runs.append(want(batch, each, ranks, save=save, load=load, showing=case.showing, watched=watched))
        trials.append(FindingTrial(violation, runs[0], runs[1]))
    return trials


def without(settings: PlainSettings, violations: Sequence[Violation]) -> PlainSettings:
    """Remove mistakes from the settings."""
    for violation in violations:
        controls = controls_of(violation)
        settings = controls[0].applied(settings) if controls else settings
    return settings


def _is_in(violation: Violation, settings: PlainSettings, ranks: int, judge: Judge, device: Device) -> bool:
    """Tell whether the rule still finds the mistake in the proxy."""
    small = proxy_of(settings, ranks, device, violation.case.showing.keeps)
    if violation.rule.judges == "writes":
        return violation.primary.setting in small.settings
    proxy = {**base_of(device), **small.settings, WORLD_SIZE: small.ranks}
    checkpoints = violation.case.stage in ("save", "load")
    for path in ("checkpoint.save", *LOADS):
        proxy[path] = settings.get(path) if checkpoints else None
    return any(found.rule.code == violation.rule.code for found in judge(proxy))


def confirm(trial: FindingTrial, batch: Batch) -> Confirmation:
    """Decide one finding by its runs."""
    tier = batch.device.tier
    if trial.bad is None or trial.good is None:
        return inconclusive(trial.why, tier=tier)
    case = trial.violation.case
    if case.showing.shows is not None:
        bad_run, good_run = ((run.proxy.settings, _last(run, batch)) for run in (trial.bad, trial.good))
        return evidence.confirm_by_observation(trial.violation, tier, bad_run, good_run)
    bad = result(trial.bad, batch)
    if bad.why or not bad.outcome.conclusive:
        return inconclusive(bad.told, tier=tier)
    failure = bad.outcome.failure
    if failure is not None:
        if case.error is not None and not is_of(trial.violation, failure):
            return inconclusive(f"the error is not the rule's: {failure.message}", tier=tier)
        if bad.outcome.stage != case.stage:
            return inconclusive(
                f"it fails in another stage than the rule says ({bad.outcome.stage}): {failure.message}", tier=tier
            )
    elif case.error is not None or not bad.symptoms:
        if trial.bad.proxy.ranks == 1:
            return inconclusive("it ran through on one rank, which shares nothing with another", bad.told, tier)
        if case.confirm == "gpu" and case.error is None and case.severity != "error":
            why = "nothing went wrong, and what the rule warns of need not show in a few steps"
            return inconclusive(why, bad.told, tier)
        return Confirmation("refuted", tier, bad.told)
    good = result(trial.good, batch)
    # What raises is gone when nothing is raised; what is wrong in silence when all is as with plain DDP.
    if not (good.trained if failure is not None else good.fine):
        return inconclusive(f"the run without the mistake is not right either: {good.told}", bad.told, tier=tier)
    return evidence.confirmed_by(trial.violation, tier, bad.told)


def _last(run: ProxyRuns, batch: Batch) -> RunOutcome:
    """Return the outcome of the run that loads, or of the one before it where that failed, or of the only one."""
    outcome = batch.outcome(run.run)
    return batch.outcome(run.load) if run.load is not None and outcome.passed else outcome


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a run: its outcome, its silent faults, and the reason why these cannot be determined."""

    outcome: RunOutcome
    symptoms: tuple[str, ...]
    why: str

    @property
    def trained(self) -> bool:
        """Tell whether the run passed, with a loss that is a number."""
        return self.outcome.passed and all(map(math.isfinite, losses_of(self.outcome)))

    @property
    def fine(self) -> bool:
        """Tell whether the run passed, and agrees with plain DDP."""
        return self.outcome.passed and not self.symptoms and not self.why

    @property
    def told(self) -> str:
        """The error, what is wrong, or that nothing is."""
        if self.outcome.failure is not None and not self.why:
            return self.outcome.told
        alone = len(self.outcome.ranks) == 1
        fine = (
            "it trains on one rank, which proves nothing about its numbers" if alone else "it trains as plain DDP does"
        )
        return "; ".join(self.symptoms) or self.why or fine


def result(run: ProxyRuns, batch: Batch) -> Result:
    """Return the result of a run, compared with plain DDP."""
    outcome, plain, last = batch.outcome(run.run), batch.outcome(run.plain), _last(run, batch)
    if not last.passed:
        outcome = last
    if outcome.stage == "startup":  # which the recipe's own settings passed before
        message = outcome.failure.message if outcome.failure else ""
        return Result(outcome, (), f"start-up refuses the small model, and not the recipe: {message}")
    if not outcome.passed:
        return Result(outcome, (), "")
    if not plain.passed:
        return Result(outcome, (), f"the run with plain DDP failed: {plain.failure.message if plain.failure else ''}")
    tolerance = tolerance_of(run.proxy)
    sharded = any(run.proxy.settings.get(path) for path in _FSDP)
    found = evidence.symptoms(outcome, plain, tolerance=tolerance, sharded=sharded)
    if run.load is not None:
        found += evidence.after_a_load(outcome, last, plain, tolerance=tolerance)
    return Result(outcome, found, "")


def tolerance_of(proxy: Proxy) -> Tolerance:
    """Return the tolerance of a proxy's run, relative to plain DDP."""
    settings = proxy.settings
    named = str(settings.get("mixed_precision"))
    if any(settings.get(path) for path in _8_BITS) or "fp8" in named or "fp4" in named:
        return evidence.TOLERANCE_IN_8_BITS
    if not any(settings.get(path) for path in _16_BITS) and settings.get("model.params_dtype") not in SHORT:
        return evidence.TOLERANCE
    return evidence.TOLERANCE_OF_EXPERTS if settings.get("model.num_moe_experts") else evidence.TOLERANCE_IN_16_BITS
