# idiom: a thread changes the configuration
import threading

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101


def threaded():  # recipe
    cfg = llama3_8b_pretrain_config()
    worker = threading.Thread(target=shard, args=(cfg,))
    worker.start()
    worker.join()
    return cfg
