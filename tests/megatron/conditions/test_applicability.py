"""Where something holds: front-ends, versions, components."""

from __future__ import annotations

import dataclasses

import pytest

from mfsdp_lint.megatron.conditions import ByVersion, Site, parse_applicability
from mfsdp_lint.megatron.versions import VersionError
from tools.evidenced import bridge_site, core_site

BRIDGE = bridge_site("0.4.2")
COMMAND_LINE = core_site("0.17.1")


def with_te(site: Site, te: str) -> Site:
    return dataclasses.replace(site, target=dataclasses.replace(site.target, te=te))


@pytest.mark.parametrize(
    ("text", "bridge", "command_line"),
    [
        ("", True, True),
        ("<0.5", True, False),
        (">=0.5", False, False),
        ("bridge <0.5", True, False),
        ("bridge", True, False),
        ("megatron-lm", False, True),
        ("bridge | megatron-lm >=0.18", True, False),
        (">=0.5 | megatron-lm >=0.14", False, True),
        ("core >=0.17", True, True),
        ("core >=0.16,<0.17", False, False),
        (">=0.4,<0.6, core >=0.17", True, False),
        ("megatron-lm >=0.14, core <0.16", False, False),
    ],
)
def test_bounds_are_about_their_subject(text: str, bridge: bool, command_line: bool) -> None:
    applicability = parse_applicability(text)
    assert applicability.truth(BRIDGE) is bridge
    assert applicability.truth(COMMAND_LINE) is command_line


def test_what_depends_on_a_component_that_is_not_known_is_undecided() -> None:
    old = parse_applicability("te <2.10")
    assert old.truth(BRIDGE) is None
    assert old.truth(with_te(BRIDGE, "2.9.0")) is True
    assert old.truth(with_te(BRIDGE, "2.10")) is False
    assert parse_applicability(">=0.5, te <2.10").truth(BRIDGE) is False
    assert parse_applicability("<0.5 | te <2.10").truth(BRIDGE) is True


def test_a_whole_rule_is_about_bridge_unless_it_names_another_front_end() -> None:
    assert parse_applicability("").of_a_rule().truth(COMMAND_LINE) is False
    assert parse_applicability("core >=0.17").of_a_rule().truth(COMMAND_LINE) is False
    assert parse_applicability("core >=0.17").of_a_rule().truth(BRIDGE) is True
    assert parse_applicability("megatron-lm").of_a_rule().truth(COMMAND_LINE) is True


def test_the_development_branch_of_core_is_head() -> None:
    for text in ("head", ">=0.19", ">=0.20"):
        assert parse_applicability(f"megatron-lm {text}").truth(core_site("head")) is True
        assert parse_applicability(f"core {text}").truth(bridge_site("head")) is True
    assert parse_applicability("core <0.20").truth(bridge_site("head")) is False


@pytest.mark.parametrize("text", ["soon", "bridge soon", "python >=3", "<0.5 |", "| <0.5", "<0.5,,>0.3", "te >="])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(VersionError):
        parse_applicability(text)


def test_the_first_entry_that_applies_counts() -> None:
    by_version = ByVersion(((parse_applicability("<0.5"), "old"), (parse_applicability(""), "new")))
    assert by_version.at(BRIDGE) == "old"
    assert by_version.at(bridge_site("0.6.0")) == by_version.at(COMMAND_LINE) == "new"
    assert ByVersion(((parse_applicability("<0.4"), "older"),)).at(BRIDGE) is None


def test_nothing_is_said_where_the_first_entry_depends_on_what_is_not_known() -> None:
    by_version = ByVersion(((parse_applicability("te <2.10"), "old"), (parse_applicability(""), "new")))
    assert by_version.at(BRIDGE) is None
    assert by_version.at(with_te(BRIDGE, "2.12")) == "new"
