"""A dry run from beginning to end: subjects → what each tier saw → a verdict for every finding and every recipe; and
`mfsdp-lint --confirm`: the findings of a check, each with the verdict of a dry run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

from mfsdp_lint.core.finding import Confirmation, Finding
from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.dryrun import introspection, trials
from mfsdp_lint.dryrun.containment import MEMORY, contained
from mfsdp_lint.dryrun.evidence import TIER, controls_of, inconclusive, is_of, loads
from mfsdp_lint.dryrun.introspection import NoAnswer, Tree, Validation, Validator, tree_at, validator
from mfsdp_lint.dryrun.inventory import CPU, Device, look
from mfsdp_lint.dryrun.outcome import PlainSettings, RunOutcome
from mfsdp_lint.dryrun.ranks import Batch, By, Tell, launched
from mfsdp_lint.dryrun.subject import Examiner, Subject, can_be_tried
from mfsdp_lint.dryrun.trials import FindingTrial, ProxyRuns, Result
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.findings import FindingGroup
from mfsdp_lint.rules.model import Confirm, Rule

Word = Literal["passed", "failed", "confirmed", "refuted", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Means:
    """With what, and how far: `trains`: beyond validation, on `device`, with `most` ranks if that is known.

    With `tree` validation is that of Megatron-LM's command line, and nothing is trained. `memory` is for each process,
    0 for no limit; `recipes` says whether recipes are run as they are, too, and `checkpoint` whether these save and
    load.
    """

    python: str
    trains: bool = True
    device: Device = CPU
    ranks: int = 2
    most: int | None = None
    timeout: float = 120.0
    keep: str | None = None
    memory: int = MEMORY
    recipes: bool = True
    checkpoint: Literal["never", "always", "as written"] = "never"
    fixed: bool = False
    tree: Tree | None = None


@dataclass(slots=True)
class Told:
    """Results of a dry run for a subject, filled in on the way. `trials` are those of its findings in training.

    `findings` are those that it tried, each with its verdict; `result` is that of its training, as it is or with
    `fixed` without its mistakes; `why` is there where nothing could be run. `seconds` are those of its runs, without
    imports.
    """

    subject: Subject
    validation: Validation | None
    findings: tuple[tuple[Violation, Confirmation], ...]
    trained: ProxyRuns | None = None
    result: Result | None = None
    fixed: bool = False
    why: str = ""
    seconds: float = 0.0
    device: Device = CPU
    trials: Sequence[FindingTrial] = ()

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
        validation, result = self.validation, self.result
        undecided = any(
            violation.severity == "error" and confirmation.verdict == "inconclusive"
            for violation, confirmation in self.findings
        )
        if self.why or undecided or validation is None or not validation.last.passed:
            return "inconclusive"
        if validation.refusals and not self.fixed:  # what ran is not the recipe as it is
            return "inconclusive"
        if result is not None and (result.why or not result.outcome.conclusive):
            return "inconclusive"
        # Who passes though an error was not tried has not shown that it runs.
        return "inconclusive" if any(violation.severity == "error" for violation in self.untried) else "passed"

    @property
    def untried(self) -> tuple[Violation, ...]:
        """The errors and warnings that were not tried."""
        tried = {id(violation) for violation, _ in self.findings}
        return tuple(
            violation
            for violation in self.subject.violations
            if violation.severity != "info"
            and id(violation) not in tried
            and (self.subject.codes is None or violation.rule.code in self.subject.codes)
            and not (self.fixed and controls_of(violation))
        )

    @property
    def unforeseen(self) -> str:
        """The failure that no rule foresees, "" where there is none."""
        # What is not known was left at its default, and the defaults of a model need not go together.
        if self.validation is not None and not self.subject.given.unknown:
            last = self.validation.last
            if last.failure is not None and last.conclusive and self.validation.refusals[-1].violation is None:
                return last.failure.message
        result = self.result
        if result is None or result.fine or result.why or not result.outcome.conclusive:
            return ""
        # A finding foresees the failure, confirmed or not, by its error, or as a fault that nothing raises.
        if (failure := result.outcome.failure) is not None:
            foreseen = any(is_of(violation, failure) for violation in self.subject.violations)
        else:
            foreseen = any(each.case.error is None for each in self.subject.tried(*self.device.decides))
        return "" if foreseen and not self.fixed else result.told


@dataclass(slots=True)
class DryRun:
    """Results of a dry run: the packages with stand-ins, and the parts that validation was told to be there."""

    told: tuple[Told, ...] = ()
    stood_in: tuple[str, ...] = ()
    pretended: tuple[str, ...] = ()
    seconds: float = 0.0


def dry_run(
    subjects: Sequence[Subject], judge: Examiner, means: Means, tell: Tell = lambda _: None, by: By | None = None
) -> DryRun:
    """Try every subject as far as possible; `by` trains, where that is not to be done here. Raises UsageError."""
    started = time.monotonic()
    parts = [Told(subject, None, (), fixed=means.fixed, device=means.device) for subject in subjects]
    stood_in, pretended = _introspect(parts, judge, means, tell) if parts else ((), ())
    if means.trains and means.tree is None:
        here = launched(means.python, timeout=means.timeout, keep=means.keep, memory=means.memory, device=means.device)
        batch = Batch(by or here, means.device, means.most)
        for part in parts:
            batch.recipe = part.subject.label
            _plan(part, batch, judge, means)
        if len(batch):
            tier = means.device.tier
            tell(f"{tier}: {len(batch)} runs of the small model")
            batch.run(lambda text: tell(f"{tier}: {text}"))
            for part in parts:
                tried = ((trial.violation, trials.confirm(trial, batch)) for trial in part.trials)
                part.findings = (*part.findings, *tried)
                runs = [run for trial in part.trials for run in (trial.bad, trial.good) if run]
                runs += [part.trained] if part.trained else []
                keys = {key for run in runs for key in (run.run, run.plain, run.load) if key}
                part.seconds += sum(batch.outcome(key).seconds for key in keys)
            stood_in = batch.stood_in or stood_in
        for part in parts:
            part.result = trials.result(part.trained, batch) if part.trained else None
    return DryRun(tuple(parts), stood_in, pretended, time.monotonic() - started)


def _introspect(
    parts: Sequence[Told], judge: Examiner, means: Means, tell: Tell
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ask validation about every part. Return the packages with stand-ins, and the pretended hardware and packages."""
    tell(f"introspect: importing {means.tree.label if means.tree else 'megatron-bridge'}")
    try:
        with (
            contained(means.python, keep=means.keep, memory=means.memory or MEMORY) as launch,
            validator(launch, judge.target, means.timeout, means.tree) as asked,
        ):
            for number, part in enumerate(parts, 1):
                tell(f"introspect: {number} of {len(parts)}: {part.subject.label}")
                _validate(part, asked, judge)
            return asked.stood_in, asked.pretended
    except NoAnswer as error:
        for part in parts:
            if part.validation is None:
                part.why = str(error)
                part.findings = tuple((violation, inconclusive(str(error))) for violation in part.subject.tried(TIER))
    return (), ()


def _validate(part: Told, asked: Validator, judge: Examiner) -> None:
    subject = part.subject

    def ask(settings: PlainSettings) -> RunOutcome:
        outcome = asked.ask(settings, subject.given)
        part.seconds += outcome.seconds
        return outcome

    # Validation may first refuse a mistake that a stronger rule speaks for.
    every = partial(judge, every=True)
    part.validation = introspection.validate(subject.given.settings, subject.violations, ask, every)
    part.findings = tuple(
        (violation, introspection.confirm(violation, part.validation, ask)) for violation in subject.tried(TIER)
    )


def _plan(part: Told, batch: Batch, judge: Examiner, means: Means) -> None:
    """Plan the training of a part."""
    device = means.device
    tried = part.subject.tried(*device.decides)
    validation = part.validation
    if validation is None or not validation.last.passed:
        why = part.why or "start-up refuses the recipe, and no setting is known that helps"
        part.findings = (*part.findings, *((violation, inconclusive(why, tier=device.tier)) for violation in tried))
        return
    # Without a GPU nobody looks at the environment; with one it is part of what is tried.
    keeps = {path for violation in tried for path in violation.case.showing.keeps}
    settings = validation.settings
    if not device.is_gpu:
        settings = {path: value for path, value in settings.items() if path in keeps or not path.startswith("env.")}
    part.trials = trials.plan(batch, settings, tried, means.ranks, judge)
    if not means.recipes:
        return
    if means.fixed:
        errors = [violation for violation in part.subject.violations if violation.severity == "error"]
        settings = trials.without(settings, [*part.subject.tried(TIER), *tried, *errors])
    elif validation.refusals:  # as it is it never gets that far
        return
    if why := trials.too_many(batch, settings, means.ranks):
        part.why = why
        return
    always, written = means.checkpoint == "always", means.checkpoint == "as written"
    load = always or (written and loads(settings))
    save = load or (written and settings.get("checkpoint.save") is not None)
    part.trained = trials.want(batch, settings, means.ranks, save=save, load=load)


def confirmed(
    findings: Sequence[Finding],
    causes: Iterable[FindingGroup],
    rules: Sequence[Rule],
    python: str | None,
    tell: Tell = lambda _: None,
    megatron_lm: str | None = None,
) -> list[Finding]:
    """Return the findings; those that a dry run can decide have its verdict. `python` is the one that has torch.

    `megatron_lm` is the source tree for settings that Megatron-LM's own command line reads. Raises UsageError where
    nothing can be run.
    """
    by_fingerprint = {cause.finding.fingerprint: cause for cause in causes if cause.finding.suppressed is None}
    asked = [each.fingerprint for each in findings if each.fingerprint in by_fingerprint]

    def read_by(front_end: FrontEnd, *trained: Confirm) -> dict[str, Violation]:
        """Return the findings of a front-end that can be tried, each with its violation."""
        about = {finding: by_fingerprint[finding].violations[0] for finding in asked}
        read = {finding: each for finding, each in about.items() if each.recipe.front_end == front_end}
        return {finding: each for finding, each in read.items() if can_be_tried(each, *trained)}

    verdicts: dict[str, Confirmation] = {}
    if read_by(BRIDGE, *Device("cuda", "nccl").decides):
        installed = look(python)
        means = Means(installed.python, recipes=False)
        device = installed.device("auto", means.ranks)
        if device.is_gpu:  # where there are enough
            means = replace(means, device=device, memory=device.memory)
        if tried := read_by(BRIDGE, *means.device.decides):
            target = installed.ready().target()
            judge = Examiner(target, rules, means.device.decides) if target else None
            others = f"those that are installed: {installed.label}"
            verdicts |= _verdicts(tried, by_fingerprint, judge, means, others, tell)
    tried = read_by(MEGATRON_LM)
    if tried and megatron_lm is not None:
        installed = look(python)
        tree = tree_at(megatron_lm, installed.torch())
        means = Means(installed.python, recipes=False, tree=tree)
        judge = Examiner(tree.target, rules, front_end=MEGATRON_LM)
        verdicts |= _verdicts(tried, by_fingerprint, judge, means, f"that of {tree.label}", tell)
    elif tried:
        why = "it takes a source tree of Megatron-LM, which --megatron-lm names"
        verdicts |= dict.fromkeys(tried, inconclusive(why, tier=""))
    return [replace(each, confirmation=verdicts.get(each.fingerprint, each.confirmation)) for each in findings]


def _verdicts(
    tried: Mapping[str, Violation],
    causes: Mapping[str, FindingGroup],
    judge: Examiner | None,
    means: Means,
    others: str,
    tell: Tell,
) -> dict[str, Confirmation]:
    """Return verdicts for findings judged for the versions at hand, which `others` names; the rest are inconclusive."""
    verdicts: dict[int, Confirmation] = {}
    if judge is not None:
        by_core = judge.front_end.released_with == "core"  # a command line does not depend on Megatron-Bridge's version
        here = [
            violation
            for cause in causes.values()
            for violation in cause.violations
            if violation.recipe.front_end == judge.front_end
            and violation.target.core == judge.target.core
            and (by_core or violation.target.bridge == judge.target.bridge)
        ]
        at_hand = {id(violation) for violation in here}
        tried = {
            key: next((each for each in causes[key].violations if id(each) in at_hand), violation)
            for key, violation in tried.items()
        }
        # Each is tried in the variant that breaks its rule.
        variants = {id(violation.variant): violation for violation in tried.values() if id(violation) in at_hand}
        subjects = [judge.subject(each.recipe, each.variant, here) for each in variants.values()]
        done = dry_run(subjects, judge, means, tell).told if subjects else ()
        verdicts = {id(violation): verdict for each in done for violation, verdict in each.findings}
    elsewhere = inconclusive(f"it is about other versions than {others}", tier="")
    return {key: verdicts.get(id(violation), elsewhere) for key, violation in tried.items()}
