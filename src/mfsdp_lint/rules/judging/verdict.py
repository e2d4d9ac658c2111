"""Verdicts of the rules and of start-up on configurations with no file behind them: the library's front door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from mfsdp_lint.core.finding import SEVERITIES, Finding
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.megatron.conditions.applicability import Site
from mfsdp_lint.megatron.front_ends import front_end as front_end_named
from mfsdp_lint.megatron.startup.resolve import Resolution
from mfsdp_lint.megatron.versions.target import Target, nearest, resolve_target
from mfsdp_lint.rules.agenda import Agenda, agenda
from mfsdp_lint.rules.judging.configuration import GIVEN, variant_of
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Case, Rule
from mfsdp_lint.rules.strength import stronger
from mfsdp_lint.rules.views import Views
from mfsdp_lint.rules.writes import broken


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings on a configuration, worst first, and the settings that start-up changes.

    `will_run` has the new value of each setting that is given, and known to be changed.
    """

    findings: tuple[Finding, ...]
    will_run: Mapping[str, Plain]


def judge(
    configuration: object,
    *,
    target: Target | str | None = None,
    world_size: int | None = None,
    partial_environment: bool = False,
    front_end: FrontEnd | str = BRIDGE,
) -> Verdict:
    """Judge a mapping of settings (dotted or nested) or a live `ConfigContainer`, of which nothing is imported or run.

    `target` is a Megatron-Bridge version ("0.4.2", "0.5", "head"); without one, the newest on the package index. A
    setting that is not given is unknown. An environment variable (`env.NAME`) that is not given is unset, or unknown
    with `partial_environment`: pass `{"env": dict(os.environ), …}` for what the run will see. `front_end` is
    "megatron-lm" for settings of Megatron-LM's own command line.

    Raises NotAConfiguration, UnknownVersion and UnknownFrontEnd (all ValueError).
    """
    known = target if isinstance(target, Target) else resolve_target(target)
    variant = variant_of(configuration, world_size=world_size, partial_environment=partial_environment)
    who = front_end if isinstance(front_end, FrontEnd) else front_end_named(front_end)
    return bench(known, who)(variant)


@cache
def bench(target: Target, front_end: FrontEnd = BRIDGE) -> Callable[[Variant], Verdict]:
    """Return the judge at a target, by the rules that are on by default.

    Where the target names no Transformer Engine, it is the one that the Megatron-Bridge release pins.
    """
    rules = [rule for rule in load_rules() if rule.is_on]
    site = Site(target if target.te else replace(target, te=nearest(target.bridge).te), front_end)
    questions, above = agenda(rules, site), stronger(rules)
    return lambda variant: _verdict(Views(variant, site), questions, above)


def _verdict(views: Views, questions: Agenda, above: Mapping[str, frozenset[str]]) -> Verdict:
    fired = {rule.code: (rule, case) for rule, case in questions.broken(views)}
    findings = [
        _finding(rule, case, views.of(case.sees)) for rule, case in fired.values() if above[rule.code].isdisjoint(fired)
    ]
    for rule in questions.of_writes:
        findings += [_finding(rule, case, seen) for case, seen, _ in broken(rule, views, lambda _: True)]
    return Verdict(tuple(sorted(findings, key=_worst_first)), _will_run(views.resolution))


def _finding(rule: Rule, case: Case, seen: Variant) -> Finding:
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=case.severity,
        stage=case.stage,
        message=case.message.of(seen),
        span=GIVEN.span,
        consequence=case.consequence.of(seen),
        raises=case.error.of(seen) if case.error else None,
        enforced_by=case.enforcer,
    )


def _worst_first(finding: Finding) -> tuple[int, str, str]:
    return (SEVERITIES.index(finding.severity), finding.code, finding.message)


def _will_run(resolution: Resolution) -> dict[str, Plain]:
    changed = resolution.changed()
    return {path: change.after.value for path, change in changed.items() if isinstance(change.after, Known)}
