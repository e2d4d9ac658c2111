"""`mfsdp-lint rules --verify`: the rules' own examples, tried out against the Megatron that is installed.

A bad example has to fail as its rule says, and a good one must not. That is evidence that anybody can repeat, when a
new Megatron appears.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Literal

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.dryrun.evidence import matches
from mfsdp_lint.dryrun.introspection import Tree
from mfsdp_lint.dryrun.inventory import Installed
from mfsdp_lint.dryrun.run import Means, Told, dry_run
from mfsdp_lint.dryrun.subject import Examiner, Subject, recipe_of, tier_of
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.rules.index import SettingsViews
from mfsdp_lint.rules.model import Confirm, Rule
from mfsdp_lint.snapshots.knowledge import load_knowledge

Agreement = Literal["agreement", "disagreement", "undecidable"]

_FROM_LOW_TO_HIGH: tuple[Confirm, ...] = ("introspect", "cpu", "gpu", "none")
_RANKS = 2
_FILE = "example.py"


@dataclass(frozen=True, slots=True)
class TriedExample:
    """An example and what came of it: the verdict of a dry run, and what was seen.

    A bad one is confirmed, refuted or inconclusive; a good one passed, failed or inconclusive.
    """

    code: str
    number: int
    bad: bool
    verdict: str
    seen: str
    seconds: float

    @property
    def name(self) -> str:
        """`MFSDP101 bad 1`."""
        return f"{self.code} {'bad' if self.bad else 'good'} {self.number}"


@dataclass(frozen=True, slots=True)
class VerifiedRule:
    """A rule: the lowest tier that decides it, and what became of its examples."""

    code: str
    name: str
    tier: Confirm
    tried: tuple[TriedExample, ...]

    @property
    def agreement(self) -> Agreement:
        """Compare the installed Megatron with the rule; it takes a bad and a good example to show agreement."""
        if any(each.verdict == ("refuted" if each.bad else "failed") for each in self.tried):
            return "disagreement"
        seen = {(each.bad, each.verdict) for each in self.tried}
        return "agreement" if {(True, "confirmed"), (False, "passed")} <= seen else "undecidable"

    @property
    def seconds(self) -> float:
        """Return the seconds that the runs took, without imports. Runs that examples share count for each."""
        return sum(each.seconds for each in self.tried)

    def told(self, bad: bool) -> str:
        """Sum up the verdicts: `confirmed`, or `2 confirmed, 1 inconclusive`."""
        verdicts = Counter(each.verdict for each in self.tried if each.bad is bad)
        if len(verdicts) == 1:
            return next(iter(verdicts))
        return ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())) or "none"


@dataclass(frozen=True, slots=True)
class _Case:
    """An example on its way: `subject` is None where it cannot be run here, and `why` says it."""

    rule: Rule
    number: int
    bad: bool
    subject: Subject | None
    why: str = ""


def verify(
    rules: Sequence[Rule],
    installed: Installed,
    target: Target,
    codes: Collection[str],
    tell: Callable[[str], None] = lambda _: None,
) -> list[VerifiedRule]:
    """Try the examples of the rules in `codes` that apply here; all `rules` judge them. Raises UsageError."""
    judge = Examiner(target, rules)
    here = [(rule, found) for rule in rules if rule.code in codes and (found := rule.at(target))]
    cases = [case for rule, found in here for case in _cases(rule, found, judge)]
    tried: list[TriedExample] = []
    # Rules that the CPU decides are tried there, with GPUs or without.
    for tier in installed.tiers:
        chosen = [case for case in cases if _tier(case) == tier]
        # What would be left of a bad example without its mistake is its control run, which is run anyway.
        device = installed.device(tier, _RANKS)
        means = Means(
            *(installed.python, tier != "introspect", device, _RANKS),
            memory=device.memory,
            fixed=True,
            checkpoint="as written",
        )
        tried += _tried(chosen, judge, means, tell)
    return [_verified(rule, _lowest(found), tried) for rule, found in here]


def verify_command_line(
    rules: Sequence[Rule], tree: Tree, python: str, codes: Collection[str], tell: Callable[[str], None] = lambda _: None
) -> list[VerifiedRule]:
    """Try the examples of rules about refusals of Megatron-LM's command line, with a source tree. Raises UsageError."""
    judge = Examiner(tree.target, rules, front_end=MEGATRON_LM)
    here = [(rule, found) for rule in rules if rule.code in codes and (found := rule.at(tree.target, MEGATRON_LM))]
    refusing = [(rule, found) for rule, found in here if any(case.stage == "startup" for case in found.cases)]
    cases = [case for rule, found in refusing for case in _cases(rule, found, judge)]
    chosen = [case for case in cases if not (case.bad and case.subject) or _tier(case) == "introspect"]
    tried = _tried(chosen, judge, Means(python, fixed=True, tree=tree), tell)
    return [_verified(rule, "introspect", tried) for rule, _ in refusing]


def _verified(rule: Rule, tier: Confirm, tried: Sequence[TriedExample]) -> VerifiedRule:
    return VerifiedRule(rule.code, rule.name, tier, tuple(each for each in tried if each.code == rule.code))


def _tier(case: _Case) -> Confirm:
    """Return the tier for an example: that of the case that its mistake falls under, else the rule's lowest."""
    violations = case.subject.violations if case.subject else ()
    return next((tier_of(each) for each in violations if each.rule.code == case.rule.code), _lowest(case.rule))


def _lowest(here: Rule) -> Confirm:
    """Return the lowest tier that decides a rule, as it reads at the installed versions."""
    return min((case.confirm for case in here.cases), key=_FROM_LOW_TO_HIGH.index)


def _cases(rule: Rule, here: Rule, judge: Examiner) -> list[_Case]:
    site = Site(judge.target, judge.front_end)
    # A rule that is off until it is asked for is asked for by its own examples alone.
    judge = replace(judge, rules=[other for other in judge.rules if other.is_on or other.code == rule.code])
    cases = []
    numbers: Counter[bool] = Counter()
    for example in rule.examples:
        bad = example.severity is not None
        numbers[bad] += 1
        told = example.settings or (rule.judges == "writes" and example.python)
        if not told or not example.versions.truth(site):
            continue
        if example.settings:
            recipe = replace(recipe_of(example.settings), front_end=judge.front_end)
        else:  # it is about the assignments in its Python
            recipe = read_python([_FILE], Sources({_FILE: example.python}), load_knowledge(judge.target)).recipes[0]
        subject = None if example.components else judge.subjects([recipe])[0]
        why = ""
        if subject is None:
            needed = ", ".join(f"{name} {version}" for name, version in example.components.items())
            why = f"it is about {needed}"
        elif bad != any(violation.rule.code == rule.code for violation in subject.violations):
            open_ = "it leaves the environment open, and a run has one"
            why = "a stronger rule speaks for it here" if bad else open_
        tried = replace(subject, codes=frozenset({rule.code})) if subject and not why else None
        cases.append(_Case(here, numbers[bad], bad, tried, why))
    return cases


def _tried(cases: Sequence[_Case], judge: Examiner, means: Means, tell: Callable[[str], None]) -> list[TriedExample]:
    subjects = [case.subject for case in cases if case.subject]
    done = iter(dry_run(subjects, judge, means, tell).told if subjects else ())
    tried = []
    for case in cases:
        told = next(done) if case.subject else None
        verdict, seen = "inconclusive", told.why if told else case.why
        if told and not case.bad:
            verdict, seen = _good(case.rule, told)
        elif told and told.findings:
            confirmation = told.findings[0][1]
            # What the rule only supposes is what its example is about.
            verdict = "confirmed" if confirmation.verdict == "hypothetical" else confirmation.verdict
            seen = confirmation.reason or confirmation.seen
        seconds = told.seconds if told else 0.0
        tried.append(TriedExample(case.rule.code, case.number, case.bad, verdict, seen, seconds))
    return tried


def _good(rule: Rule, told: Told) -> tuple[str, str]:
    """Judge a good example: it failed only if it did so as the rule says."""
    validation, result = told.validation, told.result
    if validation is None:
        return "inconclusive", told.why
    # Once another mistake was taken out it is the example no more.
    # Nor is a refusal the rule's where another rule explains it, for some have an error in common.
    failures = [
        refusal.failure
        for refusal in validation.refusals[:1]
        if refusal.violation is None or refusal.violation.rule.code == rule.code
    ]
    if result is not None and result.outcome.failure and not failures:
        failures.append(result.outcome.failure)
    for failure in failures:
        if any(case.error is not None and matches(case.error, failure) for case in rule.cases):
            if why := _is_open(rule, told):
                return "inconclusive", why
            return "failed", failure.message
    if not validation.last.passed:
        return "inconclusive", validation.last.failure.message if validation.last.failure else ""
    if result is None:
        return "passed", ""
    if result.trained and any(case.error or case.showing.shows for case in rule.cases):
        return "passed", ""
    if result.symptoms:
        # Of several mistakes that nothing raises, nobody can say which it is.
        alone = not any(tier_of(violation) in ("cpu", "gpu") for violation in told.subject.violations)
        return "failed" if alone else "inconclusive", result.told
    return ("passed", "") if result.fine else ("inconclusive", result.told)


def _is_open(rule: Rule, told: Told) -> str:
    """Explain why a good example fails: it leaves the rule's condition open, or cannot be given as it is."""
    validation = told.validation
    if validation and validation.last.not_given:
        return f"this version has no {min(validation.last.not_given)}, or not with this value"
    views = SettingsViews(told.subject.variant, Site(told.subject.target, told.subject.recipe.front_end))
    for case in rule.cases:
        seen = views.of(case.sees)
        truths = {rule.applies.truth(seen), case.when.truth(seen) if case.when else True}
        if None in truths and False not in truths:
            return "it leaves open what the rule asks"
    return ""
