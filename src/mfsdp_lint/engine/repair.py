"""From causes to fixes: what to ask of `mfsdp_lint.fixes`, and how a proof judges changed texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from mfsdp_lint.core.finding import SEVERITIES, Fix, Safety
from mfsdp_lint.engine.judge import Judge, Judgement
from mfsdp_lint.fixes.apply import Fixed, fix_project, prove_once
from mfsdp_lint.fixes.plan import FixRequest, Need, plan
from mfsdp_lint.fixes.prove import Broken, Evaluate, Judged
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.findings import Cause


@dataclass(frozen=True, slots=True)
class Repair:
    """The fixes of one judgement.

    `judge` has to judge by every rule, so that a fix brings in nothing that the user merely chose not to see, and
    `judgement` has to be its own; `codes` are the rules whose findings may be fixed.
    """

    judgement: Judgement
    judge: Judge
    codes: Collection[str]

    def plannable(self) -> dict[str, Safety]:
        """What there are edits for, by fingerprint; not proved."""
        requests = self._judged(self.judgement, unsafe=True).requests
        plans = plan(requests, self.judgement.recipes, self.judgement.sources.text, self.judge.is_linted)
        return {each.request.key: each.request.safety for each in plans if each.candidates}

    def proved(self) -> dict[str, Fix]:
        """Fixes by fingerprint. Safe ones are proved among themselves, unsafe ones together with the safe ones."""
        fixes: dict[str, Fix] = {}
        for unsafe in (False, True):
            before = self._judged(self.judgement, unsafe)
            if all(request.key in fixes for request in before.requests):
                continue
            proof = prove_once(before, self._evaluate(unsafe), self.judgement.sources.text, self.judge.is_linted)
            for each in proof.proved:
                fixes.setdefault(each.request.key, Fix(each.request.safety, each.edits))
        return fixes

    def applied(self, *, unsafe: bool) -> Fixed:
        """The texts of all files with every fix that holds, the unsafe ones if asked for. Writes nothing."""
        before = self._judged(self.judgement, unsafe)
        return fix_project(before, self._evaluate(unsafe), self.judgement.sources.text, self.judge.is_linted)

    def _evaluate(self, unsafe: bool) -> Evaluate:
        def evaluate(texts: Mapping[str, str]) -> Judged:
            return self._judged(self.judge(self.judgement.sources.with_texts(texts), self.judgement), unsafe)

        return evaluate

    def _judged(self, judgement: Judgement, unsafe: bool) -> Judged:
        violations = [violation for cause in judgement.causes for violation in cause.violations]
        return Judged(
            recipes=judgement.recipes,
            # Several versions may break a rule with different severities; the proof goes by the last one.
            broken=[
                Broken(_mistake(each), each.severity, each.recipe, each.variant)
                for each in sorted(violations, key=lambda each: -SEVERITIES.index(each.severity))
            ],
            requests=list(self._requests(judgement, unsafe)),
            unreadable=[problem.path for problem in judgement.problems if problem.kind in ("unreadable", "foreign")],
        )

    def _requests(self, judgement: Judgement, unsafe: bool) -> Iterator[FixRequest]:
        for cause in judgement.causes:
            finding = cause.finding
            if finding.code not in self.codes or finding.suppressed is not None:
                continue
            if cause.safety == "safe" or (unsafe and cause.safety == "unsafe"):
                needs = tuple(_needs(cause))
                mistake = _mistake(cause.violations[0])
                yield FixRequest(finding.fingerprint, mistake, finding.severity, cause.safety, needs)


def _mistake(violation: Violation) -> str:
    """What is to be gone: the rule, of a rule about assignments or text the rule for that setting or line."""
    code = violation.rule.code
    if violation.passage:
        return f"{code} for {violation.passage.line}"
    return f"{code} for {violation.primary.setting}" if violation.rule.judges == "writes" else code


def _needs(cause: Cause) -> Iterator[Need]:
    for violation in cause.violations:
        if violation.remedy is not None:
            anchors = (
                path
                for setting in violation.rule.blame.enabled_by
                for path in setting.deciding(violation.variant)
                if path in violation.witnesses
            )
            remedy = violation.remedy
            # Where nothing else turned the feature on, the line at fault is the place to write next to.
            places = tuple(dict.fromkeys((*anchors, violation.primary.setting)))
            yield Need(violation.recipe, violation.variant, remedy.set, remedy.unset, places, remedy.edits)
