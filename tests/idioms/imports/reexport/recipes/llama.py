from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


def sharded():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


def small():
    return llama32_1b_pretrain_config()
