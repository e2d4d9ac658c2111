"""The small model that stands for a recipe's."""

from __future__ import annotations

from mfsdp_lint.dryrun.proxy import proxy_of
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
