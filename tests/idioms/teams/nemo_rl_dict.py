# idiom: like NeMo-RL's worker: a policy dictionary configures model and ddp by hand
from typing import Any, NotRequired, TypedDict

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import CheckpointConfig, DistributedDataParallelConfig


class Ddp(TypedDict):
    grad_reduce_in_fp32: bool
    overlap_grad_reduce: bool
    use_custom_fsdp: bool
    data_parallel_sharding_strategy: NotRequired[str]


class Policy(TypedDict):
    megatron_cfg: dict[str, Any]
    precision: str


POLICY: Policy = {
    "precision": "bfloat16",
    "megatron_cfg": {
        "pipeline_model_parallel_size": 1,
        "distributed_data_parallel_config": {
            "grad_reduce_in_fp32": False,
            "overlap_grad_reduce": True,
            "use_custom_fsdp": True,  # decides: MFSDP101
            "data_parallel_sharding_strategy": "optim_grads_params",
        },
    },
}


def ddp_config(section: Ddp) -> DistributedDataParallelConfig:
    return DistributedDataParallelConfig(
        check_for_nan_in_grad=True,
        grad_reduce_in_fp32=section["grad_reduce_in_fp32"],
        overlap_grad_reduce=section["overlap_grad_reduce"],
        use_distributed_optimizer=True,
        use_megatron_fsdp=section["use_custom_fsdp"],
        data_parallel_sharding_strategy=section.get("data_parallel_sharding_strategy", "no_shard"),
    )


def setup(policy: Policy):
    megatron = policy["megatron_cfg"]
    assert policy["precision"] in ("float32", "bfloat16")
    cfg = llama3_8b_pretrain_config()
    cfg.model.pipeline_model_parallel_size = megatron["pipeline_model_parallel_size"]
    cfg.ddp = ddp_config(megatron["distributed_data_parallel_config"])
    cfg.checkpoint = CheckpointConfig(save="/ckpt", save_interval=100, ckpt_format=megatron.get("format", "torch_dist"))
    return cfg


def recipe():  # recipe
    return setup(POLICY)
