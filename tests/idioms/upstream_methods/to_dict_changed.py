# idiom: a change of the dictionary is no change of the configuration
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def unchanged():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    settings = cfg.to_dict()
    settings["ddp"]["use_megatron_fsdp"] = True
    return cfg
