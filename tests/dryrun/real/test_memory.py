"""The estimate of `audit --memory` against the real megatron-core 0.16.1: what models have, and what ranks hold."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from benchmarks import memory as benchmark
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.memory.counting import count_parameters, model_of
from mfsdp_lint.memory.facts import SettingFacts, layout_of, wrappings
from tests.dryrun.real.running import PYTHON, ROOT

pytestmark = pytest.mark.xdist_group("dry-run")

DENSE: dict[str, Any] = {
    "model.__class__": "megatron.bridge.models.gpt_provider.GPTModelProvider",
    "model.num_layers": 3,
    "model.hidden_size": 64,
    "model.ffn_hidden_size": 144,
    "model.num_attention_heads": 8,
    "model.num_query_groups": 8,
    "model.vocab_size": 1000,
    "model.should_pad_vocab": False,
    "model.seq_length": 32,
    "model.gated_linear_unit": False,
    "model.normalization": "LayerNorm",
    "model.add_bias_linear": False,
    "model.add_qkv_bias": False,
    "model.qk_layernorm": False,
    "model.position_embedding_type": "rope",
    "model.share_embeddings_and_output_weights": False,
    "model.multi_latent_attention": False,
    "model.kv_channels": None,
    "model.num_moe_experts": None,
    "model.moe_shared_expert_intermediate_size": None,
    "model.tensor_model_parallel_size": 1,
    "model.pipeline_model_parallel_size": 1,
    "model.context_parallel_size": 1,
    "model.expert_model_parallel_size": 1,
    "model.expert_tensor_parallel_size": None,
    "model.moe_layer_freq": 1,
    "model.gradient_accumulation_fusion": False,
    "model.persist_layer_norm": False,
    "model.masked_softmax_fusion": False,
    "model.bias_dropout_fusion": False,
    "model.apply_rope_fusion": False,
    "model.bf16": False,
}
MIXTURE = {
    "model.num_moe_experts": 4,
    "model.moe_ffn_hidden_size": 80,
    "model.moe_router_topk": 2,
    "model.gated_linear_unit": True,
    "model.moe_token_dispatcher_type": "alltoall",
}
LATENT = {
    "model.__class__": "megatron.bridge.models.mla_provider.MLAModelProvider",
    "model.multi_latent_attention": True,
    "model.q_lora_rank": 24,
    "model.kv_lora_rank": 16,
    "model.qk_head_dim": 12,
    "model.qk_pos_emb_head_dim": 8,
    "model.v_head_dim": 10,
    "model.qk_layernorm": True,
    "model.rope_type": "rope",
}

SHAPES: dict[str, dict[str, Any]] = {
    "dense": {},
    "query groups": {"model.num_query_groups": 2},
    "heads of a width of their own": {"model.kv_channels": 24, "model.num_query_groups": 4},
    "a gated MLP": {"model.gated_linear_unit": True},
    "the usual width of an MLP": {"model.ffn_hidden_size": None},
    "RMSNorm": {"model.normalization": "RMSNorm"},
    "biases": {"model.add_bias_linear": True},
    "biases of a gated MLP": {"model.add_bias_linear": True, "model.gated_linear_unit": True},
    "biases of attention alone": {"model.add_qkv_bias": True},
    "norms of query and key": {"model.qk_layernorm": True, "model.kv_channels": 16},
    "tied embeddings": {"model.share_embeddings_and_output_weights": True},
    "learned positions": {"model.position_embedding_type": "learned_absolute"},
    "a padded vocabulary": {"model.should_pad_vocab": True, "model.make_vocab_size_divisible_by": 128},
    "experts": MIXTURE,
    "experts with biases": {**MIXTURE, "model.add_bias_linear": True},
    "shared experts": {**MIXTURE, "model.moe_shared_expert_intermediate_size": 96},
    "shared experts with a gate": {
        **MIXTURE,
        "model.moe_shared_expert_intermediate_size": 96,
        "model.moe_shared_expert_gate": True,
    },
    "experts in every other layer": {**MIXTURE, "model.moe_layer_freq": 2},
    "a dense layer before the experts": {**MIXTURE, "model.moe_layer_freq": [0, 1, 1]},
    "layers that predict further tokens": {"model.mtp_num_layers": 2},
    "latent attention": LATENT,
    "latent attention without a rank of queries": {**LATENT, "model.q_lora_rank": None},
    "latent attention and experts": {**LATENT, **MIXTURE, "model.moe_layer_freq": [0, 1, 1]},
}


def test_settings_say_how_many_parameters_a_real_model_has() -> None:
    shapes = {name: {**DENSE, **shape} for name, shape in SHAPES.items()}
    done = subprocess.run(
        [PYTHON, "benchmarks/memory_count.py"],
        input=json.dumps(list(shapes.values())),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    real = dict(zip(shapes, json.loads(done.stdout.splitlines()[-1]), strict=True))
    assert {name: estimated(shape) for name, shape in shapes.items()} == real


def estimated(shape: dict[str, Any]) -> list[int]:
    """All parameters, and those of experts."""
    block = {
        "model.transformer_layer_spec": "<function megatron.core.models.gpt.gpt_layer_specs.get_gpt_decoder_block_spec>"
    }
    settings = WrittenSettings.of({path: Known(value) for path, value in {**shape, **block}.items()})
    facts = SettingFacts(settings)
    layout = layout_of(facts)
    count = count_parameters(model_of(facts, settings, layout, resolve_target("0.3.1")), layout)
    return [count.total, count.experts]


def test_ranks_hold_what_the_estimate_says_however_the_model_is_wrapped() -> None:
    rows = benchmark.compare(PYTHON, benchmark.MODEL, wrappings(2))
    not_measured = {(row.wrapping.label, row.part) for row in rows if row.off is None}
    # torch's own Adam cannot step what is replicated over two dimensions of a mesh.
    assert not_measured == {("Megatron-FSDP no_shard, HSDP ×2", "optimizer states")}
    off = {(row.wrapping.label, row.part): row.off for row in rows if row.off is not None}
    assert {each: by for each, by in off.items() if abs(by) > benchmark.TOLERANCE} == {}
