# idiom: recipes are changed in a pool of threads
from concurrent.futures import ThreadPoolExecutor

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


def pooled():  # recipe
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(shard, llama3_8b_pretrain_config()).result()
