"""verl: a Hydra configuration, and what its Megatron engine makes of it."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import Known
from tests.megatron.front_ends.project import Project

FILES = {
    "verl/trainer/config/actor/megatron_actor.yaml": """\
        defaults:
          - ../engine@megatron: megatron
          - actor
          - _self_
        strategy: megatron
        """,
    "verl/trainer/config/actor/actor.yaml": "strategy: ???\n",
    "verl/trainer/config/engine/megatron.yaml": """\
        tensor_model_parallel_size: 1
        sequence_parallel: True
        use_distributed_optimizer: True
        override_ddp_config: {}
        override_transformer_config:
          recompute_granularity: null
        vanilla_mbridge: False
        use_megatron_fsdp: False
        forward_only: False
        dtype: bfloat16
        """,
    "verl/trainer/config/model_engine/megatron.yaml": "# @package _global_\nmodel_engine: megatron\n",
    "verl/trainer/config/ppo_trainer.yaml": """\
        defaults:
          - model_engine: dp
          - actor@actor_rollout_ref.actor: ${model_engine}_actor
          - _self_
        """,
}

RUN = """\
hydra:
  searchpath:
    - file://verl/trainer/config
defaults:
  - ppo_trainer
  - override model_engine: megatron
  - _self_
actor_rollout_ref:
  actor:
    megatron:
      use_megatron_fsdp: True
      tensor_model_parallel_size: 2
"""


def test_what_the_engine_is_given(project: Project) -> None:
    project.write({**FILES, "recipe/run.yaml": RUN})
    recipe = project.recipe("recipe/run.yaml")
    assert (recipe.front_end.name, recipe.name, recipe.partial) == ("verl", "run.yaml", False)
    assert project.values(
        "recipe/run.yaml",
        "ddp.use_megatron_fsdp",
        "ddp.data_parallel_sharding_strategy",
        "ddp.use_distributed_optimizer",
        "ddp.overlap_grad_reduce",
        "checkpoint.ckpt_format",
        "model.tensor_model_parallel_size",
        "model.sequence_parallel",
        "model.bf16",
    ) == [Known(each) for each in (True, "optim_grads_params", True, True, "fsdp_dtensor", 2, True, True)]
    assert project.place("recipe/run.yaml", "model.tensor_model_parallel_size") == "recipe/run.yaml:12"
    assert project.place("recipe/run.yaml", "model.bf16") == "verl/trainer/config/engine/megatron.yaml:10"


def test_the_legacy_bridge_knows_no_fsdp(project: Project) -> None:
    project.write({**FILES, "recipe/run.yaml": RUN + "      vanilla_mbridge: True\n"})
    assert project.values("recipe/run.yaml", "ddp.use_megatron_fsdp") == [Known(False)]
    assert project.told(".") == ["recipe/run.yaml:11:7: warning MFSDP705"]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("vanilla_mbridge: False", id="it is handed on"),
        pytest.param("vanilla_mbridge: ${oc.env:LEGACY}", id="nobody knows whether it is"),
        pytest.param("forward_only: True", id="a model that is not trained is not wrapped at all"),
    ],
)
def test_fsdp_is_not_said_to_be_dropped_where(project: Project, more: str) -> None:
    project.write({**FILES, "recipe/run.yaml": f"{RUN}      {more}\n"})
    assert "MFSDP705" not in " ".join(project.told("."))


def test_what_verl_corrects_is_no_mistake(project: Project) -> None:
    project.write({**FILES, "recipe/run.yaml": RUN.replace("size: 2", "size: 1")})
    assert project.values("recipe/run.yaml", "model.sequence_parallel") == [Known(False)]
    assert project.told(".") == []


def test_a_strategy_that_shards_nothing(project: Project) -> None:
    sharded = RUN + "      override_ddp_config:\n        data_parallel_sharding_strategy: no_shard # for now\n"
    project.write({**FILES, "recipe/run.yaml": sharded})
    assert project.told(".") == ["recipe/run.yaml:14:42: warning MFSDP301"]
    project.told(".", "--unsafe-fixes", "--fix")
    assert project.text("recipe/run.yaml") == sharded.replace("no_shard", "optim_grads_params")


def test_fine_tuning_has_one_engine(project: Project) -> None:
    run = "defaults:\n  - engine@engine: megatron\n  - _self_\nengine:\n  use_megatron_fsdp: True\n"
    engine = "_target_: verl.workers.config.McoreEngineConfig\nuse_megatron_fsdp: False\n"
    project.write({"engine/megatron.yaml": engine, "sft.yaml": run})
    assert project.values("sft.yaml", "ddp.use_megatron_fsdp", "checkpoint.ckpt_format") == [
        Known(True),
        Known("fsdp_dtensor"),
    ]
