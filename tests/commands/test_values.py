"""Values that an option cannot have are wrong usage, told with what it takes; common options are common."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
    cfg.checkpoint.save = "/results"
    return cfg
"""
READING = {
    "check": ["recipe.py"],
    "audit": ["recipe.py"],
    "runs": ["recipe.py"],
    "why": ["recipe.py", "checkpoint.save"],
    "enable": ["recipe.py"],
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.py").write_text(RECIPE)
    return tmp_path


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ddp.use_megatron_fsdp=maybe", "expected true or false"),
        ("ddp.use_megatron_fsdp=ture", "expected true or false; did you mean true?"),
        ("ddp.use_megatron_fsdp=2", "expected true or false"),
        ("ddp.use_megatron_fsdp=[true]", "expected true or false"),
        ("ddp={use_megatron_fsdp: maybe}", "ddp.use_megatron_fsdp: expected true or false"),
        ("model.pipeline_model_parallel_size=two", "expected a whole number"),
        ("model.pipeline_model_parallel_size=true", "expected a whole number"),
        ("optimizer.clip_grad=much", "expected a number"),
        ("checkpoint.save=[a]", "expected a text"),
        ("checkpoint.ckpt_format=fsdp_dtenser", "expected one of torch, torch_dist"),
        ("checkpoint.ckpt_format=fsdp_dtenser", "did you mean fsdp_dtensor?"),
    ],
)
@pytest.mark.parametrize("command", ["check", "audit", "runs", "why"])
def test_a_value_of_another_type_is_refused(
    command: str, said: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *READING[command], "--set", said]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"mfsdp-lint: error: --set {said}: ")
    assert expected in told.err


@pytest.mark.parametrize(
    "said",
    [
        "ddp.use_megatron_fsdp=false",
        "ddp.use_megatron_fsdp=null",
        "ddp.use_megatron_fsdp=1",
        "model.pipeline_model_parallel_size=2",
        "optimizer.clip_grad=1",
        "checkpoint.save=7",
        "checkpoint.ckpt_format=fsdp_dtensor",
        "mixed_precision=bf16_mixed",
        "model.attention_backend=AttnBackend.flash",
        "model.a_field_of_ours=maybe",
    ],
)
def test_a_value_that_the_setting_takes_is_none(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["recipe.py", "--set", said])
    assert "mfsdp-lint: error" not in capsys.readouterr().err


@pytest.mark.parametrize("command", READING)
def test_a_kind_of_gpu_that_there_is_not_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, *READING[command], "--target-gpu", "h1000"]) == 2
    said = capsys.readouterr().err
    assert "target-gpu: unknown kind of GPU 'h1000' (known: " in said
    assert said.endswith("; did you mean h100?\n")
    main([command, *READING[command], "--target-gpu", "H100"])
    assert "unknown kind" not in capsys.readouterr().err


def test_so_it_is_in_the_configuration(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mfsdp-lint.toml").write_text('target-gpu = "h1000"')
    assert main(["recipe.py"]) == 2
    assert "mfsdp-lint.toml: target-gpu: unknown kind of GPU 'h1000'" in capsys.readouterr().err


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("options", [["--no-cache"], ["--cache-dir", "kept"], ["--isolated"]])
def test_common_options_are_common(command: str, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([command, *READING[command], *options])
    assert "unknown option" not in capsys.readouterr().err


def test_the_way_to_see_what_is_not_followed_is_not_told_to_whoever_sees_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "recipe.py").write_text(RECIPE.replace("llama3_8b_pretrain_config()", "no_such_name()"))
    main(["recipe.py"])
    assert "1 recipe could not be followed (--show-unfollowed)" in capsys.readouterr().out
    main(["recipe.py", "--show-unfollowed"])
    told = capsys.readouterr()
    assert "1 recipe could not be followed;" in told.out
    assert "(--show-unfollowed)" not in told.out + told.err


def _read_only(path: Path) -> None:
    path.chmod(0o444)


def _hard_link(path: Path) -> None:
    os.link(path, path.with_name("other"))


def _read_only_behind_a_link(path: Path) -> None:
    path.rename(path.with_name("real.txt"))
    path.symlink_to("real.txt")
    path.with_name("real.txt").chmod(0o444)


@pytest.mark.parametrize(
    ("hinder", "why"),
    [
        (_read_only, "it is read-only"),
        (_hard_link, "it has 2 names (hard links), of which only one would change"),
        (_read_only_behind_a_link, "it is read-only"),
    ],
)
def test_a_patch_shows_nothing_that_fix_would_refuse(
    hinder: object, why: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(hinder)
    arguments = ["recipe.py", "--unsafe-fixes", "--no-cache"]
    main([*arguments, "--diff"])
    assert "+++ b/recipe.py" in capsys.readouterr().out
    hinder(here / "recipe.py")
    assert main([*arguments, "--diff"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert f"mfsdp-lint: error: recipe.py: would not be written: {why}\n" in told.err
    assert main([*arguments, "--fix"]) == 1
    assert f"mfsdp-lint: error: recipe.py: not written: {why}\n" in capsys.readouterr().err
    assert (here / "recipe.py").read_text() == RECIPE
