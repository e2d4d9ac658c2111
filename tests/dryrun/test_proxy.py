"""The small model that stands for a recipe's."""

from __future__ import annotations

import pytest

from mfsdp_lint.dryrun.inventory import Device
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.dryrun.proxy import base_of, proxy_of
from tests.dryrun.samples import FSDP


def test_what_fsdp_cares_about_stays() -> None:
    proxy = proxy_of({**FSDP, "model.num_layers": 80, "train.global_batch_size": 512}, 2)
    assert {path: proxy.settings[path] for path in FSDP} == FSDP
    assert "model.num_layers" not in proxy.settings
    assert "train.global_batch_size" not in proxy.settings
    assert (proxy.ranks, proxy.reduced) == (2, ())


def test_parallel_sizes_are_reduced_to_what_two_ranks_allow_and_that_is_told() -> None:
    sizes = {"tensor_model": 8, "pipeline_model": 4, "context": 2}
    proxy = proxy_of({f"model.{name}_parallel_size": size for name, size in sizes.items()}, 2)
    assert proxy.settings["model.pipeline_model_parallel_size"] == 2
    assert proxy.reduced == (
        "model.pipeline_model_parallel_size 4 → 2",
        "model.tensor_model_parallel_size 8 → 1",
        "model.context_parallel_size 2 → 1",
    )


def test_hybrid_sharding_takes_four_ranks() -> None:
    assert proxy_of({**FSDP, "ddp.num_distributed_optimizer_instances": 2}, 2).ranks == 4


def test_where_a_launch_saves_is_its_own() -> None:
    assert "checkpoint.save" not in proxy_of({**FSDP, "checkpoint.save": "/results"}, 2).settings


def test_what_a_trial_needs_is_kept_and_plain_ddp_does_without_it() -> None:
    asked = {**FSDP, "ddp.fsdp_double_buffer": True, "model.moe_shared_expert_gate": True}
    kept = proxy_of(asked, 2, keeps=("ddp.fsdp_double_buffer", "model.moe_shared_expert_gate"))
    assert (kept.settings["ddp.fsdp_double_buffer"], kept.settings["model.moe_shared_expert_gate"]) == (True, True)
    assert not {"ddp.fsdp_double_buffer", "model.moe_shared_expert_gate"} & set(kept.plain)
    assert proxy_of(asked, 2).reduced == ("ddp.fsdp_double_buffer True → False",)


def test_what_only_a_gpu_can_do_is_left_out_and_that_is_told() -> None:
    proxy = proxy_of({"mixed_precision": "bf16_with_fp8_mixed", "model.cpu_offloading": True, "ddp.nccl_ub": True}, 2)
    assert proxy.settings["mixed_precision"] == "bf16_mixed"
    assert proxy.settings["ddp.nccl_ub"] is False
    assert proxy.reduced == (
        "ddp.nccl_ub True → False",
        'mixed_precision "bf16_with_fp8_mixed" → "bf16_mixed"',
        "model.cpu_offloading True left out",
    )


def test_plain_ddp_is_the_same_without_fsdp() -> None:
    plain = proxy_of({**FSDP, "mixed_precision": "bf16_mixed"}, 2).plain
    assert plain["mixed_precision"] == "bf16_mixed"
    assert not plain["dist.use_megatron_fsdp"]
    assert not plain["ddp.use_megatron_fsdp"]


AMPERE = Device("cuda", "nccl", transformer_engine=True, capability=(8, 0))
HOPPER = Device("cuda", "nccl", transformer_engine=True, capability=(9, 0))
BLACKWELL = Device("cuda", "nccl", transformer_engine=True, capability=(10, 0))
BARE = Device("cuda", "nccl", capability=(9, 0))


def test_a_gpu_keeps_what_a_cpu_cannot_do() -> None:
    settings = {
        "ddp.nccl_ub": True,
        "ddp.fsdp_double_buffer": True,
        "model.cpu_offloading": True,
        "model.cpu_offloading_num_layers": 20,
        "optimizer.optimizer_cpu_offload": True,
        "env.NCCL_NVLS_ENABLE": "1",
    }
    proxy = proxy_of(settings, 2, HOPPER)
    assert proxy.settings == {**settings, "model.cpu_offloading_num_layers": 1}
    assert proxy.reduced == ()


def test_offloading_takes_transformer_engine() -> None:
    assert proxy_of({"model.cpu_offloading": True}, 2, BARE).reduced == ("model.cpu_offloading True → False",)


@pytest.mark.parametrize(
    ("device", "settings", "reduced"),
    [
        (HOPPER, {"mixed_precision": "bf16_with_fp8_mixed"}, ()),
        (AMPERE, {"mixed_precision": "bf16_with_fp8_mixed"}, ('mixed_precision "bf16_with_fp8_mixed" → "bf16_mixed"',)),
        (BARE, {"mixed_precision": "fp16_with_fp8_mixed"}, ('mixed_precision "fp16_with_fp8_mixed" → "fp16_mixed"',)),
        (
            HOPPER,
            {"mixed_precision": "bf16_with_mxfp8_mixed"},
            ('mixed_precision "bf16_with_mxfp8_mixed" → "bf16_mixed"',),
        ),
        (BLACKWELL, {"mixed_precision": "bf16_with_mxfp8_mixed"}, ()),
        (HOPPER, {"mixed_precision.fp8": "hybrid", "mixed_precision.fp8_recipe": "tensorwise"}, ()),
        (
            HOPPER,
            {"mixed_precision.fp8": "e4m3", "mixed_precision.fp8_recipe": "mxfp8"},
            ("mixed_precision.fp8 e4m3 → None",),
        ),
        (AMPERE, {"ddp.fp8_param_gather": True}, ("ddp.fp8_param_gather True → False",)),
        (BLACKWELL, {"model.fp4": "e2m1"}, ()),
        (HOPPER, {"model.fp4": "e2m1"}, ("model.fp4 e2m1 → None",)),
    ],
)
def test_8_and_4_bits_are_for_gpus_that_compute_in_them(
    device: Device, settings: PlainSettings, reduced: tuple[str, ...]
) -> None:
    told = proxy_of(settings, 2, device).reduced
    assert tuple(line.replace('"e4m3"', "e4m3").replace('"e2m1"', "e2m1") for line in told) == reduced


def test_what_belongs_to_a_cluster_is_left_out_on_every_device() -> None:
    assert proxy_of({"dist.use_sharp": True}, 2, HOPPER).reduced == ("dist.use_sharp True → False",)


def test_plain_ddp_on_a_gpu_is_in_16_bits_and_without_what_only_a_gpu_does() -> None:
    settings = {**FSDP, "mixed_precision": "bf16_with_fp8_mixed", "ddp.nccl_ub": True, "model.cpu_offloading": True}
    plain = proxy_of(settings, 2, HOPPER).plain
    assert plain["mixed_precision"] == "bf16_mixed"
    assert not {"ddp.nccl_ub", "model.cpu_offloading"} & set(plain)


def test_layers_are_those_of_transformer_engine_where_it_is() -> None:
    assert base_of(HOPPER)["model.transformer_impl"] == "transformer_engine"
    assert base_of(BARE)["model.transformer_impl"] == "local"
    assert base_of(HOPPER)["dist.distributed_backend"] == "nccl"


def test_one_rank_leaves_nothing_parallel() -> None:
    assert proxy_of({"model.pipeline_model_parallel_size": 4}, 1).settings["model.pipeline_model_parallel_size"] == 1
    experts = proxy_of({"model.expert_model_parallel_size": 8, "model.num_moe_experts": 8}, 1)
    assert (experts.settings["model.expert_model_parallel_size"], experts.ranks) == (1, 1)


def test_experts_that_are_spread_take_four_ranks_so_that_each_has_a_replica() -> None:
    experts = {"model.expert_model_parallel_size": 8, "model.num_moe_experts": 64, "model.add_bias_linear": True}
    proxy = proxy_of(experts, 2)
    assert (proxy.settings["model.expert_model_parallel_size"], proxy.ranks) == (2, 4)
    assert proxy.settings["model.add_bias_linear"] is False
    on_two_gpus = proxy_of(experts, 2, HOPPER)
    assert (on_two_gpus.settings["model.expert_model_parallel_size"], on_two_gpus.ranks) == (1, 2)


@pytest.mark.parametrize(
    ("asked", "settings", "ranks"),
    [
        (1, {}, 1),
        (3, {}, 3),
        (3, {"model.pipeline_model_parallel_size": 4}, 4),
        (5, {"ddp.num_distributed_optimizer_instances": 2}, 6),
        (7, {"model.num_moe_experts": 8, "model.expert_model_parallel_size": 8}, 8),
        (8, {}, 8),
    ],
)
def test_any_number_of_ranks_divides_its_batch(asked: int, settings: PlainSettings, ranks: int) -> None:
    proxy = proxy_of({**FSDP, **settings}, asked)
    assert proxy.ranks == ranks
    assert proxy.settings["train.global_batch_size"] == 2 * ranks


def test_experts_that_are_spread_over_all_ranks_are_so_on_two() -> None:
    spread = {"model.num_moe_experts": 64, "model.expert_model_parallel_size": 8, "model.tensor_model_parallel_size": 2}
    for world, found in ((16, (2, 2)), (32, (2, 4))):
        proxy = proxy_of({**FSDP, **spread, "run.world_size": world}, 2)
        assert (proxy.settings["model.expert_model_parallel_size"], proxy.ranks) == found


def test_plain_ddp_steps_short_weights_as_only_the_distributed_optimizer_can() -> None:
    short = {**FSDP, "mixed_precision": None, "model.params_dtype": "torch.bfloat16", "optimizer.bf16": False}
    assert proxy_of(short, 2).plain["optimizer.use_distributed_optimizer"] is True
    assert proxy_of({**short, "optimizer.bf16": True}, 2).plain["optimizer.use_distributed_optimizer"] is False
