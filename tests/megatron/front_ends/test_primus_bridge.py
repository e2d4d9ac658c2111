"""Primus with Megatron-Bridge: the keys are arguments of a recipe function, and what it returns goes to Bridge."""

from __future__ import annotations

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.values import UNKNOWN, Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import PythonRead, read_python
from mfsdp_lint.readers.yaml.document import Files
from mfsdp_lint.readers.yaml.read import read_yaml
from mfsdp_lint.snapshots.knowledge import load_knowledge
from tests.megatron.front_ends.project import Project

PRESETS = {
    "primus/configs/modules/megatron_bridge/sft_trainer.yaml": "stage: sft\ntrainable: true\n",
    "primus/configs/models/megatron_bridge/small.yaml": "recipe: qwen.qwen3\nflavor: qwen3_8b_pretrain_config\n",
}

EXPERIMENT = """\
modules:
  post_trainer:
    framework: megatron_bridge
    config: sft_trainer.yaml
    model: small.yaml
    overrides:
      use_megatron_fsdp: true
      train_iters: 50
      save_interval: 7
      stderr_sink_level: DEBUG
      checkpoint:
        async_save: true
        load: null
"""

TARGET = resolve_target("0.2.0")


def variant(project: Project, text: str) -> Variant:
    project.write({**PRESETS, "run.yaml": text})
    sources = Sources()

    def evaluate(path: str, program: str) -> PythonRead:
        return read_python([path], sources.with_texts({path: program}), load_knowledge(TARGET))

    (recipe,) = read_yaml("run.yaml", project.text("run.yaml"), TARGET, Files(sources, evaluate))
    assert str(recipe.front_end) == "primus-bridge"
    return recipe.variants[0]


def test_the_recipe_is_called_with_what_it_takes(project: Project) -> None:
    found = variant(project, EXPERIMENT)
    assert [
        found.value(path)
        for path in ("ddp.use_megatron_fsdp", "train.train_iters", "checkpoint.save_interval", "checkpoint.ckpt_format")
    ] == [Known(True), Known(50), Known(7), Known("torch_dist")]


def test_what_the_recipe_takes_and_ignores_is_ignored(project: Project) -> None:
    """Those for fine-tuning have a parameter use_megatron_fsdp in Bridge 0.2.0, and do nothing with it."""
    found = variant(project, EXPERIMENT + "      flavor: qwen3_8b_finetune_config\n")
    assert found.value("ddp.use_megatron_fsdp") == Known(False)


def test_sections_are_merged_where_the_type_is_the_same(project: Project) -> None:
    text = EXPERIMENT.replace("load: null", "save: 5")
    assert [variant(project, text).value(path) for path in ("checkpoint.async_save",)] == [Known(True)]
    assert variant(project, text).value("checkpoint.save") != Known(5)


def test_what_the_recipe_refuses_is_left_out(project: Project) -> None:
    found = variant(project, EXPERIMENT.replace("train_iters: 50", "nccl_ub: true"))
    assert found.value("ddp.nccl_ub") == Known(False)


def test_nothing_is_saved(project: Project) -> None:
    found = variant(project, EXPERIMENT.replace("train_iters: 50", "skip_save: true"))
    assert found.value("checkpoint.save") == Known(None)


def test_a_recipe_that_is_not_at_hand_is_known_as_far_as_the_file_says(project: Project) -> None:
    found = variant(project, EXPERIMENT + "      flavor: my_config\n")
    assert [found.value(path) for path in ("checkpoint.save_interval", "ddp.use_megatron_fsdp")] == [Known(7), UNKNOWN]


def test_a_finding_is_told_where_the_argument_stands(project: Project) -> None:
    project.write({**PRESETS, "run.yaml": EXPERIMENT})
    main(["run.yaml", "--output-format", "concise", "--target-bridge", "0.2.0"])
    assert "run.yaml:7:26: error MFSDP101" in project.capsys.readouterr().out
