"""`mfsdp-lint runs`: a line a run, and the same as JSON; a run's address is one for `audit` and `why`, too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

RECIPE = "/opt/Megatron-Bridge/scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config"
LAUNCH = f"""\
export CUDA_DEVICE_MAX_CONNECTIONS=1 HOME=/a
torchrun --nproc_per_node 8 {RECIPE} ddp.use_megatron_fsdp=true checkpoint.ckpt_format=fsdp_dtensor
python pretrain_gpt.py --tensor-model-parallel-size 2 --use-torch-fsdp2
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text(LAUNCH, encoding="utf-8")


def test_each_run_is_a_line_from_the_launcher_to_what_it_comes_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--target-bridge", "0.3.1"]) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.split(" → ") == [
        "launch.sh[1]",
        "/opt/Megatron-Bridge/scripts/training/run_recipe.py",
        "llama3_8b_pretrain_config",
        "ddp.use_megatron_fsdp=true checkpoint.ckpt_format=fsdp_dtensor",
        "CUDA_DEVICE_MAX_CONNECTIONS=1",
        "FSDP megatron-fsdp, strategy no_shard, format fsdp_dtensor, TP/PP/CP/EP 1/1/2/1, 8 ranks",
    ]
    assert second.startswith("launch.sh[2] → pretrain_gpt.py → CUDA_DEVICE_MAX_CONNECTIONS=1 → FSDP torch-fsdp2")
    assert last == "2 runs, as configured for megatron-bridge 0.3.1 with megatron-core 0.16.1"


def test_the_document_has_every_piece(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--output-format", "json", "launch.sh[1]"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["recipe"], run["files"], run["world_size"]) == ("llama3_8b_pretrain_config", [], 8)
    assert run["environment"] == ["CUDA_DEVICE_MAX_CONNECTIONS=1", "HOME=/a"]
    assert run["overrides"] == ["ddp.use_megatron_fsdp=true", "checkpoint.ckpt_format=fsdp_dtensor"]


def test_a_project_without_launches_has_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "launch.sh").write_text("echo hello\n", encoding="utf-8")
    assert main(["runs"]) == 0
    assert capsys.readouterr().out.startswith("no runs, ")


def test_why_tells_of_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "launch.sh[1]", "checkpoint.ckpt_format"]) == 0
    told = capsys.readouterr().out
    assert told.startswith('checkpoint.ckpt_format is "fsdp_dtensor" in launch.sh[1] (launch.sh:2)')
    assert 'was "torch_dist"' in told


def test_why_wants_to_know_which_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "launch.sh", "checkpoint.ckpt_format"]) == 2
    assert "name one: launch.sh[1], launch.sh[2]" in capsys.readouterr().err


def test_audit_shows_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "launch.sh[2]", "--settings", "dist.use_torch_fsdp2"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("1 recipe, ")
    assert "launch.sh[2]" in told


def test_a_run_says_what_its_script_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = '[ -n "${TOKEN:-}" ] || exit 1\ntorchrun pretrain_gpt.py --use-megatron-fsdp\n'
    (tmp_path / "launch.sh").write_text(script, encoding="utf-8")
    assert main(["runs"]) == 0
    assert "launch.sh → pretrain_gpt.py → given $TOKEN → FSDP megatron-fsdp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "mylauncher pretrain_gpt.py --use-megatron-fsdp",
            "the launch goes through `mylauncher`, which is not followed",
        ),
        ("python train.py --fsdp x", "train.py is not at hand, and its words give no settings of Megatron"),
        ("false && torchrun pretrain_gpt.py", "no way that is followed leads to this launch"),
    ],
)
def test_a_launch_that_gives_no_run_is_told_with_its_reason(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text(f"set -e\n{script}\n", encoding="utf-8")
    assert main(["runs"]) == 0
    assert capsys.readouterr().out.startswith(f"launch.sh:2: not followed: {reason}\nno runs, ")


@pytest.mark.parametrize(
    "code",
    [
        'class Job:\n    def __call__(self):\n        run(["torchrun", f"{HOME}/pretrain_gpt.py", "--bf16"])\n',
        'run(["torchrun", HOME + "/more", "pretrain_gpt.py", *open(sys.argv[1]).read().split()][1:])\n',
        'run(["torchrun", HOME + "/more", "finetune_gpt.py", *open(sys.argv[1]).read().split()][1:])\n',
        'def task_train():\n    return {"actions": ["mkdir x", f"torchrun {HOME}/pretrain_gpt.py --bf16 | tee log"]}\n',
    ],
)
def test_a_launch_in_python_that_nobody_follows_is_told_at_its_program(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    begin = 'import os, sys\nfrom subprocess import run\nHOME = os.environ["HOME"]\n'
    (tmp_path / "launch.py").write_text(begin + code, encoding="utf-8")
    assert main(["runs", "launch.py"]) == 0
    line = 1 + re.split(r"\w+_gpt\.py", begin + code)[0].count("\n")
    said = "no start of this program is followed, or its words are not known"
    assert capsys.readouterr().out.startswith(f"launch.py:{line}: not followed: {said}\n")


def test_a_launcher_that_is_no_python_is_told_once_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = 'import subprocess\nsubprocess.run(["torchrun", "pretrain_gpt.py"]\ndef x(:\n'
    (tmp_path / "launch.py").write_text(code, encoding="utf-8")
    main(["launch.py", "--no-cache", "--output-format", "concise"])
    shown = capsys.readouterr()
    assert "internal error" not in shown.out + shown.err
    assert shown.out.count("MFSDP90") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("actor.megatron.use_megatron_fsdp=True", True),
        ("+engine.use_torch_fsdp2=${FSDP2:-True}", True),
        ("engine.use_megatron_fsdp=False", False),
        ("strategy=fsdp", False),
    ],
)
def test_a_program_of_the_tree_that_is_told_to_shard_and_makes_no_configuration_is_told(
    words: str, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text(f"python train.py {words}\n", encoding="utf-8")
    (tmp_path / "train.py").write_text("import sys\nimport engine\nengine.fit(sys.argv)\n", encoding="utf-8")
    assert main(["runs", "launch.sh"]) == 0
    said = "launch.sh:1: not followed: train.py makes no configuration that is known\n"
    assert capsys.readouterr().out.startswith(said) is told


@pytest.mark.parametrize(
    "script", ['log "wrote $FSDP_FOLDER for fsdp"', "python report.py --output /runs/fsdp", "echo train.py"]
)
def test_what_only_mentions_a_run_is_not_told(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text(f"{script}\ntorchrun gone.py\n", encoding="utf-8")
    assert main(["runs"]) == 0
    assert "not followed" not in capsys.readouterr().out


def test_upstreams_own_script_finds_the_recipes_of_the_tree_whose_launch_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, ckpt_format in (("one", "zarr"), ("two", "torch")):
        package = tmp_path / name / "src" / "megatron" / "bridge"
        (package / "recipes").mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "recipes" / "__init__.py").write_text(
            "from megatron.bridge.training.config import CheckpointConfig, ConfigContainer, TrainingConfig\n\n"
            "OTHERS = dict.fromkeys(('model', 'optimizer', 'scheduler', 'dataset', 'logger', 'tokenizer'))\n\n\n"
            "def llama3_8b_pretrain_config():\n"
            f"    own = CheckpointConfig(ckpt_format='{ckpt_format}')\n"
            "    return ConfigContainer(checkpoint=own, train=TrainingConfig(), **OTHERS)\n",
            encoding="utf-8",
        )
        (tmp_path / name / "launch.sh").write_text(f"torchrun {RECIPE} model=null\n", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "one", tmp_path / "two"):
        monkeypatch.chdir(folder)
        assert main(["runs", "--no-cache", str(tmp_path)]) == 0
        *_, one, two, _ = capsys.readouterr().out.splitlines()
        assert "format zarr" in one
        assert "format torch," in two


def test_a_command_that_starts_another_recipe_on_each_way_names_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = (
        'case "${1:?a size}" in\n  8b) RECIPE=llama3_8b_pretrain_config; TP=1 ;;\n'
        "  70b) RECIPE=llama3_70b_pretrain_config; TP=4 ;;\n  *) exit 1 ;;\nesac\n"
        "torchrun run_recipe.py --recipe $RECIPE model.tensor_model_parallel_size=$TP train.train_iters=9\n"
    )
    (tmp_path / "launch.sh").write_text(script, encoding="utf-8")
    assert main(["runs", "--output-format", "json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["recipe"] == "llama3_8b_pretrain_config|llama3_70b_pretrain_config"
    assert run["overrides"] == ["model.tensor_model_parallel_size=1|4", "train.train_iters=9"]
