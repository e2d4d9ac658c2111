"""Cure of a mistake without text or fixer: its remedy is tried on the bare settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mfsdp_lint.core.finding import SEVERITIES
from mfsdp_lint.core.recipe import Origin, Span, Variant
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.overrides import OverriddenSettings, SettingOverride
from mfsdp_lint.rules.check import Violation

ROUNDS = 8
NOWHERE = Origin(Span("", 1, 1, 1, 1), "override")


def obstacle(violation: Violation, judge: Linter, sources: Sources) -> str | None:
    """Find the rule for which a mistake has to stay.

    This is the case if its remedy, and the safe remedies of further mistakes that appear, end in a mistake as severe
    without a safe remedy. None if they do not.
    """
    code = violation.rule.code
    rank = SEVERITIES.index(violation.severity)
    known = {each.rule.code for each in _broken(violation, violation.variant, judge, sources)}
    values: dict[str, Plain] = {}
    left = [violation]
    for _ in range(ROUNDS):
        stuck = [each for each in left if each.remedy is None or each.remedy.safety == "unsafe"]
        if stuck:
            return stuck[0].rule.code
        before = dict(values)
        for each in left:
            if each.remedy:
                values |= {**each.remedy.set, **dict.fromkeys(each.remedy.unset)}
        left = [
            each
            for each in _broken(violation, _with(violation.variant, values), judge, sources)
            if each.rule.code == code or (each.rule.code not in known and SEVERITIES.index(each.severity) <= rank)
        ]
        if not left:
            return None
        if values == before:
            break
    return left[0].rule.code


def _broken(violation: Violation, variant: Variant, judge: Linter, sources: Sources) -> list[Violation]:
    recipe = replace(violation.recipe, variants=(variant,), exposed=())
    return list(judge.violations([recipe], sources, every=True))


def _with(variant: Variant, values: Mapping[str, Plain]) -> Variant:
    changed = [SettingOverride(path, Known(value), NOWHERE) for path, value in values.items()]
    return replace(variant, settings=OverriddenSettings(variant.settings, changed))
