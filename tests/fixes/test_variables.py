"""A variable of the environment that must not be set is taken out where the recipe sets it, and no other one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main

HEAD = "import os\n\nfrom megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
RECIPE = (
    "\n\ndef r():\n"
    "    cfg = llama3_8b_pretrain_config()\n"
    "    cfg.ddp.average_in_collective = False\n"
    "    cfg.ddp.data_parallel_sharding_strategy = 'optim_grads_params'\n"
    "    cfg.dist.use_megatron_fsdp = True\n"
    "    cfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n"
    "%s"
    "    return cfg\n"
)
NAME = "'CUDA_DEVICE_MAX_CONNECTIONS'"
ENTRY = f"{NAME}: '1', "

TAKEN_OUT = {
    "os.environ": (f"    os.environ[{NAME}] = '1'\n", "", ""),
    "os.environ, unless it is set": (f"    os.environ.setdefault({NAME}, '1')\n", "", ""),
    "several at once": (f"    os.environ.update({{{ENTRY}'NCCL_DEBUG': 'INFO'}})\n", ENTRY, ""),
    "the recipe's own variables": (f"    cfg.env_vars = {{{ENTRY}'NCCL_DEBUG': 'INFO'}}\n", ENTRY, ""),
    "one of the recipe's own": (f"    cfg.env_vars[{NAME}] = '1'\n", "", ""),
    "a table that a loop goes through": (
        "    for name, value in VARIABLES.items():\n        os.environ[name] = value\n",
        ENTRY,
        f"VARIABLES = {{{ENTRY}'NCCL_DEBUG': 'INFO'}}\n",
    ),
}


@pytest.mark.parametrize(("lines", "piece", "table"), TAKEN_OUT.values(), ids=TAKEN_OUT)
def test_a_variable_is_taken_out(
    lines: str, piece: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = HEAD + table + RECIPE % lines
    path = tmp_path / "recipes.py"
    path.write_text(before)
    main(["--target-bridge", "0.6.0", "--fix", "recipes.py"])
    assert path.read_text() == (before.replace(piece, "") if piece else before.replace(lines, ""))
