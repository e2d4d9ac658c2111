"""`mfsdp-lint --confirm`: the findings of a check, each with what a dry run says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from mfsdp_lint.core.finding import Confirmation, Finding
from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.dryrun.control import inconclusive
from mfsdp_lint.dryrun.inventory import Device, look
from mfsdp_lint.dryrun.run import Means, dry_run
from mfsdp_lint.dryrun.subject import Examiner, Subject, can_be_tried
from mfsdp_lint.dryrun.validator import tree_at
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.findings import Cause
from mfsdp_lint.rules.model import Confirm, Rule

ON_A_GPU = Device("cuda", "nccl").decides

Tell = Callable[[str], None]


def confirmed(
    findings: Sequence[Finding],
    causes: Iterable[Cause],
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
    asked = [finding.fingerprint for finding in findings if finding.fingerprint in by_fingerprint]
    here = _FindingsToTry(asked, by_fingerprint, rules, python, tell)
    verdicts = _with_bridge(here) | _with_a_tree(here, megatron_lm)
    return [replace(each, confirmation=verdicts.get(each.fingerprint, each.confirmation)) for each in findings]


@dataclass(frozen=True, slots=True)
class _FindingsToTry:
    """The findings that a verdict is wanted on, by their fingerprints, what stands behind all, and what is at hand."""

    findings: Sequence[str]
    causes: Mapping[str, Cause]
    rules: Sequence[Rule]
    python: str | None
    tell: Tell

    def read_by(self, front_end: FrontEnd, *trained: Confirm) -> dict[str, Violation]:
        """Return the findings of a front-end that can be tried, each with its violation."""
        about = {finding: self.causes[finding].violations[0] for finding in self.findings}
        return {
            finding: violation
            for finding, violation in about.items()
            if violation.recipe.front_end == front_end and can_be_tried(violation, *trained)
        }


def _with_bridge(asked: _FindingsToTry) -> dict[str, Confirmation]:
    if not asked.read_by(BRIDGE, *ON_A_GPU):
        return {}
    installed = look(asked.python)
    means = Means(installed.python, recipes=False)
    device = installed.device("auto", means.ranks)
    if device.is_gpu:  # where there are enough
        means = replace(means, device=device, most=len(installed.gpus), memory=0)
    decides = means.device.decides
    tried = asked.read_by(BRIDGE, *decides)
    if not tried:
        return {}
    target = installed.ready().target()
    judge = Examiner(target, asked.rules, decides) if target else None
    return _tried(tried, asked, judge, means, f"those that are installed: {installed.label}")


def _with_a_tree(asked: _FindingsToTry, megatron_lm: str | None) -> dict[str, Confirmation]:
    tried = asked.read_by(MEGATRON_LM)
    if megatron_lm is None or not tried:
        why = "a source tree of Megatron-LM decides it, which --megatron-lm names"
        return dict.fromkeys(tried, inconclusive(why, tier=""))
    installed = look(asked.python)
    tree = tree_at(megatron_lm, installed.torch())
    judge = Examiner(tree.target, asked.rules, front_end=MEGATRON_LM)
    return _tried(tried, asked, judge, Means(installed.python, recipes=False, tree=tree), f"that of {tree.label}")


def _tried(
    tried: Mapping[str, Violation], asked: _FindingsToTry, judge: Examiner | None, means: Means, others: str
) -> dict[str, Confirmation]:
    """Return the verdicts of findings judged for the versions at hand, which `others` names; the rest are
    inconclusive.
    """
    verdicts: dict[int, Confirmation] = {}
    if judge is not None:
        here = [
            violation
            for cause in asked.causes.values()
            for violation in cause.violations
            if violation.recipe.front_end == judge.front_end and _same(violation.target, judge)
        ]
        at_hand = {id(violation) for violation in here}
        tried = {
            key: next((each for each in asked.causes[key].violations if id(each) in at_hand), violation)
            for key, violation in tried.items()
        }
        verdicts = _verdicts(list(tried.values()), here, judge, means, asked.tell)
    elsewhere = inconclusive(f"it is judged for other versions than {others}", tier="")
    return {key: verdicts.get(id(violation), elsewhere) for key, violation in tried.items()}


def _verdicts(
    tried: Sequence[Violation], here: Sequence[Violation], judge: Examiner, means: Means, tell: Tell
) -> dict[int, Confirmation]:
    """Return the verdicts on violations, by their identity: each is tried in the variant that breaks its rule."""
    variants = {id(violation.variant): violation for violation in tried if any(violation is each for each in here)}
    subjects = [
        Subject(
            violation.recipe,
            violation.variant,
            judge.given(violation.variant),
            tuple(each for each in here if each.variant is violation.variant),
            judge.target,
        )
        for violation in variants.values()
    ]
    if not subjects:
        return {}
    done = dry_run(subjects, judge, means, tell)
    return {id(violation): found for told in done.told for violation, found in told.findings}


def _same(judged: Target, judge: Examiner) -> bool:
    """Tell whether the judged versions are those at hand; a command line does not depend on
    Megatron-Bridge's version.
    """
    here = judge.target
    return judged.core == here.core and (judge.front_end.released_with == "core" or judged.bridge == here.bridge)
