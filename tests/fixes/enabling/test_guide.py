"""The guides' enablement: data that says what it needs to, for every release."""

from __future__ import annotations

import re

import pytest

from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.store import read_yaml
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.fixes.enabling import SOURCE, EnableOptions, guide
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.megatron.versions.releases import RELEASES
from mfsdp_lint.megatron.vocabulary import table

SITE = Site(resolve_target("0.3.1"))


def settings(**values: Plain) -> Variant:
    return Variant(WrittenSettings.of({path.replace("__", "."): Known(value) for path, value in values.items()}))


@pytest.mark.parametrize("version", [release.bridge for release in RELEASES])
def test_every_release_of_bridge_has_a_guide_and_knows_its_settings(version: str) -> None:
    target = resolve_target(version)
    said = guide().settings(settings(), Site(target), EnableOptions())
    assert said["checkpoint.ckpt_format"] == "fsdp_dtensor"
    assert [path for path in said if table().default(path, target, BRIDGE) is None] == []


def test_a_command_line_gets_what_its_guide_says() -> None:
    said = guide().settings(
        settings(), Site(resolve_target("0.3.1"), MEGATRON_LM), EnableOptions(strategy="optim_grads")
    )
    assert said == {
        "ddp.use_megatron_fsdp": True,
        "ddp.data_parallel_sharding_strategy": "optim_grads",
        "checkpoint.ckpt_format": "fsdp_dtensor",
    }


def test_what_is_so_already_is_not_written() -> None:
    variant = settings(ddp__average_in_collective=False, ddp__use_megatron_fsdp=True)
    said = guide().settings(variant, SITE, EnableOptions())
    assert not {"ddp.average_in_collective", "ddp.use_megatron_fsdp"} & said.keys()


@pytest.mark.parametrize(("load", "wanted"), [("/old", "/new"), ("/elsewhere", None), (None, None)])
def test_a_run_that_resumes_still_does(load: str | None, wanted: str | None) -> None:
    variant = settings(checkpoint__save="/old", checkpoint__load=load)
    said = guide().settings(variant, SITE, EnableOptions(save="/new"))
    assert (said["checkpoint.save"], said.get("checkpoint.load")) == ("/new", wanted)


def test_what_has_to_be_converted_is_said_unless_it_is_saved_elsewhere() -> None:
    resumes = settings(checkpoint__save="/here", checkpoint__load="/here")
    assert [each.split(";")[0] for each in guide().remarks_on(resumes, SITE, EnableOptions())] == [
        'checkpoint.load is "/here"'
    ]
    assert list(guide().remarks_on(resumes, SITE, EnableOptions(save="/here"))) == []


def test_every_step_that_says_what_to_write_says_where_that_is_written() -> None:
    steps = [each for each in read_yaml(SOURCE)["steps"] if "ddp.use_megatron_fsdp" in each["set"]]
    places = [place for each in steps for place in each["evidence"].values()]
    assert places
    assert all(re.fullmatch(r"(bridge|megatron-lm) \S+:\d+", place) for place in places)
