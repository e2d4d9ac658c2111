"""`mfsdp-lint --confirm`: the findings of a check, each with what a dry run says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mfsdp_lint.dryrun.introspection import inconclusive
from mfsdp_lint.dryrun.inventory import Installed, look
from mfsdp_lint.dryrun.plain import given
from mfsdp_lint.dryrun.run import Means, dry_run
from mfsdp_lint.dryrun.subject import Judge, Subject, can_be_tried
from mfsdp_lint.finding import Confirmation, Finding
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.findings import Cause
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.upstream.target import Target

Tell = Callable[[str], None]


def confirmed(
    findings: Sequence[Finding],
    causes: Iterable[Cause],
    rules: Sequence[Rule],
    python: str | None,
    tell: Tell = lambda _: None,
) -> list[Finding]:
    """The findings, those that a dry run can decide with its verdict. `python` is the one that has torch.

    Raises UsageError where nothing can be run.
    """
    by_fingerprint = {cause.finding.fingerprint: cause for cause in causes if cause.finding.suppressed is None}
    tried = {
        finding.fingerprint: cause.violations[0]
        for finding in findings
        if (cause := by_fingerprint.get(finding.fingerprint)) and can_be_tried(cause.violations[0])
    }
    if not tried:
        return list(findings)
    installed = look(python).ready()
    target = installed.target()
    verdicts = {}
    if target is not None:
        here = [
            violation
            for cause in by_fingerprint.values()
            for violation in cause.violations
            if _same(violation.target, target) and violation.recipe.front_end == "bridge"
        ]
        tried = {key: _at_hand(by_fingerprint[key], here) or violation for key, violation in tried.items()}
        verdicts = _verdicts(list(tried.values()), here, Judge(target, rules), installed, tell)
    elsewhere = "it is judged for other versions than those that are installed: "
    return [
        replace(
            finding,
            confirmation=verdicts.get(id(tried[finding.fingerprint]))
            or inconclusive(f"{elsewhere}{installed.label}", tier=""),
        )
        if finding.fingerprint in tried
        else finding
        for finding in findings
    ]


def _at_hand(cause: Cause, here: Sequence[Violation]) -> Violation | None:
    wanted = {id(violation) for violation in cause.violations}
    return next((violation for violation in here if id(violation) in wanted), None)


def _verdicts(
    tried: Sequence[Violation], here: Sequence[Violation], judge: Judge, installed: Installed, tell: Tell
) -> dict[int, Confirmation]:
    """The verdicts on violations, by their identity: each is tried in the variant that breaks its rule."""
    variants = {id(violation.variant): violation for violation in tried if any(violation is each for each in here)}
    subjects = [
        Subject(
            violation.recipe,
            violation.variant,
            given(violation.variant),
            tuple(each for each in here if each.variant is violation.variant),
            judge.target,
        )
        for violation in variants.values()
    ]
    if not subjects:
        return {}
    done = dry_run(subjects, judge, Means(installed.python, recipes=False), tell)
    return {id(violation): found for told in done.told for violation, found in told.findings}


def _same(judged: Target, installed: Target) -> bool:
    return (judged.bridge, judged.core) == (installed.bridge, installed.core)
