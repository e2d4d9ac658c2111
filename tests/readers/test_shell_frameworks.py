"""A framework's own command in a script: its options are the keys of the framework's configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from mfsdp_lint.engine.cache import run
from mfsdp_lint.inputs.options import Options
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


EXPERIMENT = """\
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: llama3_8B.yaml
    overrides:
      use_torch_fsdp2: true
      use_distributed_optimizer: false
      ckpt_format: torch_dist
"""


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            "EXP=exp.yaml bash ./examples/run_pretrain.sh\n",
            "1: not followed: run_pretrain.sh is not at hand, and may start",
        ),
        ("export EXP=exp.yaml\n./examples/run_pretrain.sh\n", "2: not followed: run_pretrain.sh is not at hand"),
        (
            "primus-cli direct -- train pretrain --config exp.yaml\n",
            "1: not followed: the launch of exp.yaml goes through",
        ),
        ("cp exp.yaml /tmp\nbash tools/check.sh $X\n", ""),
    ],
)
def test_an_experiment_that_a_program_out_of_sight_starts_is_told(
    script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    Path("exp.yaml").write_text(EXPERIMENT)
    Path("run.sh").write_text(script)
    main(["runs", "--no-cache", "."])
    told = capsys.readouterr().out
    assert f"run.sh:{why}" in told if why else "not followed" not in told


@pytest.mark.parametrize(
    ("model", "more", "codes"),
    [
        ("llama3_8B.yaml", "", ["MFSDP252"]),
        ("llama3_8B.yaml", "      gradient_accumulation_fusion: false\n", []),
        ("mine.yaml", "", []),
    ],
)
def test_what_a_frameworks_own_preset_sets_is_known_where_it_is_not_at_hand(
    model: str, more: str, codes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("exp.yaml").write_text(EXPERIMENT.replace("llama3_8B.yaml", model) + more)
    found = run(Options(paths=("exp.yaml",), target_core="0.16.1", cache=False))
    assert [each.code for each in found.findings] == codes
