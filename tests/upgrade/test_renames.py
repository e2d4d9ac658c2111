"""renames.yaml: what a person decided fits the classes of the releases."""

from __future__ import annotations

import pytest

from mfsdp_lint.megatron.versions import RELEASES, resolve_target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.upgrade.library import Library
from mfsdp_lint.upgrade.renames import _decided, renames

LINES = list(dict.fromkeys(release.data for release in RELEASES))


@pytest.mark.parametrize("rename", _decided(), ids=lambda each: str(each["from"]))
def test_the_old_name_was_there_before_that_release_and_the_new_one_is_from_then_on(rename: dict[str, str]) -> None:
    old, new = (rename[each].partition(".")[2] for each in ("from", "to"))
    at = LINES.index(rename["since"])
    assert old in Library(resolve_target(LINES[at - 1])).fields
    assert all(new in Library(resolve_target(line)).fields for line in LINES[at:])


def test_steps_over_several_releases_compose_and_turn_round() -> None:
    old, new = resolve_target("0.4.2"), resolve_target("head")
    assert renames(old, new)["optimizer.muon_use_nesterov"] == "optimizer.muon_nesterov"
    assert renames(new, old)["optimizer.muon_nesterov"] == "optimizer.muon_use_nesterov"


def test_every_section_of_a_rename_is_one() -> None:
    sections = table().sections("head")
    assert {each["to"].partition(".")[0] for each in _decided()} <= sections.keys()
