"""A program in a fork of Megatron-Bridge, with upstream's own source beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.real.trees import RELEASED, lint

PROGRAM = """\
import sys

from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def main():
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg = process_config_with_overrides(cfg, config_filepath="conf/run.yaml", cli_overrides=["train.train_iters=20"])
    cfg.print_yaml()
    pretrain(cfg, forward_step)


if __name__ == "__main__":
    main()
"""
OVERRIDES = "src/megatron/bridge/training/utils/omegaconf_utils.py"


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """Return a fork whose program takes the format of its checkpoints from a file."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(RELEASED / "megatron", tmp_path / "src/megatron")
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/run.yaml").write_text("checkpoint:\n  ckpt_format: torch_dist\n")
    return tmp_path


@pytest.mark.parametrize("asked", [["train.py"], ["train.py", OVERRIDES]], ids=["alone", "with what it calls"])
def test_files_of_overrides_are_applied_as_upstream_applies_them(fork: Path, asked: list[str]) -> None:
    (found,) = lint(fork, "--output-format", "json", *asked).of("MFSDP101")
    assert (found["path"], found["line"]) == ("conf/run.yaml", 2)
