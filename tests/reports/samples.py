"""Findings and files made by hand, as rules and readers would make them."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

from mfsdp_lint.core.finding import AffectedRecipe, Edit, Finding, Fix, Note, Suppression
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.reports.summary import Summary

TARGET = Target(bridge="0.3.1", core="0.16.1", reason="the newest on the package index", assumed=True)

RECIPE = dedent(
    '''\
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


    def llama3_8b_fsdp():
        """Llama 3 8B with Megatron-FSDP."""
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = True
        cfg.checkpoint.ckpt_format = "torch_dist"
        cfg.checkpoint.save = "/results"
        return cfg
    '''
)

FILES = {"recipes/llama.py": RECIPE}

FORMAT = Finding(
    code="MFSDP101",
    name="fsdp-checkpoint-format",
    severity="error",
    stage="startup",
    message='Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"',
    span=Span("recipes/llama.py", 8, 5, 8, 46),
    consequence="validation stops the run",
    raises="Megatron FSDP only supports fsdp_dtensor checkpoint format",
    versions=("megatron-bridge 0.2.2", "megatron-bridge 0.3.1"),
    enforced_by="validation",
    recipes=(AffectedRecipe("llama3_8b_fsdp", "error"),),
    related=(
        Note(Span("recipes/llama.py", 7, 5, 7, 37), "Megatron-FSDP is turned on here"),
        Note(Span("recipes/llama.py", 9, 5, 9, 37), 'checkpoint.save is "/results"'),
    ),
    fingerprint="0123456789abcdef",
    fixable="safe",
)

VALUE = Edit(Span("recipes/llama.py", 8, 34, 8, 46), '"fsdp_dtensor"')

WITH_FIX = replace(FORMAT, fix=Fix("safe", (VALUE,), "safe because nothing is loaded"))

SUPPRESSED = replace(FORMAT, suppressed=Suppression(Span("recipes/llama.py", 8, 48, 8, 70), "converted at load"))

UNSHARDED = Finding(
    code="MFSDP301",
    name="fsdp-no-shard",
    severity="warning",
    stage="never",
    message='Megatron-FSDP with ddp.data_parallel_sharding_strategy = "no_shard"',
    span=Span("recipes/llama.py", 7, 5, 7, 37),
    consequence="every rank keeps the whole model",
    recipes=tuple(AffectedRecipe(f"recipe_{number}", "warning") for number in range(42)),
    fingerprint="fedcba9876543210",
    fixable="unsafe",
    no_fix="a person has to choose",
)

SUMMARY = Summary(TARGET, files=1, recipes=1, errors=1, warnings=1, fixable=1, held_back=1)
"""What the two findings above come to."""
