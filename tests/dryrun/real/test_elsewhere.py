"""Jobs on a cluster, and recipes whose own code is run, with the real Megatron."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.dryrun import cluster
from tests.dryrun.real.running import FSDP, mfsdp_lint

pytestmark = pytest.mark.xdist_group("dry-run")

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


def dry_run(folder: Path, *arguments: str, **environment: str) -> tuple[int, Any, str]:
    return mfsdp_lint("dry-run", *arguments, folder=folder, cwd=folder, **environment)


@pytest.mark.skipif(bool(cluster.missing()), reason="slurm-wlm and munge are not installed")
def test_slurm_runs_the_jobs_and_an_odd_number_of_ranks_has_a_batch_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    (tmp_path / "right.json").write_text(json.dumps(FSDP))
    (tmp_path / "wrong.json").write_text(json.dumps({**FSDP, "ddp.data_parallel_sharding_strategy": "optim"}))
    options = ("right.json", "wrong.json", "--executor", "slurm", "--ranks", "3", "--keep", "kept")
    with cluster.started(nodes=2) as configuration:
        code, document, said = dry_run(tmp_path, *options, SLURM_CONF=str(configuration))
        spread = dry_run(
            tmp_path,
            "right.json",
            *("--executor", "slurm", "--nodes", "2", "--keep", "spread"),
            SLURM_CONF=str(configuration),
        )
    right, wrong = document["recipes"]
    assert (code, right["verdict"], right["trained"]["ranks"]) == (1, "passed", 3), said
    assert [(found["code"], found["verdict"]) for found in wrong["findings"]] == [("MFSDP353", "confirmed")]
    assert "(wrong.json) has answered" in said
    assert (spread[0], spread[1]["recipes"][0]["verdict"]) == (0, "passed")
    assert len(list((tmp_path / "spread/slurm").glob("*_1_log.out"))) == 1  # that of a second node
    # Without the cluster the answers are there still.
    again, resumed, said = dry_run(tmp_path, *options, "--resume")
    assert (again, said) == (1, "")
    assert [recipe["verdict"] for recipe in resumed["recipes"]] == ["passed", "confirmed"]


def test_running_a_recipes_own_code_tells_what_nobody_can_read_from_it(tmp_path: Path) -> None:
    (tmp_path / "recipe.py").write_text(RECIPE)
    (tmp_path / "settings.json").write_text('{"ckpt_format": "torch_dist"}')
    (tmp_path / "added.json").write_text(json.dumps({**FSDP, "ddp.data_parallel_sharding_strategy": "optim"}))
    asked = ("added.json", 'recipe.py::from_a_file(strategy="optim_grads")', "recipe.py::broken")
    code, document, said = dry_run(tmp_path, *asked, "--execute", "--tier", "introspect")
    added, from_a_file, broken = document["recipes"]
    assert code == 1
    assert 'runs the code of recipe.py, in a process of its own: from_a_file(strategy="optim_grads"), broken' in said
    assert [finding["code"] for finding in from_a_file["findings"]] == ["MFSDP101"]
    assert from_a_file["verdict"] == "confirmed"
    assert "checkpoint.ckpt_format" in from_a_file["learnt"]
    assert broken["verdict"] == "inconclusive"
    assert broken["why"].startswith("calling it failed: LookupError: no such cluster")
    assert broken["why"].endswith("recipe.py:33 broken)")
    # An error that the tier does not try passes nothing.
    assert (added["verdict"], added["untried"]) == (
        "inconclusive",
        [{"code": "MFSDP353", "severity": "error", "tier": "cpu"}],
    )
