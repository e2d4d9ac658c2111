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


def test_a_strategy_that_the_package_does_not_know(project: Project) -> None:
    text = "from megatron_fsdp import fully_shard\n\n\ndef wrap(model):\n"
    project.write({"run.py": f"{text}    return fully_shard(module=model, zero_dp_strategy='full_shard')\n"})
    assert [each.partition(" ")[2] for each in project.told(".")] == ["error MFSDP351"]
    project.write({"run.py": f"{text}    return fully_shard(module=model, zero_dp_strategy='optim_grads')\n"})
    assert project.told(".") == []


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


OUTER = "outer_dp_sharding_strategy"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            """\
            from megatron_fsdp import fully_shard

            def wrap(model, optimizer, mesh, zero=2):
                return fully_shard(model, optimizer, mesh, zero_dp_strategy=zero, outer_dp_sharding_strategy=1)
            """,
            id="keywords and a default",
        ),
        pytest.param(
            """\
            import megatron_fsdp as mf

            SHARDING = {"zero_dp_strategy": "optim_grads", "outer_dp_sharding_strategy": "optim"}

            class Trainer:
                def __init__(self, model):
                    self.model = mf.fully_shard_model(model, **SHARDING)

            if __name__ == "__main__":
                Trainer(None)
            """,
            id="a table, in a class",
        ),
        pytest.param(
            """\
            from functools import partial
            from megatron_fsdp.fully_shard import fully_shard

            shard = partial(fully_shard, outer_dp_sharding_strategy="optim")

            def main(model, optimizer):
                for each in (model,):
                    shard(each, optimizer, zero_dp_strategy="optim")
            """,
            id="a partial function",
        ),
        pytest.param(
            """\
            import argparse
            from megatron_fsdp import fully_shard

            def main():
                parser = argparse.ArgumentParser()
                parser.add_argument("--zero", default="optim_grads")
                args = parser.parse_args()
                fully_shard(object(), object(), zero_dp_strategy=args.zero, outer_dp_sharding_strategy="optim")

            if __name__ == "__main__":
                main()
            """,
            id="an option",
        ),
    ],
)
def test_arguments_in_python_are_those_of_a_run(project: Project, program: str) -> None:
    project.write({"train.py": program})
    assert [line.partition(" ")[2] for line in project.told(".")] == ["error MFSDP356"]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("fully_shard(model, optimizer, outer_dp_sharding_strategy='optim')", id="the default shards all"),
        pytest.param("fully_shard(model, optimizer, outer_dp_sharding_strategy='optim', **more)", id="more arguments"),
        pytest.param("fully_shard(*model, outer_dp_sharding_strategy='optim')", id="more values"),
        pytest.param("fully_shard(model, None, None, 'a', 'b', outer_dp_sharding_strategy=1)", id="by position"),
        pytest.param("fully_shard(model, zero_dp_strategy=optimizer, outer_dp_sharding_strategy=1)", id="not known"),
    ],
)
def test_a_call_that_may_be_right(project: Project, call: str) -> None:
    project.write(
        {"train.py": f"from megatron_fsdp import fully_shard\n\ndef wrap(model, optimizer, **more):\n    {call}\n"}
    )
    assert project.told(".") == []


def test_torch_has_a_function_of_the_same_name(project: Project) -> None:
    call = "fully_shard(model, zero_dp_strategy=2, outer_dp_sharding_strategy='optim')"
    project.write({"train.py": f"from torch.distributed.fsdp import fully_shard\n\ndef megatron(model):\n    {call}\n"})
    assert project.told(".") == []


def test_groups_of_hydra_are_told_where_they_are_written(project: Project) -> None:
    project.write(
        {
            "conf/run.yaml": "defaults: [outer: half, _self_]\nsharding:\n  zero_dp_strategy: ${inner}\ninner: optim\n",
            "conf/outer/half.yaml": f"# @package sharding\n{OUTER}: optim\n",
            "conf/outer/none.yaml": f"# @package sharding\n{OUTER}: no_shard\n",
            "train.py": """\
                import hydra
                from megatron_fsdp import fully_shard

                @hydra.main(config_path="conf", config_name="run", version_base=None)
                def main(cfg):
                    fully_shard(object(), object(), **cfg.sharding)

                if __name__ == "__main__":
                    main()
                """,
        }
    )
    assert project.told(".") == ["conf/outer/half.yaml:2:29: error MFSDP356"]
