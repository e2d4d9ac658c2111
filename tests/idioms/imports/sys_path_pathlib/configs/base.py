from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def base_config(fsdp=True):  # decides: MFSDP101
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
