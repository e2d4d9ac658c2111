"""One cause, one finding: what makes which rule say nothing new."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.rules.findings import check
from mfsdp_lint.rules.form import RuleError
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule

RULE = """
code: TEAM{number:03}
name: rule-{number}
summary: Rule {number}
why: It is one.
applies: a.x == {number} or a.x == 9
message: a.x is {{a.x}}
consequence: nothing
cases: [{{severity: warning, stage: never}}]
{more}
"""


def rules(folder: Path, *more: str) -> tuple[Rule, ...]:
    (folder / "terms.yaml").write_text("{}", encoding="utf-8")
    for number, text in enumerate(more, 1):
        (folder / f"{number}.yaml").write_text(RULE.format(number=number, more=text), encoding="utf-8")
    return load_rules(folder)


def found(rules: tuple[Rule, ...], value: int) -> list[str]:
    recipe = Recipe("r", "r", "r.py", 1, "function", (Variant(WrittenSettings.of({"a.x": Known(value)})),))
    return [each.code for each in check([recipe], resolve_target("0.3.1"), rules, lambda path: True)]


def test_only_the_strongest_speaks(tmp_path: Path) -> None:
    chain = rules(tmp_path, "weaker_than: [TEAM002]", "weaker_than: [TEAM003]", "")
    assert found(chain, 9) == ["TEAM003"]
    assert found(chain, 1) == ["TEAM001"]


def test_it_goes_on_through_a_rule_that_has_nothing_to_say(tmp_path: Path) -> None:
    chain = rules(tmp_path, "weaker_than: [TEAM002]", "versions: head\nweaker_than: [TEAM003]", "")
    assert found(chain, 9) == ["TEAM003"]


def test_a_group_stands_for_its_rules(tmp_path: Path) -> None:
    grouped = rules(tmp_path, "weaker_than: [team]", "groups: [team]", "groups: [team]")
    assert found(grouped, 9) == ["TEAM002", "TEAM003"]


def test_a_rule_of_a_group_may_be_weaker_than_the_rest_of_it(tmp_path: Path) -> None:
    assert found(rules(tmp_path, "weaker_than: [team]\ngroups: [team]", "groups: [team]"), 9) == ["TEAM002"]


def test_rules_cannot_silence_each_other(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"1\.yaml: weaker_than: TEAM001 and TEAM002 would silence each other"):
        rules(tmp_path, "weaker_than: [TEAM002]", "weaker_than: [TEAM001]")
