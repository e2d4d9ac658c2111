"""Tests that launch something are recipes: with what they are parametrised with, their fixtures and their classes."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

HEAD = """\
import pytest
import unittest
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.pretrain import pretrain

"""


def read(folder: Path, text: str) -> dict[str, Recipe]:
    path = folder / "test_training.py"
    path.write_text(HEAD + text)
    knowledge = load_knowledge(resolve_target("0.3.1"))
    return {recipe.name: recipe for recipe in read_python([str(path)], Sources(), knowledge).recipes}


def values(recipe: Recipe, path: str) -> list[Value]:
    return [variant.value(path) for variant in recipe.variants]


def test_one_way_for_each_parameter(tmp_path: Path) -> None:
    text = """
@pytest.mark.parametrize("strategy", ["optim_grads", "optim_grads_params", pytest.param("no_shard", id="plain")])
def test_strategy(strategy):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.data_parallel_sharding_strategy = strategy
    pretrain(cfg, None)
"""
    found = read(tmp_path, text)["test_strategy"]
    expected = [Known("no_shard"), Known("optim_grads"), Known("optim_grads_params")]
    assert sorted(values(found, "ddp.data_parallel_sharding_strategy"), key=repr) == expected


def test_rows_of_parameters_that_are_recipes(tmp_path: Path) -> None:
    text = """
ROWS = [(llama3_8b_pretrain_config, 32), (llama32_1b_pretrain_config, 16)]

@pytest.mark.parametrize("make, layers", ROWS)
@pytest.mark.parametrize("fsdp", (True, False))
def test_recipes(make, layers, fsdp):
    cfg = make()
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.train.train_iters = layers
    pretrain(cfg, None)
"""
    found = read(tmp_path, text)["test_recipes"]
    assert len(found.variants) == 4
    assert set(values(found, "train.train_iters")) == {Known(32), Known(16)}
    assert set(values(found, "ddp.use_megatron_fsdp")) == {Known(True), Known(False)}


def test_a_fixture_of_the_file(tmp_path: Path) -> None:
    text = """
@pytest.fixture
def cfg():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    yield cfg

def test_training(cfg, tmp_path):
    pretrain(cfg, None)
"""
    assert values(read(tmp_path, text)["test_training"], "ddp.use_megatron_fsdp") == [Known(True)]


def test_a_fixture_of_the_nearest_conftest_and_one_on_top_of_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    fixture = "@pytest.fixture\ndef cfg(%s):\n    %s\n    cfg.train.train_iters = %d\n    return cfg\n"
    (tmp_path / "conftest.py").write_text(HEAD + fixture % ("", "cfg = llama3_8b_pretrain_config()", 1))
    (tmp_path / "deep" / "conftest.py").write_text(HEAD + fixture % ("cfg", "cfg.ddp.use_megatron_fsdp = True", 2))
    text = "def test_training(cfg):\n    pretrain(cfg, None)\n"
    outer, inner = read(tmp_path, text)["test_training"], read(tmp_path / "deep", text)["test_training"]
    assert values(outer, "train.train_iters") == [Known(1)]
    assert [values(each, "ddp.use_megatron_fsdp") for each in (outer, inner)] == [[Known(False)], [Known(True)]]


def test_what_a_class_sets_up(tmp_path: Path) -> None:
    text = """
class TestTraining(unittest.TestCase):
    def setUp(self):
        self.cfg = llama3_8b_pretrain_config()

    def test_fsdp(self):
        self.cfg.ddp.use_megatron_fsdp = True
        pretrain(self.cfg, None)


class TestMethods:
    def setup_method(self, method):
        self.cfg = llama3_8b_pretrain_config()

    def test_plain(self):
        pretrain(self.cfg, None)
"""
    found = read(tmp_path, text)
    assert values(found["TestTraining.test_fsdp"], "ddp.use_megatron_fsdp") == [Known(True)]
    assert values(found["TestMethods.test_plain"], "ddp.use_megatron_fsdp") == [Known(False)]


def test_a_method_that_launches_what_the_constructor_made(tmp_path: Path) -> None:
    text = """
class Trainer:
    def __init__(self, steps, fsdp=True):
        self.cfg = llama3_8b_pretrain_config()
        self.cfg.ddp.use_megatron_fsdp = fsdp

    def train(self, step):
        pretrain(self.cfg, step)
"""
    assert values(read(tmp_path, text)["Trainer.train"], "ddp.use_megatron_fsdp") == [Known(True)]


def test_patches_hand_in_their_mocks_and_hold_while_the_test_runs(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text('def ckpt():\n    return "torch_dist"\n\ndef size():\n    return 1\n')
    text = """
from unittest.mock import patch
import helpers

@patch("helpers.size", return_value=2)
@patch("helpers.ckpt", new=lambda: "fsdp_dtensor")
@patch.object(helpers, "folder", create=True)
def test_patched(folder, size, tmp_path):
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = helpers.ckpt()
    cfg.model.tensor_model_parallel_size = helpers.size()
    pretrain(cfg, None)

def test_plain():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = helpers.ckpt()
    pretrain(cfg, None)

@patch("helpers.ckpt", new=lambda: "fsdp_dtensor")
@patch("helpers.size")
class TestClass:
    def test_method(self, size):
        cfg = llama3_8b_pretrain_config()
        cfg.checkpoint.ckpt_format = helpers.ckpt()
        pretrain(cfg, None)
"""
    found = read(tmp_path, text)
    formats = {name: values(recipe, "checkpoint.ckpt_format") for name, recipe in found.items()}
    assert formats == {
        "test_patched": [Known("fsdp_dtensor")],
        "test_plain": [Known("torch_dist")],
        "TestClass.test_method": [Known("fsdp_dtensor")],
    }
    (size,) = values(found["test_patched"], "model.tensor_model_parallel_size")
    assert not isinstance(size, Known)
