"""A small project to ask about: configuration classes, recipes with helpers, and an override file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main

FILES = {
    "settings.py": """\
        from dataclasses import dataclass, field


        @dataclass
        class CheckpointConfig:
            ckpt_format: str = "torch_dist"
            save: str | None = None
            load: str | None = None


        @dataclass
        class DdpConfig:
            use_megatron_fsdp: bool = False
            data_parallel_sharding_strategy: str = "no_shard"


        @dataclass
        class DistConfig:
            use_megatron_fsdp: bool = False
            use_torch_fsdp2: bool = False


        @dataclass
        class ModelConfig:
            tensor_model_parallel_size: int = 1
            pipeline_model_parallel_size: int = 1
            context_parallel_size: int = 1
            expert_model_parallel_size: int = 1
            cpu_offloading: bool = False
            recompute_granularity: str | None = None


        @dataclass
        class ConfigContainer:
            model: ModelConfig = field(default_factory=ModelConfig)
            checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
            ddp: DdpConfig = field(default_factory=DdpConfig)
            dist: DistConfig = field(default_factory=DistConfig)
            comm_overlap: DdpConfig | None = None
            env_vars: dict = field(default_factory=dict)
            mixed_precision: str = "bf16_mixed"
    """,
    "recipes.py": """\
        from elsewhere import tune
        from settings import CheckpointConfig, ConfigContainer, DdpConfig


        def _base(save: str) -> ConfigContainer:
            return ConfigContainer(checkpoint=CheckpointConfig(save=save, ckpt_format="torch"))


        def _shard(cfg: ConfigContainer, ckpt_format: str) -> None:
            cfg.ddp.use_megatron_fsdp = True
            cfg.checkpoint.ckpt_format = ckpt_format


        def small(precision: str = "bf16") -> ConfigContainer:
            cfg = _base("/results")
            cfg.mixed_precision = precision + "_mixed"
            return cfg


        def sharded(size: int = 8, *, ckpt_format: str = "fsdp_dtensor") -> ConfigContainer:
            cfg = _base("/results")
            cfg.ddp = DdpConfig(data_parallel_sharding_strategy="optim_grads_params")
            _shard(cfg, ckpt_format)
            cfg.model.tensor_model_parallel_size = size
            cfg.env_vars["NCCL_DEBUG"] = "INFO"
            return cfg


        def tuned() -> ConfigContainer:
            cfg = _base("/results")
            tune(cfg.ddp)
            return cfg


        def either(nodes) -> ConfigContainer:
            cfg = ConfigContainer()
            if nodes > 4:
                cfg.dist.use_torch_fsdp2 = True
            return cfg


        class Family:
            size = 2

            def large(self, precision: str = "bf16") -> ConfigContainer:
                return sharded(self.size)


        def number() -> int:
            return 3
    """,
    "overrides.yaml": """\
        ddp:
          use_megatron_fsdp: false
          use_megatron_fsdp: true
        checkpoint.save: /results
    """,
}

TRAIN = """\
import argparse

from settings import ConfigContainer


def train():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tp-size", type=int, default=4)
    parser.add_argument("--save", required=True)
    args = parser.parse_args()
    cfg = ConfigContainer()
    cfg.model.tensor_model_parallel_size = args.tp_size
    cfg.checkpoint.save = args.save
    return cfg
"""
"""A script whose options go into its configuration."""

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs a command in the project; the exit code, and what it prints on stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, text in FILES.items():
        (tmp_path / name).write_text(dedent(text), encoding="utf-8")

    def ask(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capsys.readouterr()

    return ask


def shown(text: str) -> str:
    """An expected output as it is written in a test."""
    return dedent(text).lstrip("\n")
