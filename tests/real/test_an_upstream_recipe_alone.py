"""A file that changes an imported upstream recipe, with nothing else in the folder and no Megatron installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.real.trees import Run

ENABLEMENT = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def fsdp_pretrain_config():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.checkpoint.save = "/tmp/fsdp_ckpts"
    cfg.checkpoint.load = None
    return cfg
"""

FORMAT = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n'


Lint = Callable[..., Run]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    """Run the command line in this process, in the folder of the test."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Run:
        code = main(list(arguments))
        return Run(code, *capsys.readouterr())

    return run


def test_the_minimal_enablement_is_fine(tmp_path: Path, lint: Lint) -> None:
    (tmp_path / "recipe.py").write_text(ENABLEMENT)
    run = lint("--output-format", "json")
    assert run.code == 0
    assert run.findings == []


def test_without_the_format_line_it_is_found_at_the_switch_and_fixed(tmp_path: Path, lint: Lint) -> None:
    recipe = tmp_path / "recipe.py"
    recipe.write_text(ENABLEMENT.replace(FORMAT, ""))
    run = lint("--output-format", "json")
    (finding,) = run.findings
    assert (finding["code"], finding["severity"], finding["path"], finding["line"]) == (
        "MFSDP101",
        "error",
        "recipe.py",
        6,
    )
    assert '"torch_dist"' in finding["message"]
    upstream = [note["message"] for note in finding["related"] if "megatron-bridge 0.3.1" in note["message"]]
    assert upstream, finding["related"]

    assert lint("--fix").code == 0
    assert FORMAT in recipe.read_text()
    assert lint("--output-format", "json").findings == []


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base", "base()"),
        ("from megatron.bridge.recipes.llama.llama3 import llama3_8b_pretrain_config", "llama3_8b_pretrain_config()"),
        ("from megatron.bridge.recipes import *", "llama3_8b_pretrain_config()"),
        ("import megatron.bridge.recipes.llama as llama", "llama.llama3_8b_pretrain_config()"),
        ("import megatron.bridge.recipes.llama", "megatron.bridge.recipes.llama.llama3_8b_pretrain_config()"),
        ("from megatron.bridge.recipes import llama", "llama.llama3_8b_pretrain_config()"),
    ],
)
def test_however_it_is_imported(tmp_path: Path, lint: Lint, imported: str, called: str) -> None:
    text = f"{imported}\n\n\ndef build():\n    cfg = {called}\n    cfg.dist.use_megatron_fsdp = True\n    return cfg\n"
    (tmp_path / "recipe.py").write_text(text)
    found = lint("--output-format", "json").of("MFSDP101")
    assert [(each["severity"], each["line"]) for each in found] == [("error", 6)]


def test_a_container_built_by_hand_has_the_defaults_of_its_classes(tmp_path: Path, lint: Lint) -> None:
    (tmp_path / "recipe.py").write_text(
        "from megatron.core.distributed import DistributedDataParallelConfig\n"
        "from megatron.bridge.training.config import CheckpointConfig, ConfigContainer\n\n\n"
        "def build(model, train, optimizer, scheduler, dataset, logger, tokenizer):\n"
        "    return ConfigContainer(\n"
        "        model=model, train=train, optimizer=optimizer, scheduler=scheduler, dataset=dataset, logger=logger,\n"
        "        tokenizer=tokenizer,\n"
        "        ddp=DistributedDataParallelConfig(use_megatron_fsdp=True),\n"
        '        checkpoint=CheckpointConfig(save="/results"),\n'
        "    )\n"
    )
    run = lint("--output-format", "json")
    # Whole copies on every rank, and no parameters gathered ahead: with these defaults the first step fails.
    assert {each["code"] for each in run.findings} == {"MFSDP101", "MFSDP355"}
