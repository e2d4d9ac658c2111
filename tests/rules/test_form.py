"""The form of a rule file: what a mistake in it is answered with."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from mfsdp_lint.checkout import CHECKOUT
from mfsdp_lint.megatron.conditions.language import parse
from mfsdp_lint.rules.form import RuleError, read_rule
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule

RULE = """
code: TEAM001
name: no-zarr
summary: Zarr checkpoints
why: Our readers are gone.
applies: checkpoint.ckpt_format == "zarr"
cases:
  - severity: warning
    stage: save
    message: nobody reads {checkpoint.ckpt_format} any more
    consequence: the checkpoint is lost
blame: {value: [checkpoint.ckpt_format]}
fix: {set: {checkpoint.ckpt_format: torch_dist}, safe: never}
examples:
  bad: [{severity: warning, settings: {checkpoint.ckpt_format: zarr}}]
"""


def rule_with(*where: str | int, value: object) -> dict[str, Any]:
    """The rule with one field changed."""
    data: dict[str, Any] = copy.deepcopy(yaml.safe_load(RULE))
    inner: Any = data
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    return data


def test_a_small_rule_is_enough() -> None:
    rule = read_rule(yaml.safe_load(RULE), "team.yaml", {})
    assert (rule.code, rule.name, rule.cases[0].severity, rule.weaker_than) == ("TEAM001", "no-zarr", "warning", ())


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "team.yaml: expected a mapping"),
        (rule_with("colour", value="red"), "team.yaml: unknown field 'colour'"),
        (rule_with("why", value=None), "team.yaml: why: is missing"),
        (rule_with("why", value=3), "team.yaml: why: expected text"),
        (rule_with("code", value="001"), "team.yaml: code: '001' does not match"),
        (rule_with("cases", value=[]), "team.yaml: cases: at least one"),
        (rule_with("fix", value={"none": "why", "safe": "always"}), "team.yaml: fix: unknown field 'safe'"),
        (rule_with("fix", value={"none": None}), "team.yaml: fix: none: is missing"),
        (rule_with("fix", value={"rename": "nearest", "safe": "never"}), "team.yaml: fix: rename: 'nearest' does not"),
        (
            rule_with("cases", 0, "severity", value="fatal"),
            r"team.yaml: cases\[0\]: severity: 'fatal' is none of error",
        ),
        (rule_with("cases", 0, "stage", value="later"), r"cases\[0\]: stage: 'later' is none of startup"),
        (rule_with("cases", 0, "stages", value="save"), r"cases\[0\]: unknown field 'stages'"),
        (rule_with("cases", 0, "message", value="{format} is bad"), "message: '{format}' names no setting"),
        (rule_with("cases", 0, "versions", value="new"), "versions: 'new' is not a version"),
        (rule_with("cases", 0, "raises", value={"<x": "no"}), "raises: 'x' is not a version"),
        (rule_with("cases", 0, "raises", value=[1]), "raises: expected text, or a text for each range"),
        (rule_with("applies", value="zarr"), "team.yaml: applies: zarr is neither a term nor a setting"),
        (rule_with("blame", "value", value=[3]), "team.yaml: blame: value: expected text, or a list"),
        (rule_with("fix", "set", value={"zarr": 1}), "fix: set: 'zarr' is not the path of a setting"),
        (rule_with("fix", "safe", value="maybe"), "fix: safe: maybe is neither a term nor a setting"),
        (rule_with("evidence", value={"0.3.1": "config.py"}), "evidence: 0.3.1: expected `bridge PATH:LINE`"),
        (rule_with("examples", value={"ugly": []}), "examples: unknown field 'ugly'"),
        (rule_with("confirm", value={"shows": "seen.scaled"}), "confirm: tier: is missing"),
        (rule_with("cases", 0, "confirm", value={"none": "no GPU"}), "confirm: why there is none is said once"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_field(data: object, problem: str) -> None:
    with pytest.raises(RuleError, match=problem):
        read_rule(data, "team.yaml", {})


def test_a_case_is_decided_by_the_tier_of_its_rule_or_by_one_of_its_own() -> None:
    assert [case.confirm for case in read_rule(rule_with("confirm", value="cpu"), "team.yaml", {}).cases] == ["cpu"]
    data = rule_with("confirm", value="cpu")
    data["cases"] = [{**data["cases"][0], "confirm": "gpu"}, *data["cases"]]
    assert [case.confirm for case in read_rule(data, "team.yaml", {}).cases] == ["gpu", "cpu"]


def test_what_shows_a_case_and_what_that_takes_is_said_with_the_tier() -> None:
    how = {
        "tier": "cpu",
        "shows": "seen.after.checkpoint.ckpt_format != checkpoint.ckpt_format",
        "keeps": ["checkpoint.save_rng"],
        "saved_with": {"checkpoint.ckpt_format": "torch_dist"},
    }
    (case,) = read_rule(rule_with("confirm", value=how), "team.yaml", {}).cases
    assert (case.confirm, case.showing.keeps) == ("cpu", ("checkpoint.save_rng",))
    assert case.showing.shows is not None
    assert case.showing.saved_with == {"checkpoint.ckpt_format": "torch_dist"}


def folder_of_rules(folder: Path, **files: str) -> Path:
    (folder / "terms.yaml").write_text("{}", encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def test_two_rules_cannot_share_a_code(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"two\.yaml: TEAM001 is already the rule of one\.yaml"):
        load_rules(folder_of_rules(tmp_path, one=RULE, two=RULE))


def test_a_rule_can_only_be_weaker_than_one_that_exists(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="weaker_than: there is no rule TEAM009"):
        load_rules(folder_of_rules(tmp_path, one=RULE + "weaker_than: [TEAM009]\n"))


def test_a_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"one\.yaml"):
        load_rules(folder_of_rules(tmp_path, one="code: [", two=RULE))


def test_the_compiled_rules_are_the_rules() -> None:
    def said(rule: Rule) -> list[object]:
        texts = [condition.text for case in rule.cases if (condition := case.when)]
        return [
            *(rule.code, rule.name, rule.judges, rule.preset, rule.groups, rule.weaker_than, rule.file, rule.views),
            *(rule.gate.text, rule.applies.text, rule.evidence, rule.examples, rule.control, rule.fixes and texts),
        ]

    assert list(map(said, load_rules())) == list(map(said, load_rules(CHECKOUT)))


def test_a_compiled_rule_with_another_condition_is_a_rule_like_any_other() -> None:
    rule = next(rule for rule in load_rules() if rule.code == "MFSDP101")
    other = replace(rule, applies=parse("model.odd and model.even", {}))
    assert (rule.gate.text, other.gate.text) == ("megatron_fsdp", "model.odd")
    assert other.examples == rule.examples
