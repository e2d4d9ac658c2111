"""Benchmark recipes that scripts/training/run_recipe.py of Bridge runs. The values are those of the real one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, Plain
from tests.runs.project import Project

PROGRAM = "/opt/Megatron-Bridge/scripts/training/run_recipe.py"
EIGHT = f"torchrun --nproc_per_node 8 {PROGRAM}"
SIXTEEN = f"torchrun --nproc_per_node 8 --nnodes 2 {PROGRAM}"
LLAMA = "--recipe llama3_8b_pretrain_8gpu_h100_bf16_config"
BATCH = "train.global_batch_size"
PRECISION_AWARE = "optimizer.use_precision_aware_optimizer"


def run(project: Project, command: str, bridge: str = "0.6.0") -> Recipe:
    project.write("launch.sh", f"{command}\n")
    (recipe,) = project.runs("launch.sh", bridge=bridge)
    return recipe


@pytest.mark.parametrize("bridge", ["0.6.0", "head"])
@pytest.mark.parametrize(
    ("command", "settings"),
    [
        (f"{EIGHT} {LLAMA}", {"env.CUDA_DEVICE_MAX_CONNECTIONS": "1", "checkpoint.save": None, BATCH: 128}),
        (f"{EIGHT} {LLAMA} --mode pretrain", {BATCH: 128}),
        (f"{SIXTEEN} {LLAMA}", {BATCH: 256}),
        (f"{SIXTEEN} {LLAMA} -gb 64", {BATCH: 64}),
        (f"{EIGHT} {LLAMA}", {PRECISION_AWARE: True}),
        (f"{EIGHT} {LLAMA} {PRECISION_AWARE}=false", {PRECISION_AWARE: False}),
        (f"{EIGHT} {LLAMA.replace('bf16', 'fp8cs')}", {PRECISION_AWARE: False}),
        (f"{EIGHT} --recipe llama3_70b_peft_8gpu_h100_bf16_config --mode lora", {"checkpoint.save": None}),
        (  # the library has a recipe of this name, which saves
            f"{SIXTEEN} --recipe qwen3_30b_a3b_pretrain_16gpu_h100_bf16_config",
            {"checkpoint.save": None, BATCH: 1024},
        ),
    ],
)
def test_a_benchmark_comes_before_the_library_and_has_defaults_of_its_own(
    project: Project, command: str, settings: Mapping[str, Plain], bridge: str
) -> None:
    found = run(project, command, bridge)
    assert {name: found.setting(name).value for name in settings} == {n: Known(value) for n, value in settings.items()}


def test_the_batch_follows_the_ranks_that_hold_the_whole_model(project: Project) -> None:
    assert run(project, f"{EIGHT} {LLAMA} -tp 2").setting(BATCH).value == Known(64)


def test_a_generic_name_is_the_library_s(project: Project) -> None:
    assert run(project, f"{EIGHT} --recipe llama3_8b_pretrain_config").setting("checkpoint.save").value != Known(None)


def test_the_batch_on_ranks_that_nobody_says_is_not_known(project: Project) -> None:
    found = run(project, f"srun python {PROGRAM} {LLAMA}")
    assert not isinstance(found.setting(BATCH).value, Known)
    assert found.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == Known("1")


@pytest.mark.parametrize("words", ["--dataset mock", "--mode sft"])
def test_a_benchmark_refuses_a_dataset_and_another_mode(project: Project, words: str) -> None:
    assert run(project, f"{EIGHT} {LLAMA} {words} ddp.use_megatron_fsdp=true").kind == "overrides"
    (told,) = project.unfollowed("launch.sh", bridge="0.6.0")
    assert (told.why, told.error, told.certain) == ("raises", "ValueError", False)
