"""Remedies that change no choice of anybody's, and take out what they leave without a meaning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

CLEAN = "checkpoint:\n  load: null\n  pretrained_checkpoint: null\n"


def fixed(text: str, version: str, path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    file = path / "run.yaml"
    file.write_text(text)
    main(["--fix", "--target-bridge", version, "--output-format", "json", str(file)])
    json.loads(capsys.readouterr().out)
    return file.read_text()


def test_the_distributed_optimizer_goes_where_torch_fsdp2_works_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "dist:\n  use_torch_fsdp2: true\noptimizer:\n  use_distributed_optimizer: true\n" + CLEAN
    done = fixed(text, "0.6.0", tmp_path, capsys)
    assert "use_torch_fsdp2: true" in done
    assert done.count("use_distributed_optimizer: false") == 2
    assert "megatron_fsdp" not in done


@pytest.mark.parametrize("written", ["optim", "optim_grads"])
def test_a_sharding_strategy_stays(written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"dist:\n  use_torch_fsdp2: true\nddp:\n  data_parallel_sharding_strategy: {written}\n" + CLEAN
    done = fixed(text, "0.4.2", tmp_path, capsys)
    assert f"data_parallel_sharding_strategy: {written}\n" in done
    assert "use_megatron_fsdp: true" in done


def test_a_foreign_checkpoint_is_a_persons_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "dist:\n  use_torch_fsdp2: true\n" + CLEAN.replace(
        "pretrained_checkpoint: null", "pretrained_checkpoint: /x"
    )
    assert fixed(text, "0.4.2", tmp_path, capsys) == text


def test_what_offloading_leaves_behind_goes_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "model:\n  pipeline_model_parallel_size: 2\n  cpu_offloading: true\n%s"
    dead = "  cpu_offloading_num_layers: 1\n  cpu_offloading_weights: true\n"
    done = text.replace("true", "false") % ""
    assert fixed(text % dead, "0.4.2", tmp_path, capsys) == done


OFFLOADED = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def r():
    cfg = llama3_8b_pretrain_config()
    cfg.model.cpu_offloading = True
    cfg.model.cpu_offloading_num_layers = 4
    cfg.model.pipeline_model_parallel_size = 2
    return cfg
"""


@pytest.mark.parametrize(
    ("version", "more"),
    [
        # The model passes its settings on to one inside of it, under the same names.
        ("head", ""),
        # Recomputation without a method is refused as well, of which nothing is said beside CPU offloading.
        ("0.3.1", '    cfg.model.recompute_granularity = "full"\n'),
    ],
)
def test_cpu_offloading_goes_whatever_else_is_told_or_follows(version: str, more: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(OFFLOADED.replace("    return", more + "    return"))
    main(["--fix-only", "--target-bridge", version, str(file)])
    assert "cfg.model.cpu_offloading = False" in file.read_text()
