"""What model state costs on each rank: bytes for each parameter × parameters ÷ the ranks that share them."""

from __future__ import annotations

from typing import Any

import pytest

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known, OneOf, Value
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.memory.counting import GivenParameters
from mfsdp_lint.memory.estimate import Memory, memory

BF16: dict[str, Any] = {
    "mixed_precision": None,
    "comm_overlap": None,
    "peft": None,
    "dist.use_megatron_fsdp": False,
    "dist.use_torch_fsdp2": False,
    "ddp.use_megatron_fsdp": False,
    "ddp.use_distributed_optimizer": True,
    "ddp.num_distributed_optimizer_instances": 1,
    "ddp.data_parallel_sharding_strategy": "no_shard",
    "ddp.outer_dp_sharding_strategy": "no_shard",
    "ddp.grad_reduce_in_fp32": True,
    "ddp.fp8_param_gather": False,
    "ddp.preserve_fp32_weights": True,
    "ddp.megatron_fsdp_main_params_dtype": "torch.float32",
    "ddp.megatron_fsdp_main_grads_dtype": None,
    "model.bf16": True,
    "model.fp16": False,
    "model.params_dtype": "torch.bfloat16",
    "model.fp8": None,
    "model.num_moe_experts": None,
    "model.tensor_model_parallel_size": 1,
    "model.pipeline_model_parallel_size": 1,
    "model.context_parallel_size": 1,
    "model.expert_model_parallel_size": 1,
    "model.expert_tensor_parallel_size": None,
    "optimizer.optimizer": "adam",
    "optimizer.bf16": True,
    "optimizer.fp16": False,
    "optimizer.use_distributed_optimizer": True,
    "optimizer.use_precision_aware_optimizer": False,
    "optimizer.optimizer_cpu_offload": False,
    "optimizer.optimizer_offload_fraction": 0.0,
    "optimizer.main_params_dtype": "torch.float32",
    "optimizer.exp_avg_dtype": "torch.float32",
    "optimizer.exp_avg_sq_dtype": "torch.float32",
    "optimizer.store_param_remainders": True,
    "optimizer.fp8_recipe": None,
}
FSDP = {
    "dist.use_megatron_fsdp": True,
    "ddp.use_megatron_fsdp": True,
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
}
MILLION = GivenParameters(1_000_000)


def recipe(*settings: dict[str, Any]) -> Recipe:
    """One with a path for each."""
    variants = tuple(Variant(WrittenSettings.of({**values(BF16), **values(each)})) for each in settings)
    return Recipe("run", "run", "run.py", 1, "function", variants)


def values(settings: dict[str, Any]) -> dict[str, Value]:
    return {path: value if isinstance(value, Value) else Known(value) for path, value in settings.items()}


def estimated(
    settings: dict[str, Any] | None = None,
    *,
    ranks: int | None = 8,
    given: GivenParameters | None = MILLION,
    bridge: str = "0.3.1",
) -> Memory:
    return memory(recipe(settings or {}), resolve_target(bridge), ranks, given)


def bytes_of(found: Memory, key: str) -> tuple[int | None, ...]:
    """Parameters, gradients, main parameters, optimizer states."""
    footprint = next(each for each in found.footprints if each.key == key)
    return tuple(amount.bytes for _, amount in footprint.amounts)


def why(found: Memory, key: str, part: str) -> str:
    footprint = next(each for each in found.footprints if each.key == key)
    return dict(footprint.amounts)[part].why


BY_WRAPPING = {
    "ddp": (2_000_000, 4_000_000, 4_000_000, 8_000_000),
    "distributed_optimizer": (2_000_000, 4_000_000, 500_000, 1_000_000),
    "distributed_optimizer:x2": (2_000_000, 4_000_000, 1_000_000, 2_000_000),
    "megatron_fsdp:no_shard": (2_000_000, 4_000_000, 4_000_000, 8_000_000),
    "megatron_fsdp:optim": (2_000_000, 4_000_000, 500_000, 1_000_000),
    "megatron_fsdp:optim_grads": (2_000_000, 500_000, 500_000, 1_000_000),
    "megatron_fsdp:optim_grads_params": (250_000, 500_000, 500_000, 1_000_000),
    "megatron_fsdp:no_shard:x2": (2_000_000, 4_000_000, 4_000_000, 8_000_000),
    "megatron_fsdp:optim:x2": (2_000_000, 4_000_000, 1_000_000, 2_000_000),
    "megatron_fsdp:optim_grads:x2": (2_000_000, 1_000_000, 1_000_000, 2_000_000),
    "megatron_fsdp:optim_grads_params:x2": (500_000, 1_000_000, 1_000_000, 2_000_000),
    "megatron_fsdp:optim_grads_params:x2:outer": (500_000, 1_000_000, 500_000, 1_000_000),
    "torch_fsdp2": (250_000, 250_000, 500_000, 1_000_000),
}


def test_each_wrapping_shards_its_own_parts_of_a_million_parameters_over_eight_ranks() -> None:
    found = estimated()
    assert {each.key: bytes_of(found, each.key) for each in found.footprints} == BY_WRAPPING


def test_the_formula_has_its_numbers_filled_in() -> None:
    own = estimated(FSDP).own
    assert own is not None
    assert own.label == "Megatron-FSDP optim_grads_params"
    assert [amount.formula for _, amount in own.amounts] == [
        "2 B × 1,000,000 ÷ 8",
        "4 B × 1,000,000 ÷ 8",
        "4 B × 1,000,000 ÷ 8",
        "(4 + 4) B × 1,000,000 ÷ 8",
    ]
    assert own.total.bytes == 2_250_000


def test_context_parallel_ranks_share_weights_too_and_tensor_and_pipeline_ones_split_them() -> None:
    split = {"model.tensor_model_parallel_size": 2, "model.context_parallel_size": 2}
    found = estimated({**FSDP, **split, "model.pipeline_model_parallel_size": 2}, ranks=16)
    assert (found.shards, found.count and found.count.dense) == (4, 250_000)
    assert bytes_of(found, "megatron_fsdp:optim_grads_params")[0] == 2 * 250_000 // 4


def test_experts_are_split_and_shared_by_groups_of_their_own() -> None:
    found = estimated(
        {"model.num_moe_experts": 8, "model.expert_model_parallel_size": 4}, given=GivenParameters(1_000_000, 800_000)
    )
    assert (found.shards, found.expert_shards) == (8, 2)
    assert bytes_of(found, "distributed_optimizer")[2] == 4 * (200_000 // 8 + 200_000 // 2)


def test_the_recipes_own_instances_are_those_of_hybrid_sharding() -> None:
    found = estimated({**FSDP, "ddp.num_distributed_optimizer_instances": 4})
    own = found.own
    assert own is not None
    assert own.label == "Megatron-FSDP optim_grads_params, HSDP ×4"
    assert dict(own.amounts)["parameters"].formula == "2 B × 1,000,000 ÷ 2"


@pytest.mark.parametrize(
    ("settings", "bridge", "key", "expected"),
    [
        pytest.param(
            {"ddp.grad_reduce_in_fp32": False}, "0.3.1", "ddp", (2, 2, 4, 8), id="gradients are as wide as the weights"
        ),
        pytest.param(
            {"model.bf16": False, "optimizer.bf16": False, "model.params_dtype": "torch.float32"},
            "0.3.1",
            "ddp",
            (4, 4, 0, 8),
            id="weights in 32 bits are stepped themselves",
        ),
        pytest.param(
            {"model.bf16": False, "optimizer.bf16": False, "model.params_dtype": "torch.float32"},
            "0.3.1",
            "megatron_fsdp:no_shard",
            (4, 4, 4, 8),
            id="Megatron-FSDP keeps main parameters of weights in 32 bits too",
        ),
        pytest.param(
            {"ddp.megatron_fsdp_main_grads_dtype": "torch.bfloat16"},
            "0.6.0",
            "megatron_fsdp:no_shard",
            (2, 2, 4, 8),
            id="from 0.6 on Megatron-FSDP has a dtype of its own for gradients",
        ),
        pytest.param(
            {},
            "0.6.0",
            "megatron_fsdp:no_shard",
            (2, 2, 4, 8),
            id="and does not look at grad_reduce_in_fp32",
        ),
        pytest.param(
            {"ddp.megatron_fsdp_main_grads_dtype": "torch.bfloat16"},
            "0.4.2",
            "megatron_fsdp:no_shard",
            (2, 4, 4, 8),
            id="before that grad_reduce_in_fp32 is what counts",
        ),
        pytest.param(
            {"optimizer.optimizer": "sgd", "optimizer.sgd_momentum": 0.9},
            "0.3.1",
            "ddp",
            (2, 4, 4, 4),
            id="SGD has a momentum",
        ),
        pytest.param(
            {"optimizer.optimizer": "sgd", "optimizer.sgd_momentum": 0.0},
            "0.3.1",
            "ddp",
            (2, 4, 4, 0),
            id="or none",
        ),
    ],
)
def test_bytes_for_each_parameter(settings: dict[str, Any], bridge: str, key: str, expected: tuple[int, ...]) -> None:
    found = estimated(settings, bridge=bridge)
    assert bytes_of(found, key) == tuple(each * 1_000_000 for each in expected)


PRECISION_AWARE = {
    "optimizer.use_precision_aware_optimizer": True,
    "optimizer.exp_avg_dtype": "torch.bfloat16",
    "optimizer.exp_avg_sq_dtype": "torch.uint8",
}


def test_a_precision_aware_optimizer_keeps_the_bits_that_the_weights_lack() -> None:
    assert bytes_of(estimated(PRECISION_AWARE, ranks=1), "distributed_optimizer")[2:] == (2_000_000, 3_000_000)
    whole = {**PRECISION_AWARE, "optimizer.store_param_remainders": False}
    assert bytes_of(estimated(whole, ranks=1), "distributed_optimizer")[2] == 4_000_000


def test_what_is_offloaded_to_the_host_is_not_on_the_device() -> None:
    offload = {"optimizer.optimizer_cpu_offload": True, "optimizer.optimizer_offload_fraction": 0.75}
    found = estimated(offload, ranks=1)
    assert bytes_of(found, "distributed_optimizer") == (2_000_000, 4_000_000, 4_000_000, 2_000_000)
    assert "optimizer.optimizer_cpu_offload" in why(found, "megatron_fsdp:optim", "optimizer states")


@pytest.mark.parametrize(
    ("settings", "part", "reason"),
    [
        ({"model.bf16": OneOf((True, False))}, "parameters", "model.bf16 is True or False"),
        ({"peft": OneOf((None, "lora"))}, "gradients", 'peft is None or "lora"'),
        ({"model.freeze_language_model": True}, "gradients", "model.freeze_language_model is on"),
        ({"ddp.fp8_param_gather": True}, "parameters", "weights are kept in fp8"),
        ({"optimizer.optimizer": "muon"}, "optimizer states", "optimizer.optimizer is 'muon', which is not modelled"),
        ({"optimizer.bf16": False}, "main parameters", "neither optimizer.bf16 nor optimizer.fp16 is on"),
    ],
)
def test_a_part_that_depends_on_what_is_not_known_is_not_known_and_says_so(
    settings: dict[str, Any], part: str, reason: str
) -> None:
    found = estimated(settings)
    assert reason in why(found, "ddp", part)
    footprint = next(each for each in found.footprints if each.key == "ddp")
    assert footprint.total.bytes is None
    assert reason in footprint.total.why


def test_without_a_number_of_ranks_only_what_is_whole_on_each_is_known() -> None:
    found = estimated(ranks=None)
    assert bytes_of(found, "ddp") == BY_WRAPPING["ddp"]
    assert bytes_of(found, "megatron_fsdp:optim") == (2_000_000, 4_000_000, None, None)
    assert why(found, "megatron_fsdp:optim", "main parameters") == "the number of ranks is not known (--world-size)"


def test_ranks_that_do_not_come_out_even_are_no_guess() -> None:
    found = estimated({"model.tensor_model_parallel_size": 3})
    assert why(found, "distributed_optimizer", "optimizer states") == "8 ranks do not divide by TP × PP × CP = 3"


def test_how_many_parameters_are_in_experts_has_to_be_known_where_these_are_split_otherwise() -> None:
    found = estimated({"model.num_moe_experts": 8, "model.expert_model_parallel_size": 4})
    assert found.count is None
    assert found.why == "parameters: how many are in experts is not known (--parameters TOTAL,EXPERTS)"


def test_a_megatron_core_that_shards_experts_over_ranks_with_other_ones_is_told() -> None:
    split = {"model.num_moe_experts": 8, "model.expert_model_parallel_size": 4}
    given = GivenParameters(1_000_000, 800_000)
    assert "over ranks that have other experts" in why(
        estimated(split, given=given), "megatron_fsdp:optim:x2", "main parameters"
    )
    assert bytes_of(estimated(split, given=given, bridge="0.6.0"), "megatron_fsdp:optim:x2")[2] is not None


def test_the_second_megatron_fsdp_is_not_modelled() -> None:
    found = estimated({**FSDP, "ddp.megatron_fsdp_version": 2}, bridge="head")
    assert (found.own, found.own_why) == (None, "ddp.megatron_fsdp_version is 2, which is not modelled")
    assert why(found, "megatron_fsdp:optim", "parameters") == "ddp.megatron_fsdp_version is 2, which is not modelled"
    assert bytes_of(found, "ddp")[0] == 2_000_000


def test_a_recipe_whose_paths_are_wrapped_differently_has_no_footprint_of_its_own() -> None:
    found = memory(recipe(FSDP, {}), resolve_target("0.3.1"), 8, MILLION)
    assert (found.own, found.own_why) == (None, "the paths through the recipe differ in it")
    assert bytes_of(found, "ddp") == BY_WRAPPING["ddp"]


def test_paths_through_a_recipe_that_differ_agree_on_what_is_the_same_in_both() -> None:
    found = memory(recipe({}, {"ddp.grad_reduce_in_fp32": False}), resolve_target("0.3.1"), 8, MILLION)
    assert bytes_of(found, "ddp") == (2_000_000, None, 4_000_000, 8_000_000)
    assert why(found, "ddp", "gradients") == "the paths through the recipe differ in it"


def test_a_model_whose_layers_are_not_known_is_not_counted() -> None:
    found = estimated({"model.__class__": "project.models.Ours"}, given=None)
    assert (found.count, found.why) == (
        None,
        "parameters: the layers of project.models.Ours are not modelled (--parameters)",
    )


@pytest.mark.parametrize("bridge", ["0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head"])
def test_every_release_has_its_sources(bridge: str) -> None:
    sources = estimated(bridge=bridge).sources
    assert len(sources) >= 14
    assert {source.release for source in sources} == {f"the megatron-core of megatron-bridge {bridge}"}
