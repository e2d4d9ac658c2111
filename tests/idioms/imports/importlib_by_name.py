# idiom: the recipe's module and name are texts
import importlib

MODULE, NAME = "megatron.bridge.recipes.llama", "llama3_8b_pretrain_config"


def recipe():  # recipe
    cfg = getattr(importlib.import_module(MODULE), NAME)()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
