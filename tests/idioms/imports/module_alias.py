# idiom: upstream's package is imported whole, under another name
import megatron.bridge.recipes.qwen as qwen


def recipe():  # recipe
    cfg = qwen.qwen3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
