"""A name that is no field is renamed where exactly one field has a name like it; the setting has its value then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def r():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.average_in_collective = False
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.dist.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
%s    return cfg
"""
Fixed = Callable[..., str]
FORMAT = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n'


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fixed:
    monkeypatch.chdir(tmp_path)

    def fixed(text: str, *options: str) -> str:
        (tmp_path / "recipes.py").write_text(text)
        main(["--target-bridge", "0.3.1", "--fix", *options, "recipes.py"])
        return (tmp_path / "recipes.py").read_text()

    return fixed


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("    cfg.train.train_itres = 100  # short\n", "    cfg.train.train_iters = 100  # short\n"),
        ('    setattr(cfg.train, "train_itres", 100)\n', '    setattr(cfg.train, "train_iters", 100)\n'),
    ],
)
def test_it_is_renamed_on_request(fixed: Fixed, line: str, meant: str) -> None:
    assert fixed(RECIPE % line) == RECIPE % line
    assert fixed(RECIPE % line, "--unsafe-fixes") == RECIPE % meant


def test_a_name_like_no_other_or_like_several_stays(fixed: Fixed) -> None:
    text = RECIPE % "    cfg.train.remark = 1\n    cfg.checkpoint.save_x = 1\n    cfg.checkpoint.fully_parallel = 1\n"
    assert fixed(text, "--unsafe-fixes") == text


def test_a_missing_setting_that_was_misspelt_is_not_written_twice(fixed: Fixed) -> None:
    text = (RECIPE % "").replace(FORMAT, FORMAT.replace("format", "fromat"))
    assert fixed(text, "--unsafe-fixes") == RECIPE % ""
