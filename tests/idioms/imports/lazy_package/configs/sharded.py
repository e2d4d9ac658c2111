from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded_8b():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    return cfg
