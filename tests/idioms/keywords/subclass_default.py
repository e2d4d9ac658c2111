# idiom: subclasses of upstream's configuration classes with other defaults
# versions: >=0.3,<0.5
from dataclasses import dataclass

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import CheckpointConfig, DistributedDataParallelConfig


@dataclass
class ShardedDDP(DistributedDataParallelConfig):
    use_megatron_fsdp: bool = True  # decides: MFSDP101
    data_parallel_sharding_strategy: str = "optim_grads_params"
    overlap_grad_reduce: bool = True
    overlap_param_gather: bool = True
    use_distributed_optimizer: bool = True


@dataclass
class KeepAll(CheckpointConfig):
    save_interval: int = 50
    ckpt_format: str = "torch_dist"  # decides: MFSDP101


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp = ShardedDDP(grad_reduce_in_fp32=True)
    cfg.checkpoint = KeepAll(save="/ckpt")
    return cfg


def sharded_right():  # recipe
    cfg = sharded()
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
