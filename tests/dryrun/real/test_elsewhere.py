"""Ranks that Slurm starts, and recipes whose own code is run, with the real Megatron and a small srun."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.dryrun.real.running import FSDP, mfsdp_lint

pytestmark = pytest.mark.xdist_group("dry-run")
SRUN = Path(__file__).with_name("srun")

RECIPE = """
import json
import os
import subprocess

from megatron.bridge.models.gpt_provider import GPTModelProvider
from megatron.bridge.training.config import (
    CheckpointConfig, ConfigContainer, DistributedDataParallelConfig, DistributedInitConfig, LoggerConfig,
    MockGPTDatasetConfig, OptimizerConfig, SchedulerConfig, TokenizerConfig, TrainingConfig,
)


def from_a_file(strategy: str) -> ConfigContainer:
    here = os.path.dirname(__file__)
    settings = json.loads(subprocess.check_output(["cat", os.path.join(here, "settings.json")]))
    return ConfigContainer(
        model=GPTModelProvider(num_layers=2, hidden_size=64, num_attention_heads=4, seq_length=128),
        train=TrainingConfig(train_iters=10, global_batch_size=8, micro_batch_size=1),
        optimizer=OptimizerConfig(lr=1e-3, use_distributed_optimizer=True),
        scheduler=SchedulerConfig(),
        dataset=MockGPTDatasetConfig(
            random_seed=1, seq_length=128, reset_attention_mask=False, reset_position_ids=False, eod_mask_loss=False
        ),
        logger=LoggerConfig(),
        tokenizer=TokenizerConfig(tokenizer_type="NullTokenizer", vocab_size=128),
        checkpoint=CheckpointConfig(save="/results", **settings),
        dist=DistributedInitConfig(use_megatron_fsdp=True),
        ddp=DistributedDataParallelConfig(use_megatron_fsdp=True, data_parallel_sharding_strategy=strategy),
    )


def broken() -> ConfigContainer:
    raise LookupError("no such cluster")
"""


def dry_run(folder: Path, *arguments: str) -> tuple[int, Any, str]:
    """In the folder, where srun is a program as well."""
    path = f"{SRUN.parent}{os.pathsep}{os.environ['PATH']}"
    return mfsdp_lint("dry-run", *arguments, folder=folder, cwd=folder, PATH=path)


def test_slurm_may_start_the_ranks_and_an_odd_number_has_a_batch_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "right.json").write_text(json.dumps(FSDP))
    code, document, _ = dry_run(tmp_path, "right.json", "--launcher", "srun", "--ranks", "3", "--keep", "kept")
    (recipe,) = document["recipes"]
    assert (code, recipe["verdict"], recipe["trained"]["ranks"]) == (0, "passed", 3)
    log = next(tmp_path.glob("kept/*/launcher.log")).read_text()
    assert log.startswith("srun: --nodes=1 --ntasks=3 --time=6 --kill-on-bad-exit=1\n")


def test_running_a_recipes_own_code_tells_what_nobody_can_read_from_it(tmp_path: Path) -> None:
    (tmp_path / "recipe.py").write_text(RECIPE)
    (tmp_path / "settings.json").write_text('{"ckpt_format": "torch_dist"}')
    addresses = ('recipe.py::from_a_file(strategy="optim_grads")', "recipe.py::broken")
    code, document, said = dry_run(tmp_path, *addresses, "--execute", "--tier", "introspect")
    from_a_file, broken = document["recipes"]
    assert code == 1
    assert 'runs the code of recipe.py, in a process of its own: from_a_file(strategy="optim_grads"), broken' in said
    assert [finding["code"] for finding in from_a_file["findings"]] == ["MFSDP101"]
    assert from_a_file["verdict"] == "confirmed"
    assert "checkpoint.ckpt_format" in from_a_file["learnt"]
    assert broken["verdict"] == "inconclusive"
    assert broken["why"].startswith("calling it failed: LookupError: no such cluster")
    assert broken["why"].endswith("recipe.py:33 broken)")
