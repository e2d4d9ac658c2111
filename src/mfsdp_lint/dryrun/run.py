"""A dry run from beginning to end: subjects → what each tier saw → a verdict for every finding and every recipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mfsdp_lint.dryrun import introspection, trials
from mfsdp_lint.dryrun.batch import Batch, Key
from mfsdp_lint.dryrun.containment import MEMORY, contained
from mfsdp_lint.dryrun.introspection import Validation, inconclusive
from mfsdp_lint.dryrun.matching import is_of
from mfsdp_lint.dryrun.outcome import Outcome, Settings
from mfsdp_lint.dryrun.ranks import IMPORTS
from mfsdp_lint.dryrun.subject import Judge, Subject, without_environment
from mfsdp_lint.dryrun.trials import Result, Run, Trial
from mfsdp_lint.dryrun.validator import NoAnswer, Validator, validator
from mfsdp_lint.finding import Confirmation
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.upstream.target import nearest

Word = Literal["passed", "failed", "confirmed", "refuted", "inconclusive"]

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Means:
    """With what, and how far: `tier` is the highest; `recipes` says whether recipes are run as they are, too."""

    python: str
    tier: Literal["introspect", "cpu"] = "cpu"
    ranks: int = 2
    timeout: float = 60.0
    keep: str | None = None
    memory: int = MEMORY
    recipes: bool = True
    checkpoint: bool = False
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What a dry run has to say of a subject.

    `findings` are those that it tried, each with its verdict; `result` is what training it came to, as it is or with
    `fixed` without its mistakes; `why` is there where nothing could be run. `seconds` are those of its runs, without
    imports.
    """

    subject: Subject
    validation: Validation | None
    findings: tuple[tuple[Violation, Confirmation], ...]
    trained: Run | None = None
    result: Result | None = None
    fixed: bool = False
    why: str = ""
    seconds: float = 0.0

    @property
    def word(self) -> Word:
        """The verdict on the recipe."""
        verdicts = {confirmation.verdict for _, confirmation in self.findings}
        if "confirmed" in verdicts and not self.fixed:
            return "confirmed"
        if self.unforeseen:
            return "failed"
        if "refuted" in verdicts:
            return "refuted"
        if self.why or "inconclusive" in verdicts or not self._has_run:
            return "inconclusive"
        return "passed"

    @property
    def unforeseen(self) -> str:
        """What went wrong that no rule speaks of, "" where nothing did."""
        # What is not known was left at its default, and the defaults of a model need not go together.
        if self.validation is not None and not self.subject.given.unknown:
            last = self.validation.last
            if last.failure is not None and last.conclusive and self.validation.refusals[-1].violation is None:
                return last.failure.message
        result = self.result
        if result is None or result.fine or result.why or not result.outcome.conclusive:
            return ""
        return "" if self._foreseen(result) and not self.fixed else result.told

    def _foreseen(self, result: Result) -> bool:
        """Whether a finding speaks of what went wrong, confirmed or not: its error, or what nothing raises."""
        failure = result.outcome.failure
        if failure is not None:
            return any(is_of(violation, failure) for violation in self.subject.violations)
        return any(violation.case.error is None for violation in self.subject.tried(trials.TIER))

    @property
    def _has_run(self) -> bool:
        if self.validation is None or not self.validation.last.passed:
            return False
        return self.result is None or self.result.outcome.conclusive


@dataclass(slots=True)
class DryRun:
    """All of it.

    `seconds` is how long it took, `stood_in` are the packages that it did without, `pretended` is what validation was
    told that there is.
    """

    told: tuple[Told, ...] = ()
    stood_in: tuple[str, ...] = ()
    pretended: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(slots=True)
class _Part:
    """A subject on its way."""

    subject: Subject
    validation: Validation | None = None
    findings: list[tuple[Violation, Confirmation]] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    trained: Run | None = None
    why: str = ""
    seconds: float = 0.0


def dry_run(subjects: Sequence[Subject], judge: Judge, means: Means, tell: Tell = lambda _: None) -> DryRun:
    """Tries everything that it can. Raises UsageError where there is no room for a temporary directory."""
    started = time.monotonic()
    parts = [_Part(subject) for subject in subjects]
    stood_in, pretended = _introspect(parts, judge, means, tell)
    if means.tier != "introspect":
        batch = Batch(means.python, means.timeout, means.keep, means.memory)
        for part in parts:
            _plan(part, batch, judge, means)
        if len(batch):
            tell(f"cpu: {len(batch)} runs of the proxy model")
            batch.run(lambda name: tell(f"cpu: {name} has ended"))
            for part in parts:
                part.findings += [(trial.violation, trials.confirm(trial, batch)) for trial in part.trials]
                part.seconds += sum(batch.outcome(key).seconds for key in _keys(part))
            stood_in = batch.stood_in or stood_in
        results = [trials.result(part.trained, batch) if part.trained else None for part in parts]
    else:
        results = [None] * len(parts)
    told = tuple(
        Told(
            part.subject,
            part.validation,
            tuple(part.findings),
            part.trained,
            result,
            means.fixed,
            part.why,
            part.seconds,
        )
        for part, result in zip(parts, results, strict=True)
    )
    return DryRun(told, stood_in, pretended, time.monotonic() - started)


def _keys(part: _Part) -> set[Key]:
    """The runs that a part takes."""
    runs = [run for trial in part.trials for run in (trial.bad, trial.good) if run]
    runs += [part.trained] if part.trained else []
    return {key for run in runs for key in (run.run, run.plain, run.load) if key}


def _introspect(
    parts: Sequence[_Part], judge: Judge, means: Means, tell: Tell
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Asks validation about every part. Returns what is stood in for, and what is pretended."""
    tell("introspect: importing megatron-bridge")
    try:
        with (
            contained(means.python, keep=means.keep, memory=means.memory) as launch,
            validator(launch, nearest(judge.target.bridge).te, means.timeout + IMPORTS) as asked,
        ):
            for number, part in enumerate(parts, 1):
                tell(f"introspect: {number} of {len(parts)}: {part.subject.label}")
                _validate(part, asked, judge)
            return asked.stood_in, asked.pretended
    except NoAnswer as error:
        for part in parts:
            if part.validation is None:
                part.why = str(error)
                part.findings = [
                    (violation, inconclusive(str(error))) for violation in part.subject.tried(introspection.TIER)
                ]
    return (), ()


def _validate(part: _Part, asked: Validator, judge: Judge) -> None:
    subject = part.subject

    def ask(settings: Settings) -> Outcome:
        outcome = asked.ask(settings, subject.given.world_size)
        part.seconds += outcome.seconds
        return outcome

    part.validation = introspection.validate(subject.given.settings, subject.violations, ask, judge)
    part.findings = [
        (violation, introspection.confirm(violation, part.validation, ask))
        for violation in subject.tried(introspection.TIER)
    ]


def _plan(part: _Part, batch: Batch, judge: Judge, means: Means) -> None:
    """What of a part is to be trained."""
    tried = part.subject.tried(trials.TIER)
    validation = part.validation
    if validation is None or not validation.last.passed:
        why = part.why or "start-up validation stops it, and nothing is known that would help"
        part.findings += [(violation, inconclusive(why, tier=trials.TIER)) for violation in tried]
        return
    settings = without_environment(validation.settings)
    part.trials = trials.plan(batch, settings, tried, means.ranks, judge)
    if not means.recipes:
        return
    if means.fixed:
        settings = trials.without(settings, [*part.subject.tried(introspection.TIER), *tried])
    elif validation.refusals:  # as it is it never gets that far
        return
    part.trained = trials.want(batch, settings, means.ranks, checkpoint=means.checkpoint)
