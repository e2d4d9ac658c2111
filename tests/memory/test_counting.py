"""Parameters by the model's settings: published models, stages of a pipeline, and settings that make no sense.

tests/dryrun/real/test_memory.py counts those of models that are really built.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import UNKNOWN, Known, OneOf, Plain
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.memory.counting import Count, count_parameters, model_of
from mfsdp_lint.memory.estimate import memory
from mfsdp_lint.memory.facts import NotModelled, SettingFacts, layout_of
from tests.memory.test_estimate import BF16, MILLION, recipe

MODEL: dict[str, Any] = {
    "model.__class__": "megatron.bridge.models.gpt_provider.GPTModelProvider",
    "model.transformer_layer_spec": "<function megatron.core.models.gpt.gpt_layer_specs.get_gpt_decoder_block_spec>",
    "model.kv_channels": None,
    "model.should_pad_vocab": False,
    "model.gated_linear_unit": True,
    "model.normalization": "RMSNorm",
    "model.add_bias_linear": False,
    "model.add_qkv_bias": False,
    "model.qk_layernorm": False,
    "model.position_embedding_type": "rope",
    "model.share_embeddings_and_output_weights": False,
    "model.multi_latent_attention": False,
    "model.num_moe_experts": None,
    "model.moe_layer_freq": 1,
    "model.moe_shared_expert_intermediate_size": None,
    "model.num_query_groups": None,
    "model.tensor_model_parallel_size": 1,
    "model.pipeline_model_parallel_size": 1,
    "model.virtual_pipeline_model_parallel_size": None,
    "model.pipeline_model_parallel_layout": None,
    "model.num_layers_in_first_pipeline_stage": None,
    "model.num_layers_in_last_pipeline_stage": None,
    "model.account_for_embedding_in_pipeline_split": False,
    "model.account_for_loss_in_pipeline_split": False,
    "model.context_parallel_size": 1,
    "model.expert_model_parallel_size": 1,
    "model.expert_tensor_parallel_size": None,
}

LLAMA_3_8B = {
    "model.num_layers": 32,
    "model.hidden_size": 4096,
    "model.ffn_hidden_size": 14336,
    "model.num_attention_heads": 32,
    "model.num_query_groups": 8,
    "model.vocab_size": 128256,
}
QWEN_3_30B_A3B = {
    "model.num_layers": 48,
    "model.hidden_size": 2048,
    "model.ffn_hidden_size": 6144,
    "model.num_attention_heads": 32,
    "model.num_query_groups": 4,
    "model.kv_channels": 128,
    "model.qk_layernorm": True,
    "model.num_moe_experts": 128,
    "model.moe_ffn_hidden_size": 768,
    "model.vocab_size": 151936,
}
SMALL = {
    "model.num_layers": 6,
    "model.hidden_size": 8,
    "model.ffn_hidden_size": 16,
    "model.num_attention_heads": 2,
    "model.vocab_size": 100,
}


def count(*changes: dict[str, Any], bridge: str = "0.3.1") -> Count:
    values = dict(MODEL)
    for each in changes:
        values |= each
    known = WrittenSettings.of({path: Known(value) for path, value in values.items()})
    facts = SettingFacts(known)
    return count_parameters(model_of(facts, known, layout_of(facts), resolve_target(bridge)), layout_of(facts))


def test_published_models_have_as_many_parameters_as_is_published() -> None:
    assert count(LLAMA_3_8B).total == 8_030_261_248
    assert count(QWEN_3_30B_A3B).total == 30_532_122_624


def test_tensor_parallelism_splits_all_but_norms() -> None:
    whole, half = count(LLAMA_3_8B), count(LLAMA_3_8B, {"model.tensor_model_parallel_size": 2})
    norms = (2 * 32 + 1) * 4096
    assert half.dense == (whole.dense - norms) // 2 + norms


def test_expert_parallelism_splits_experts_alone() -> None:
    whole, spread = count(QWEN_3_30B_A3B), count(QWEN_3_30B_A3B, {"model.expert_model_parallel_size": 8})
    assert (spread.dense, spread.experts) == (whole.dense, whole.experts // 8)
    assert spread.formula[1] == "5,164,972,032 on a rank, 3,623,878,656 of them in experts (EP 8)"


LAYER = 8 * 24 + 8 * 8 + 3 * 8 * 16 + 2 * 8
EMBEDDING = 800


@pytest.mark.parametrize(
    ("changes", "fullest", "told"),
    [
        ({}, 3 * LAYER + EMBEDDING + 8, "stage 2 of 2"),
        ({"model.share_embeddings_and_output_weights": True}, 3 * LAYER + EMBEDDING + 8, "stage 2 of 2"),
        ({"model.num_layers_in_first_pipeline_stage": 5}, 5 * LAYER + EMBEDDING, "stage 1 of 2"),
        ({"model.num_layers_in_last_pipeline_stage": 4}, 4 * LAYER + EMBEDDING + 8, "stage 2 of 2"),
        (
            {"model.num_layers": 7, "model.account_for_loss_in_pipeline_split": True},
            4 * LAYER + EMBEDDING,
            "stage 1 of 2",
        ),
    ],
)
def test_of_pipeline_stages_it_is_the_fullest(changes: dict[str, Any], fullest: int, told: str) -> None:
    found = count(SMALL, {"model.pipeline_model_parallel_size": 2}, changes)
    assert found.dense == fullest
    assert told in found.formula[1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model.vocab_size": None}, "model.vocab_size is None: the tokenizer says it"),
        ({"model.pipeline_model_parallel_size": 4}, "6 layers do not divide among 4 pipeline stages"),
        ({"model.pipeline_model_parallel_size": 10**9}, "6 layers do not divide among 1000000000 pipeline stages"),
        ({"model.num_layers": 10**9}, "model.num_layers is 1000000000, which is no number of layers"),
        ({"model.num_layers": "six"}, "model.num_layers is 'six', which is no number of anything"),
        ({"model.normalization": "none"}, "model.normalization is 'none', which is not modelled"),
        ({"model.multi_latent_attention": True}, "model.kv_lora_rank is not known"),
        ({"model.experimental_attention_variant": "dsa"}, "model.experimental_attention_variant is 'dsa'"),
        ({"model.transformer_layer_spec": "<function project.layers.ours>"}, "are not modelled (project.layers.ours)"),
    ],
)
def test_what_is_not_understood_is_named(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotModelled) as raised:
        count(SMALL, changes)
    assert reason in str(raised.value)


A_LIST: Plain = [0, 1]
ODD_VALUES: tuple[Plain, ...] = (
    *(None, True, False, 0, 1, 2, 3, 7, -1, 10**12, 0.5),
    *("", "torch.float32", "optim", [], {}),
    A_LIST,
)
ODD = st.sampled_from(
    [
        *(Known(each) for each in ODD_VALUES),
        UNKNOWN,
        OneOf((1, 2)),
    ]
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(sorted({**MODEL, **SMALL, **BF16})), ODD, max_size=8), st.booleans())
def test_no_settings_break_it(odd: dict[str, Any], is_counted: bool) -> None:
    found = memory(recipe({**MODEL, **SMALL, **odd}), resolve_target("0.3.1"), 8, None if is_counted else MILLION)
    assert found.count is not None or found.why
    for footprint in found.footprints:
        for _, amount in footprint.amounts:
            assert (amount.bytes is None) == bool(amount.why)


def layers_of(function: str) -> dict[str, Any]:
    return {"model.transformer_layer_spec": f"<function megatron.bridge.models.{function}>"}


HEAD = 4
"""The width of a head: 8 ÷ 2."""


@pytest.mark.parametrize(
    ("function", "more"),
    [
        ("gpt_provider.default_layer_spec", 0),
        ("gemma.gemma2_provider.gemma2_layer_spec", 2 * 8),
        ("gemma.gemma3_provider.gemma3_layer_spec", 2 * 8 + 2 * HEAD),
        ("olmoe.olmoe_provider.olmoe_layer_spec", 2 * 8),
    ],
)
def test_families_have_norms_of_their_own(function: str, more: int) -> None:
    assert count(SMALL, layers_of(function)).total == count(SMALL).total + 6 * more


EVERY = "megatron.core.models.gpt.experimental_attention_variant_module_specs"
VARIANTS = f"{EVERY}.get_transformer_block_with_experimental_attention_variant_spec"
DELTA = {
    "model.transformer_layer_spec": f"<function {VARIANTS}>",
    "model.experimental_attention_variant": "gated_delta_net",
    "model.linear_attention_freq": 3,
    "model.linear_conv_kernel_dim": 4,
    "model.linear_key_head_dim": 2,
    "model.linear_value_head_dim": 2,
    "model.linear_num_key_heads": 2,
    "model.linear_num_value_heads": 3,
}


def test_layers_of_linear_attention_are_counted_beside_the_usual_ones() -> None:
    usual = 8 * 24 + 8 * 8
    delta = 8 * (2 * 4 + 2 * 6 + 2 * 3) + 4 * (2 * 4 + 6) + 2 * 3 + 2 + 6 * 8
    assert count(SMALL, DELTA).total == count(SMALL).total + 4 * (delta - usual)


LATENT = {
    "model.transformer_layer_spec": f"<function {VARIANTS}>",
    "model.multi_latent_attention": True,
    "model.qk_layernorm": True,
    "model.q_lora_rank": 6,
    "model.kv_lora_rank": 5,
    "model.qk_head_dim": 4,
    "model.qk_pos_emb_head_dim": 2,
    "model.v_head_dim": 3,
}
SPARSE = LATENT | {
    "model.experimental_attention_variant": "dsa",
    "model.dsa_indexer_n_heads": 2,
    "model.dsa_indexer_head_dim": 4,
}
INDEXER = 6 * 2 * 4 + 8 * (4 + 2) + 2 * 4
FURTHER = 2 * 8 * 8 + 3 * 8
"""What predicts a further token, beside its layer."""


@pytest.mark.parametrize(
    ("changes", "indexers"),
    [
        ({}, 6),
        ({"model.dsa_indexer_topk_freq": 1, "model.dsa_indexer_skip_topk_offset": 0}, 6),
        ({"model.dsa_indexer_topk_freq": 3, "model.dsa_indexer_skip_topk_offset": 0}, 2),
        ({"model.dsa_indexer_topk_freq": 2, "model.dsa_indexer_skip_topk_offset": 3}, 4),
    ],
)
def test_layers_of_sparse_attention_may_share_an_indexer(changes: dict[str, Any], indexers: int) -> None:
    assert count(SMALL, SPARSE, changes).total == count(SMALL, LATENT).total + indexers * INDEXER


def test_a_layer_that_predicts_has_an_indexer_of_its_own() -> None:
    shared = SPARSE | {"model.dsa_indexer_topk_freq": 6, "model.mtp_num_layers": 1}
    latent = count(SMALL, LATENT, {"model.mtp_num_layers": 1})
    assert count(SMALL, shared).total == latent.total + 2 * INDEXER
    with pytest.raises(NotModelled, match="have no indexer"):
        count(SMALL, shared, {"model.mtp_num_layers": 2})


EXPERTS = {"model.num_moe_experts": 4, "model.moe_ffn_hidden_size": 3, "model.moe_shared_expert_intermediate_size": 5}


def test_latent_experts_are_narrower_and_have_projections() -> None:
    latent = count(SMALL, EXPERTS, {"model.moe_latent_size": 2})
    assert latent.experts == 6 * 4 * 3 * 3 * 2
    assert latent.total == count(SMALL, EXPERTS).total + 6 * (2 * 8 * 2 - 4 * 3 * 3 * (8 - 2))


def test_layers_that_predict_may_lack_the_experts_of_the_others() -> None:
    exaone = layers_of("exaone.exaone_moe.exaone_moe_provider._build_exaone_moe_layer_spec")
    more = count(SMALL, EXPERTS, exaone, {"model.mtp_num_layers": 1}).total - count(SMALL, EXPERTS, exaone).total
    assert more == LAYER + FURTHER


WAN = {
    "model.__class__": "megatron.bridge.diffusion.models.wan.wan_provider.WanModelProvider",
    "model.add_bias_linear": True,
    "model.gated_linear_unit": False,
    "model.layernorm_across_heads": True,
    "model.num_layers": 30,
    "model.hidden_size": 1536,
    "model.ffn_hidden_size": 8960,
    "model.num_attention_heads": 12,
    "model.crossattn_emb_size": 1536,
    "model.in_channels": 16,
    "model.out_channels": 16,
    "model.patch_spatial": 2,
    "model.patch_temporal": 1,
    "model.freq_dim": 256,
    "model.vocab_size": 202_048,
    "model.text_dim": 4096,
}


def test_wan_has_as_many_parameters_as_its_name_says() -> None:
    assert 1.3e9 < count(WAN, bridge="0.6.0").total < 1.45e9
    with pytest.raises(NotModelled, match="several pipeline stages"):
        count(WAN, {"model.pipeline_model_parallel_size": 2}, bridge="0.6.0")


HYBRID = {
    "model.__class__": "megatron.bridge.models.mamba.mamba_provider.MambaModelProvider",
    "model.transformer_layer_spec": None,
    "model.hybrid_override_pattern": "M-M*",
    "model.mamba_head_dim": 4,
    "model.mamba_num_heads": 2,
    "model.mamba_state_dim": 5,
    "model.mamba_num_groups": 2,
    "model.position_embedding_type": "none",
}
MAMBA = 8 * (2 * 8 + 2 * 10 + 2) + (8 + 2 * 10) * 5 + 3 * 2 + 8 + 8 * 8 + 8
"""Its input, convolution, heads, norm, output, and the norm before it."""


def test_a_pattern_names_the_layers_of_a_hybrid_model() -> None:
    attention, mlp = 8 * 24 + 8 * 8 + 8, 3 * 8 * 16 + 8
    assert count(SMALL, HYBRID).total == 2 * MAMBA + attention + mlp + 2 * 800 + 8
    assert count(SMALL, HYBRID, {"model.hybrid_override_pattern": "MM"}).total == 2 * MAMBA + 2 * 800 + 8


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model.hybrid_override_pattern": None}, "no pattern names the layers"),
        ({"model.hybrid_override_pattern": "M?"}, "layers '?' of the hybrid model are not modelled"),
        ({"model.hybrid_override_pattern": "MM/M"}, "predicts further tokens is not modelled before core 0.19"),
        ({"model.mtp_num_layers": 1}, "no single pattern names the layers that predict"),
        ({"model.hybrid_override_pattern": "MM/M/*"}, "no single pattern names the layers that predict"),
        ({"model.hybrid_override_pattern": ""}, "0 layers"),
    ],
)
def test_what_is_not_understood_of_a_hybrid_model_is_named(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotModelled, match=reason.replace("?", "[?]")):
        count(SMALL, HYBRID, changes)


HYBRID_0_6 = HYBRID | {
    "model.__class__": "megatron.bridge.models.hybrid.hybrid_provider.HybridModelProvider",
    "model.hybrid_override_pattern": None,
    "model.hybrid_layer_pattern": "MM",
}


@pytest.mark.parametrize(
    ("changes", "times"),
    [
        ({"model.hybrid_layer_pattern": "MM/M"}, 1),
        ({"model.hybrid_layer_pattern": "MM/M/M"}, 2),
        ({"model.mtp_hybrid_override_pattern": "M", "model.mtp_num_layers": 2}, 2),
        ({"model.mtp_hybrid_override_pattern": "M", "model.mtp_num_layers": 0}, 0),
        (
            {
                "model.mtp_hybrid_override_pattern": "M",
                "model.mtp_num_layers": 2,
                "model.mtp_use_repeated_layer": True,
            },
            1,
        ),
    ],
)
def test_a_hybrid_model_may_predict_further_tokens(changes: dict[str, Any], times: int) -> None:
    further = MAMBA + 2 * 8 * 8 + 3 * 8
    assert count(SMALL, HYBRID_0_6, changes, bridge="0.6.0").total == 2 * MAMBA + times * further + 2 * 800 + 8


VISION = "megatron.bridge.models.qwen_vl.qwen25_vl_provider.Qwen25VLModelProvider"


def test_of_a_multimodal_model_the_language_model_is_counted_and_what_is_not_is_told() -> None:
    alone, beside = count(SMALL), count(SMALL, {"model.__class__": VISION})
    assert beside.total == alone.total
    assert (alone.without, beside.without) == ("", "the vision model and its projection")
    assert "the vision model and its projection: not counted" in beside.formula


def test_the_language_model_of_a_multimodal_one_may_be_hybrid() -> None:
    vision = {"model.__class__": "megatron.bridge.models.nemotron_vl.nemotron_vl_provider.NemotronVLModelProvider"}
    found = count(SMALL, HYBRID_0_6, vision, bridge="0.6.0")
    assert (found.total, found.without) == (2 * MAMBA + 2 * 800 + 8, "the vision model and its projection")


QWEN_3_VL = {
    "model.__class__": "megatron.bridge.models.qwen_vl.qwen3_vl_provider.Qwen3VLModelProvider",
    "model.should_pad_vocab": True,
    "model.make_vocab_size_divisible_by": 128,
}


def test_a_multimodal_model_may_not_heed_what_a_language_model_does() -> None:
    assert count(SMALL, QWEN_3_VL, bridge="0.6.0").total - count(SMALL, QWEN_3_VL).total == 2 * 8 * (128 - 100)
    with pytest.raises(NotModelled, match="does not heed"):
        count(SMALL, QWEN_3_VL, {"model.mtp_num_layers": 1})


FULL_TE = {"model.use_transformer_engine_full_layer_spec": True, "model.gated_linear_unit": False}
GPT_3 = FULL_TE | {"model.normalization": "LayerNorm", "model.add_bias_linear": True}


def test_the_layer_of_transformer_engine_has_the_usual_weights_with_the_usual_settings() -> None:
    usual = count(SMALL, GPT_3, {"model.use_transformer_engine_full_layer_spec": False})
    assert count(SMALL, GPT_3).total == usual.total
    for changes in (
        {"model.normalization": "RMSNorm"},
        {"model.num_query_groups": 1},
        {"model.add_bias_linear": False},
    ):
        with pytest.raises(NotModelled, match="full_layer_spec is True"):
            count(SMALL, GPT_3, changes)


@pytest.mark.parametrize(
    "layout",
    [
        "Ettttt|tL",
        "E,t*5|tL",
        "E(tt|)*2ttL|",
        [["embedding", *["decoder"] * 5], ["decoder", "loss"]],
        [["embedding", "decoder"], ["decoder"], ["decoder"] * 4, ["loss"]],
    ],
)
def test_a_layout_divides_the_layers(layout: Any) -> None:
    changes = {"model.pipeline_model_parallel_size": 2, "model.pipeline_model_parallel_layout": layout}
    found = count(SMALL, changes)
    assert found.total == count(SMALL).total
    held = {"E(tt|)*2ttL|": 4 * LAYER + 2 * EMBEDDING + 8}.get(str(layout), 5 * LAYER + EMBEDDING)
    assert found.dense == held


@pytest.mark.parametrize("layout", ["Ettt|tL", "Ettttt|tX", "E(t|)*99999999", 7, [["embedding"], "loss"]])
def test_a_layout_that_does_not_fit_is_named(layout: Any) -> None:
    changes = {"model.pipeline_model_parallel_size": 2, "model.pipeline_model_parallel_layout": layout}
    with pytest.raises(NotModelled, match="pipeline_model_parallel_layout"):
        count(SMALL, changes)


def test_layers_of_two_kinds_are_interleaved() -> None:
    mixed = {"model.num_layers": 8, "model.num_moe_experts": 2, "model.moe_layer_freq": [0, 0, 1, 0, 0, 0, 0, 0]}
    mixed |= {"model.moe_ffn_hidden_size": 16}
    stages = {"model.pipeline_model_parallel_size": 2, "model.virtual_pipeline_model_parallel_size": 2}
    found = count(SMALL, mixed, stages)
    assert (found.experts, "stage 2 of 2" in found.formula[1]) == (count(SMALL, mixed).experts, True)


def test_a_tokenizer_may_decide_the_vocabulary() -> None:
    asked = {"model.vocab_size": None, "model.make_vocab_size_divisible_by": 64}
    counting = {"tokenizer.tokenizer_type": "NullTokenizer", "tokenizer.vocab_size": 100}
    assert count(SMALL, asked, counting).total == count(SMALL, {"model.vocab_size": 128}).total
    known = {"tokenizer.tokenizer_type": "HuggingFaceTokenizer", "tokenizer.tokenizer_model": "Qwen/Qwen3-8B"}
    found = count(SMALL, asked, known)
    assert found.total == count(SMALL, {"model.vocab_size": 151936}).total
    assert "151,936 words, as published for Qwen/Qwen3-8B" in found.formula
