"""Programs that put code of their own in the place of upstream's."""

# ruff: noqa: E501 (a program a line)

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions import resolve_target
from tests.readers.python.upstream_recipes import read, values


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


FORMAT = "checkpoint.ckpt_format"
TOP = """\
import megatron.bridge.recipes.llama.llama3 as up
import megatron.bridge.training.checkpointing as saving
from dataclasses import dataclass
from megatron.bridge.training.config import CheckpointConfig, ConfigContainer
from unittest import mock

def mine(*args, **kwargs):
    return None

"""
RECIPE = "def recipe():\n    {}\n    cfg = base()\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n"
REPLACED = {
    "a helper": "up._pretrain_common = mine",
    "by setattr": "setattr(up, '_pretrain_common', mine)",
    "by its dictionary": "up.__dict__['_pretrain_common'] = mine",
    "by vars": "vars(up)['_pretrain_common'] = mine",
    "for good, by mock": "mock.patch.object(up, '_pretrain_common', mine).start()",
    "for good, by its name": "mock.patch('megatron.bridge.recipes.llama.llama3._pretrain_common', mine).start()",
    "a class": "up.ConfigContainer = mine",
    "what a class does": "CheckpointConfig.__post_init__ = mine",
    "how a class is made": "CheckpointConfig.__init__ = mine",
}


@pytest.mark.parametrize("line", REPLACED.values(), ids=REPLACED.keys())
def test_nothing_is_known_of_what_a_replaced_helper_makes(line: str) -> None:
    assert not any(isinstance(value, Known) for value in values(TOP + RECIPE.format(line), FORMAT))


@pytest.mark.parametrize("line", REPLACED.values(), ids=REPLACED.keys())
def test_the_replacement_is_told_as_the_reason(line: str) -> None:
    (variant,) = read(TOP + RECIPE.format(line))["recipe"].variants
    obstacle = variant.settings.obstacle(FORMAT)
    assert obstacle is not None
    assert (obstacle.text[:20], obstacle.span.line) == (line[:20], 12)


def test_a_helper_that_is_replaced_at_the_top_of_a_file_counts_as_well() -> None:
    text = f"{TOP}up._pretrain_common = mine\n{RECIPE.format('pass')}"
    assert not any(isinstance(value, Known) for value in values(text, FORMAT))


KEPT = {
    "what the recipe does not use": "saving.save_checkpoint = mine",
    "only for a while": "with mock.patch.object(up, '_pretrain_common', mine):\n        pass",
}


@pytest.mark.parametrize("line", KEPT.values(), ids=KEPT.keys())
def test_what_is_not_replaced_stays_known(line: str) -> None:
    assert values(TOP + RECIPE.format(line), FORMAT) == {Known("torch_dist")}


def test_a_module_that_only_hands_on_a_recipe_has_no_part_in_it() -> None:
    text = TOP + RECIPE.format("up._pretrain_common = mine")
    assert values(text, FORMAT, resolve_target("0.6.0")) == {Known("torch_dist")}


MADE = """\
def recipe():
    old = base()
    cfg = Mine(**{name: getattr(old, name) for name in old.__dataclass_fields__})
    cfg.ddp.use_megatron_fsdp = True
    return cfg
"""
METHODS = {
    "what it writes before upstream's": ('self.checkpoint.ckpt_format = "fsdp_dtensor"\n        super().validate()', False),
    "under a condition": (
        'if self.ddp.use_megatron_fsdp:\n            self.checkpoint.ckpt_format = "fsdp_dtensor"\n'
        "        ConfigContainer.validate(self)",
        False,
    ),
    "without upstream's": ("pass", False),
    "where it may return before": ("if self.train.train_iters:\n            return\n        super().validate()", False),
    "what it only looks at": ("super().validate()\n        assert self.train.train_iters > 0", True),
}  # fmt: skip


@pytest.mark.parametrize(("body", "known"), METHODS.values(), ids=METHODS.keys())
def test_the_validation_of_a_program_s_own_container_is_followed_or_nothing_is_said(body: str, known: bool) -> None:
    text = f"{TOP}@dataclass(kw_only=True)\nclass Mine(ConfigContainer):\n    def validate(self):\n        {body}\n"
    assert (values(text + MADE, FORMAT) == {Known("torch_dist")}) is known


def test_a_validation_that_is_replaced_makes_nothing_known() -> None:
    text = f"{TOP}ConfigContainer.validate = mine\n" + MADE.replace("Mine", "ConfigContainer")
    assert not any(isinstance(value, Known) for value in values(text, FORMAT))


def test_a_section_s_own_finalize_may_write_its_settings() -> None:
    text = f"{TOP}class Mine(CheckpointConfig):\n    def finalize(self):\n        self.ckpt_format = 'fsdp_dtensor'\n"
    text += "        super().finalize()\n"
    text += "def recipe():\n    cfg = base()\n    cfg.checkpoint = Mine(save='/x')\n    return cfg\n"
    found = values(text, FORMAT, resolve_target("0.6.0"))
    assert len(found) == 1
    assert not any(isinstance(value, Known) for value in found)
