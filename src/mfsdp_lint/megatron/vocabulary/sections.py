"""The sections of a configuration, each of which holds settings."""

from __future__ import annotations

SECTIONS = frozenset(
    {
        "rng",
        "rerun_state_machine",
        "train",
        "model",
        "optimizer",
        "optimizer_config_override_provider",
        "ddp",
        "validation",
        "scheduler",
        "dataset",
        "logger",
        "tokenizer",
        "checkpoint",
        "dist",
        "ft",
        "straggler",
        "nvrx_straggler",
        "profiling",
        "peft",
        "comm_overlap",
        "mixed_precision",
        "tensor_inspect",
        "inprocess_restart",
        "env_vars",
    }
)
"""The fields of `ConfigContainer` in Megatron-Bridge 0.2.0 to 0.6.0 (megatron/bridge/training/config.py)."""

ARGUMENTS = "args"
"""Not a section: what only Megatron-LM's command line has, by the names of its parsed arguments."""

COMMAND_LINE_SECTIONS = frozenset(
    {"dist", "ddp", "checkpoint", "model", "optimizer", "train", "rng", "rerun_state_machine", "tokenizer", ARGUMENTS}
)
"""Sections whose settings Megatron-LM's command line has as well, under their own names unless `lm` says otherwise."""
