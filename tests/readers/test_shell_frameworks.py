"""A framework's own command in a script: its options are the keys of the framework's configuration."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from mfsdp_lint.readers.shell.read import read_shell


def recipes(script: str) -> list[Recipe]:
    return read_shell("train.sh", script).recipes


def value(options: str, path: str, before: str = "") -> Value:
    (recipe,) = recipes(f"{before}megatron sft --use_megatron_fsdp true {options}\n")
    return recipe.setting(path).value


def test_the_framework_is_known_by_its_command() -> None:
    (recipe,) = recipes("NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-8B --use_megatron_fsdp true\n")
    assert recipe.front_end.name == "ms-swift"
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)


@pytest.mark.parametrize(
    ("options", "path", "found"),
    [
        pytest.param("--tensor_model_parallel_size 2", "model.tensor_model_parallel_size", Known(2), id="a value"),
        pytest.param("--tensor-model-parallel-size=2", "model.tensor_model_parallel_size", Known(2), id="dashes, ="),
        pytest.param(
            "--use_precision_aware_optimizer", "optimizer.use_precision_aware_optimizer", Known(True), id="alone"
        ),
        pytest.param(
            "--context_parallel_size 2 --context_parallel_size 4", "model.context_parallel_size", Known(4), id="twice"
        ),
        pytest.param("--model a --dataset 'x#1' 'y#2'", "model.context_parallel_size", Known(1), id="left out"),
        pytest.param('--context_parallel_size "$1"', "model.context_parallel_size", UNKNOWN, id="nobody knows"),
        pytest.param("$1", "model.context_parallel_size", UNKNOWN, id="it may be anything"),
        pytest.param("", "checkpoint.ckpt_format", Known("fsdp_dtensor"), id="what the framework sets itself"),
    ],
)
def test_an_option_is_a_key(options: str, path: str, found: Value) -> None:
    assert value(options, path) == found


def test_the_environment_is_that_of_the_launch() -> None:
    name = "CUDA_DEVICE_MAX_CONNECTIONS"
    assert value("", f"env.{name}", f"export {name}=1\n") == Known("1")
    assert value("", f"env.{name}", f"{name}=32 ") == Known("32")


def test_a_file_in_place_of_options_is_not_known() -> None:
    (recipe,) = recipes("megatron sft train.yaml\n")
    assert recipe.setting("ddp.use_megatron_fsdp").value == UNKNOWN


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("megatron export --use_megatron_fsdp true", id="nothing is trained"),
        pytest.param("swift sft --model Qwen/Qwen3-8B", id="the framework without Megatron"),
        pytest.param("echo megatron sft --use_megatron_fsdp true", id="a message"),
        pytest.param("pip install megatron", id="a package"),
    ],
)
def test_other_commands_are_no_run(command: str) -> None:
    assert recipes(f"{command}\n") == []
