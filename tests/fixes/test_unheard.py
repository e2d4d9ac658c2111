"""Findings that follow from a text which gives no setting: their fixes would go against what is meant there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.fixes.conftest import Fixed

RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def train():
    cfg = llama3_8b_pretrain_config()
    %s
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.checkpoint.save = cfg.checkpoint.load = "/c"
    return cfg
"""
LAUNCH = "torchrun pretrain_gpt.py --tensor-model-parallel-size 1 --ckpt-format fsdp_dtensor --save /c"
OF_BRIDGE = "torchrun scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config"
IN_BRIDGE = "checkpoint.ckpt_format=fsdp_dtensor checkpoint.save=/c checkpoint.load=null"


@pytest.mark.parametrize(
    "line",
    [
        "cfg.dist.use_megatron_fspd = True",
        "cfg.ddp.use_custom_fsdp = True",
        "cfg.optimizer.use_megatron_fsdp = True",
        "cfg.use_megatron_fsdp = True",
        "cfg.ddp.fsdp = True",
    ],
)
def test_a_name_that_may_mean_the_switch_leaves_the_format_to_a_person(fixed: Fixed, line: str) -> None:
    assert fixed({"recipe.py": RECIPE % line}, ".") == {}


@pytest.mark.parametrize("line", ["cfg.ddp.use_megatron_fsdp = False", "cfg.ddp.use_custom_fsdp = False", "cfg.x = 1"])
def test_without_such_a_name_the_format_follows_the_switch(fixed: Fixed, line: str) -> None:
    text = RECIPE % line
    assert fixed({"recipe.py": text}, ".") == {"recipe.py": text.replace("fsdp_dtensor", "torch_dist")}


@pytest.mark.parametrize(
    "script",
    [
        f"{LAUNCH} --use-custom-fsdp\n",
        f"{LAUNCH} --use-megatron-fspd\n",
        f"{LAUNCH} --use_megatron_fsdp\n",
        f"{LAUNCH} --fsdp\n",
        f"{LAUNCH}\n    --bf16 --use-megatron-fsdp\n",
        f"{LAUNCH} \\ \n    --bf16 --use-megatron-fsdp\n",
        f"ARGS=(\n  --bf16 # --use-megatron-fsdp\n  --lr 1\n)\n{LAUNCH} ${{ARGS[@]}}\n",
        f"{OF_BRIDGE} +ddp.use_megatron_fspd=true {IN_BRIDGE}\n",
        f"{OF_BRIDGE} {IN_BRIDGE}\n  ddp.use_megatron_fsdp=true\n",
    ],
    ids=["an old flag", "a misspelt one", "underscores", "a short name", "a lost line", "a broken line", "a comment",
         "a misspelt override", "a lost override"],
)  # fmt: skip
def test_a_word_that_the_command_does_not_take_leaves_the_format_to_a_person(fixed: Fixed, script: str) -> None:
    assert fixed({"train.sh": script}, ".") == {}


@pytest.mark.parametrize("words", ['"$@"', "$EXTRA_ARGS", '"${EXTRA[@]}"', "$*"])
def test_whoever_starts_the_script_may_turn_the_feature_on(fixed: Fixed, words: str) -> None:
    assert fixed({"train.sh": f"{LAUNCH} {words}\n"}, ".") == {}


@pytest.mark.parametrize("script", [f"EXTRA=(--bf16)\n{LAUNCH} ${{EXTRA[@]}}\n", f"{LAUNCH} --lr $LR\n"])
def test_words_of_the_script_itself_turn_nothing_on(fixed: Fixed, script: str) -> None:
    assert fixed({"train.sh": script}, ".") == {"train.sh": script.replace("fsdp_dtensor", "torch_dist")}


def test_a_fix_may_write_what_the_misspelt_name_says(fixed: Fixed) -> None:
    text = RECIPE % "cfg.dist.use_megatron_fsdp = True"
    misspelt = text.replace("ckpt_format", "ckpt_fromat").replace('"/c"', "None")
    assert fixed({"recipe.py": misspelt}, "--unsafe-fixes", ".")["recipe.py"].count("fsdp_dtensor") == 1


def test_it_is_told_what_decides_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.sh").write_text(f"{LAUNCH} --use-custom-fsdp\n")
    main(["--no-cache", "--target-bridge", "0.3.1", "--output-format", "json", "--fix", str(tmp_path / "train.sh")])
    findings = json.loads(capsys.readouterr().out)["findings"]
    (reason,) = (each["no_fix"] for each in findings if each["code"] == "MFSDP102")
    assert reason.startswith("what is meant in ")
    assert reason.endswith("train.sh:1 decides it")


def test_a_setting_of_upstreams_recipe_is_no_place_in_the_project(fixed: Fixed) -> None:
    script = f"{OF_BRIDGE} {IN_BRIDGE}\n"
    assert fixed({"train.sh": script}, ".") == {"train.sh": script.replace("fsdp_dtensor", "torch_dist")}
