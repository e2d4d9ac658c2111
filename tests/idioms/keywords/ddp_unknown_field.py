# idiom: a constructor is given a field that it does not have
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import DistributedDataParallelConfig


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp = DistributedDataParallelConfig(use_fsdp=True)  # decides: TypeError
    return cfg
