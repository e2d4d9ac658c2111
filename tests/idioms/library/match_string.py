# idiom: a match statement on the name of a mode
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def mode(name="zero3"):  # recipe
    cfg = llama3_8b_pretrain_config()
    match name:
        case "zero2" | "zero3":
            cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
            cfg.ddp.data_parallel_sharding_strategy = "optim_grads" if name == "zero2" else "optim_grads_params"
        case "ddp":
            cfg.ddp.use_megatron_fsdp = False
        case other:
            raise ValueError(other)
    return cfg
