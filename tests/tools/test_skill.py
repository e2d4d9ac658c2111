"""The skill for agents says what is right, in the sections that NVIDIA's own has."""

from __future__ import annotations

import re

import pytest
import yaml

import mfsdp_lint
from mfsdp_lint.rules.load import load_rules
from tools.evidenced import BRIDGE
from tools.options_page import PAGE as OPTIONS
from tools.skill.enabling import to_write
from tools.skill.generate import files
from tools.skill.pitfalls import NEWEST, pitfalls

SKILL, CARD = files()["SKILL.md"], yaml.safe_load(files()["card.yaml"])


def test_it_has_the_sections_of_the_public_skill() -> None:
    assert re.findall("^## (.*)", SKILL, re.MULTILINE) == ["Enablement", "Code Anchors", "Pitfalls", "Verification"]


def test_its_head_is_read_by_agents() -> None:
    head = yaml.safe_load(SKILL.split("---\n")[1])
    assert set(head) == {"name", "description", "license", "when_to_use"}


@pytest.mark.parametrize("version", BRIDGE)
def test_what_it_says_to_write_breaks_no_rule(version: str) -> None:
    found = mfsdp_lint.judge(dict(to_write()), target=version).findings
    assert [finding.code for finding in found if finding.severity == "error"] == []


def test_every_option_that_it_names_exists() -> None:
    named = set(re.findall(r"(?<=[ `])--[a-z-]+", SKILL))
    assert named - set(re.findall(r"--[a-z-]+", OPTIONS.read_text(encoding="utf-8"))) == set()


def test_a_pitfall_takes_fsdp() -> None:
    codes = {each.rule.code for each in pitfalls()}
    assert {"MFSDP101", "MFSDP301"} <= codes
    assert "MFSDP751" not in codes  # settings of Megatron-FSDP while it is off
    assert "MFSDP402" not in codes  # offloading goes wrong without it, too


def test_a_pitfall_is_told_for_the_releases_that_have_it() -> None:
    said = {each.rule.code: each.versions for each in pitfalls()}
    assert (said["MFSDP101"], said["MFSDP162"], said["MFSDP354"]) == ("all", "0.4.2", "0.2.0 to 0.4.2")


def test_the_lines_are_those_of_the_rules_evidence() -> None:
    format_rule = next(rule for rule in load_rules() if rule.code == "MFSDP101")
    (place,) = format_rule.evidence[NEWEST]
    row = next(line for line in SKILL.splitlines() if line.startswith(f"| {place.repository} `{place.path}`"))
    assert f"{place.line}: MFSDP101" in row


def test_the_card_tells_what_stops_a_run_from_what_is_silent() -> None:
    assert any(told.startswith("MFSDP350 ") for told in CARD["known_constraints"])
    assert any(told.startswith("MFSDP552 ") for told in CARD["known_limitations"])
