"""NeMo 2: tasks of nemo_run and scripts in Python, of which NeMo makes a configuration of megatron-core."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge
from tests.megatron.front_ends.project import Project

IMPORTS = """\
import nemo_run as run
from megatron.core.distributed import DistributedDataParallelConfig
from megatron.core.optimizer import OptimizerConfig
from nemo import lightning as nl
from nemo.collections import llm
"""

RECIPE = f"""{IMPORTS}

def recipe() -> run.Partial:
    return run.Partial(
        llm.pretrain,
        model=run.Config(llm.LlamaModel, config=run.Config(llm.Llama3Config8B, recompute_granularity="full")),
        trainer=run.Config(
            nl.Trainer,
            strategy=run.Config(
                nl.MegatronStrategy,
                tensor_model_parallel_size=2,
                fsdp="megatron",
                ddp=run.Config(DistributedDataParallelConfig, grad_reduce_in_fp32=True, nccl_ub=True),
            ),
            plugins=run.Config(nl.MegatronMixedPrecision, precision="bf16-mixed", grad_reduce_in_fp32=False),
        ),
        optim=run.Config(
            nl.MegatronOptimizerModule, config=run.Config(OptimizerConfig, use_distributed_optimizer=True)
        ),
    )
"""

SCRIPT = f"""{IMPORTS}
if __name__ == "__main__":
    ddp = DistributedDataParallelConfig(
        use_megatron_fsdp=True, data_parallel_sharding_strategy="optim_grads", use_distributed_optimizer=True
    )
    strategy = nl.MegatronStrategy(ddp=ddp)
    trainer = nl.Trainer(devices=8, strategy=strategy)
    llm.train(model=llm.LlamaModel(), data=None, trainer=trainer)
"""

TARGET = resolve_target("0.3.1")


def recipes(text: str) -> list[Recipe]:
    read = read_python(["run.py"], Sources({"run.py": text}), load_knowledge(TARGET))
    return read.recipes


def values(text: str, *paths: str) -> list[Value]:
    (only,) = recipes(text)
    return [only.variants[0].value(path) for path in paths]


def test_what_a_recipe_comes_to() -> None:
    assert values(
        RECIPE,
        "ddp.use_megatron_fsdp",
        "ddp.nccl_ub",
        "ddp.use_distributed_optimizer",  # the optimizer's own overwrites it
        "ddp.grad_reduce_in_fp32",  # so does the precision's
        "ddp.data_parallel_sharding_strategy",  # of the class
        "model.tensor_model_parallel_size",
        "model.pipeline_model_parallel_size",
        "model.recompute_granularity",
        "model.gradient_accumulation_fusion",  # MegatronParallel switches it off
        "model.bf16",
        "optimizer.fp8_recipe",
    ) == [Known(each) for each in (True, True, True, False, "no_shard", 2, 1, "full", False, True, "delayed")]
    assert [str(each.front_end) for each in recipes(RECIPE)] == ["nemo"]


def test_a_value_is_told_where_it_is_written() -> None:
    (only,) = recipes(RECIPE)
    origin = only.variants[0].origin("ddp.nccl_ub")
    assert origin is not None
    assert (origin.point.path, origin.point.line, origin.point.column) == ("run.py", 18, 89)


def test_later_writes_into_a_task_count() -> None:
    later = RECIPE.replace("    return run", "    task = run") + (
        "    task.trainer.strategy.tensor_model_parallel_size = 4\n    task.trainer.strategy.ddp.nccl_ub = False\n"
        "    return task\n"
    )
    assert values(later, "model.tensor_model_parallel_size", "ddp.nccl_ub") == [Known(4), Known(False)]


def test_a_recipe_from_elsewhere_is_known_as_far_as_it_is_written() -> None:
    text = (
        "from nemo.collections import llm\n\n\ndef recipe():\n    task = llm.llama3_8b.pretrain_recipe()\n"
        "    task.trainer.strategy.fsdp = 'megatron'\n    return task\n"
    )
    paths = ("ddp.use_megatron_fsdp", "model.tensor_model_parallel_size", "ddp.overlap_grad_reduce")
    assert values(text, *paths) == [Known(True), UNKNOWN, UNKNOWN]
    (only,) = recipes(text)
    assert only.partial


@pytest.mark.parametrize(
    ("launch", "name"),
    [
        ("llm.train(model=llm.LlamaModel(), data=None, trainer=trainer)", "run"),
        ("llm.train(llm.LlamaModel(), None, trainer)", "run"),
        ("trainer.fit(llm.LlamaModel(), None)", "run"),
        ("run.run(run.Partial(llm.train, trainer=trainer))", "run"),
        ("with run.Experiment('e') as e:\n        e.add(run.Partial(llm.train, trainer=trainer))", "run"),
    ],
)
def test_a_script_is_judged_as_it_launches(launch: str, name: str) -> None:
    text = SCRIPT.replace("llm.train(model=llm.LlamaModel(), data=None, trainer=trainer)", launch)
    (only,) = recipes(text)
    assert only.name == name
    assert only.variants[0].value("ddp.use_megatron_fsdp") == Known(True)


def test_what_it_refuses_where_it_switches_fsdp_on_by_itself(project: Project) -> None:
    project.write({"run.py": SCRIPT})
    assert project.told(".") == ["run.py:9:9: error MFSDP101"]


@pytest.mark.parametrize("said", ["fsdp='megatron', ", "save_ckpt_format='fsdp_dtensor', "])
def test_what_it_does_not_refuse(project: Project, said: str) -> None:
    project.write({"run.py": SCRIPT.replace("nl.MegatronStrategy(", f"nl.MegatronStrategy({said}")})
    assert project.told(".") == []


def test_a_callback_may_change_the_overlap() -> None:
    text = RECIPE.replace("plugins=", "callbacks=[run.Config(nl.MegatronCommOverlapCallback)],\n            plugins=")
    assert values(text, "ddp.overlap_grad_reduce", "ddp.nccl_ub") == [UNKNOWN, Known(True)]
    other = text.replace("nl.MegatronCommOverlapCallback", "nl.ModelCheckpoint")
    assert values(other, "ddp.overlap_grad_reduce") == [Known(False)]


def test_what_is_made_a_task_by_a_decorator_is_not_called() -> None:
    text = RECIPE + (
        "\n\nclass Data:\n    def __init__(self, size):\n        raise ValueError(size)\n\n\n"
        "@run.cli.factory\n@run.autoconvert\ndef data():\n    return Data()\n\n\n"
        "def with_data():\n    task = recipe()\n    task.data = data()\n    return task\n"
    )
    assert [each.name for each in recipes(text)] == ["recipe", "with_data"]


@pytest.mark.parametrize(
    "text",
    [
        "trainer = nl.Trainer(strategy=nl.FSDP2Strategy())\n\n\ndef recipe():\n    return trainer\n",
        "def recipe():\n    return run.Partial(llm.train, model=run.Config(llm.LlamaModel, seed=1))\n",
        "def recipe(model):\n    model.config.tp = 1\n    return model\n",
    ],
)
def test_what_has_no_strategy_for_megatron_is_not_ours(text: str) -> None:
    assert [each for each in recipes(IMPORTS + text) if str(each.front_end) == "nemo"] == []


def test_what_writes_somewhere_into_a_task_makes_that_unknown_and_nothing_else() -> None:
    text = f"""{IMPORTS}
data = run.Config(llm.PreTrainingDataModule, seed=1)
strategy = run.Config(nl.MegatronStrategy, fsdp="megatron")
task = run.Partial(llm.pretrain, data=data, trainer=run.Config(nl.Trainer, strategy=strategy))
del strategy
for name in input().split():
    setattr(data, name, 1)
"""
    (recipe,) = recipes(text)
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)


def test_an_optimizer_that_is_not_seen_may_be_the_distributed_one() -> None:
    optimizer = RECIPE[RECIPE.index("        optim=") : RECIPE.index("    )\n", RECIPE.index("        optim="))]
    assert values(RECIPE.replace(optimizer, ""), "ddp.use_distributed_optimizer", "ddp.nccl_ub") == [
        UNKNOWN,
        Known(True),
    ]
