"""Activations: the paper's table for a transformer layer, and what changes it."""

from __future__ import annotations

from typing import Any

import pytest

from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.memory.activations import activations
from mfsdp_lint.memory.counting import model_of
from mfsdp_lint.memory.facts import NotModelled, SettingFacts, layout_of
from tests.memory.test_counting import LLAMA_3_8B, MODEL, QWEN_3_30B_A3B

RUN: dict[str, Any] = {
    "model.seq_length": 8192,
    "model.sequence_parallel": True,
    "model.recompute_granularity": "selective",
    "model.recompute_method": None,
    "model.tensor_model_parallel_size": 2,
    "model.moe_router_topk": 8,
    "train.micro_batch_size": 1,
    "train.global_batch_size": 64,
}
TOKENS, HIDDEN, WIDE, LAYERS, WORDS = 8192, 4096, 14336, 32, 128256
ENDS = TOKENS * (8 + HIDDEN + 4 * (HIDDEN + WORDS))
"""Ids, the mask of the embedding, and the inputs of the output layer and of the loss."""


def estimated(*changes: dict[str, Any], ranks: int | None = 16) -> int:
    values = MODEL | LLAMA_3_8B | RUN
    for each in changes:
        values |= each
    known = WrittenSettings.of({path: Known(value) for path, value in values.items()})
    facts, layout = SettingFacts(known), layout_of(SettingFacts(known))
    model = model_of(facts, known, layout, resolve_target("0.3.1"))
    return activations(facts, model.shape, model.layers, layout, ranks).bytes


def test_with_sequence_parallelism_it_is_the_table_of_the_paper() -> None:
    layer = 18 * HIDDEN + 4 * WIDE
    assert estimated() == (TOKENS * layer * LAYERS + ENDS) // 2
    assert estimated({"model.recompute_granularity": None}) == estimated()


def test_without_it_ranks_share_only_what_tensor_parallelism_splits() -> None:
    layer = 10 * HIDDEN + 24 * HIDDEN / 2
    ends = TOKENS * (8 + HIDDEN + 2 * (WORDS / 2 + HIDDEN))
    assert estimated({"model.sequence_parallel": False}) == round(1.05 * (TOKENS * layer * LAYERS + ends))


def test_context_parallelism_divides_the_sequence() -> None:
    assert estimated({"model.context_parallel_size": 4}) * 4 == estimated()


def test_full_recomputation_keeps_inputs_and_works_on_a_few_layers_at_once() -> None:
    full = {
        "model.recompute_granularity": "full",
        "model.recompute_method": "uniform",
        "model.recompute_num_layers": 1,
    }
    working = TOKENS * (18 * HIDDEN + 4 * WIDE) / 2
    less = estimated(full)
    assert working + TOKENS * LAYERS * HIDDEN < less < estimated() / 3
    by_four = estimated(full, {"model.recompute_num_layers": 4})
    assert by_four - less == pytest.approx(3 * working - 1.05 * TOKENS * (LAYERS - LAYERS // 4) * HIDDEN)
    half = {"model.recompute_method": "block", "model.recompute_num_layers": 16}
    assert less < estimated(full, half) < estimated()


def test_selected_modules_are_recomputed() -> None:
    def without(*modules: str) -> int:
        return estimated() - estimated({"model.recompute_modules": ["core_attn", *modules]})

    assert without("mlp") == TOKENS * 4 * WIDE * LAYERS // 2
    assert without("layernorm") == TOKENS * 4 * HIDDEN * LAYERS // 2
    assert without() == 0


def test_each_token_is_in_as_many_experts_as_it_goes_to() -> None:
    alone = {"model.expert_tensor_parallel_size": 1}
    one, all_eight = (estimated(QWEN_3_30B_A3B, alone, {"model.moe_router_topk": each}) for each in (1, 8))
    assert all_eight - one == TOKENS * 7 * (4 * 768 + 2 * 2048) * 48 // 2
    recomputed = estimated(QWEN_3_30B_A3B, alone, {"model.recompute_modules": ["moe"]})
    assert recomputed == one - TOKENS * (4 * 768 + 2 * 2048) * 48 // 2


def test_a_stage_keeps_as_many_micro_batches_as_are_on_their_way() -> None:
    stages = {"model.pipeline_model_parallel_size": 4, "model.tensor_model_parallel_size": 1}
    layers = TOKENS * (18 * HIDDEN + 4 * WIDE) * LAYERS
    on_their_way = layers + 4 * TOKENS * (8 + HIDDEN)
    assert estimated(stages) == on_their_way
    assert estimated(stages, {"train.global_batch_size": 8}) == on_their_way // 2
    assert estimated(stages, {"model.virtual_pipeline_model_parallel_size": 2}) == on_their_way * 11 // 8


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model.recompute_granularity": "full"}, "model.recompute_method is None"),
        ({"model.context_parallel_size": 3}, "8192 tokens do not divide among 3"),
        ({"train.micro_batch_size": 0}, "train.micro_batch_size is 0"),
    ],
)
def test_what_is_not_understood_is_named(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotModelled, match=reason):
        estimated(changes, {"model.recompute_num_layers": 1})
