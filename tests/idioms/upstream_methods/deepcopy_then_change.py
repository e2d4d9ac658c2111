# idiom: a copy is changed, and the original stays
# versions: <0.7
import copy

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

BASE = llama3_8b_pretrain_config()


def on():  # recipe
    cfg = copy.deepcopy(BASE)
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


def off():  # recipe
    return copy.deepcopy(BASE)
