# idiom: a lock that is released in any case
import threading

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

LOCK = threading.Lock()


def locked():  # recipe
    LOCK.acquire()
    try:
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        return cfg
    finally:
        LOCK.release()
