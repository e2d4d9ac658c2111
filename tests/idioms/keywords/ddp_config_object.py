# idiom: the ddp section as a new object
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import DistributedDataParallelConfig


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp = DistributedDataParallelConfig(
        use_megatron_fsdp=True,  # decides: MFSDP101
        data_parallel_sharding_strategy="optim_grads_params",
        use_distributed_optimizer=True,
        overlap_grad_reduce=True,
        overlap_param_gather=True,
    )
    return cfg
