"""The package megatron-fsdp without Bridge or Megatron-LM: its own words for strategies."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known, Value
from tests.megatron.front_ends.project import Project

STRATEGY = "ddp.data_parallel_sharding_strategy"

AUTOMODEL = """\
recipe: TrainFinetuneRecipeForNextTokenPrediction
distributed:
  strategy: megatron_fsdp
  tp_size: 2
  zero_dp_strategy: {strategy}
"""

RECIPE = """\
use_meta_device: true
fully_shard_kwargs:
  zero_dp_strategy: {strategy}
  init_model_with_meta_device: ${{use_meta_device}}
"""


@pytest.mark.parametrize(
    ("strategy", "value"),
    [("0", Known("no_shard")), ("2", Known("optim_grads")), ("3", Known("optim_grads_params")), ("7", UNKNOWN)],
)
def test_automodel_counts_strategies(project: Project, strategy: str, value: Value) -> None:
    project.write({"run.yaml": AUTOMODEL.format(strategy=strategy)})
    assert project.values("run.yaml", STRATEGY, "ddp.use_megatron_fsdp", "model.tensor_model_parallel_size") == [
        value,
        Known(True),
        Known(2),
    ]


def test_automodel_shards_everything_by_default(project: Project) -> None:
    project.write({"run.yaml": AUTOMODEL.partition("  zero")[0]})
    assert project.values("run.yaml", STRATEGY) == [Known("optim_grads_params")]


def test_automodel_with_another_strategy_is_none_of_ours(project: Project) -> None:
    project.write({"run.yaml": AUTOMODEL.replace("megatron_fsdp", "fsdp2").format(strategy=3)})
    assert project.recipes("run.yaml") == []


@pytest.mark.parametrize("strategy", ["optim", "1"])
def test_recipes_name_or_count_strategies(project: Project, strategy: str) -> None:
    project.write({"run.yaml": RECIPE.format(strategy=strategy)})
    assert project.values("run.yaml", STRATEGY, "model.init_model_with_meta_device") == [Known("optim"), Known(True)]


def test_what_shards_nothing_is_mended_in_its_own_words(project: Project) -> None:
    project.write({"run.yaml": AUTOMODEL.format(strategy="0 # for now")})
    assert project.told(".") == ["run.yaml:5:21: warning MFSDP301"]
    project.told(".", "--unsafe-fixes", "--fix")
    assert project.text("run.yaml") == AUTOMODEL.format(strategy="3 # for now")
