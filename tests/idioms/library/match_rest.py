# idiom: a match statement takes one key and keeps the rest
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def apply(cfg, change):
    match change:
        case {"strategy": strategy, **rest}:
            cfg.ddp.data_parallel_sharding_strategy = strategy
            for name, value in rest.items():
                setattr(cfg.ddp, name, value)
        case {}:
            raise ValueError("no strategy")


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    apply(cfg, {"strategy": "optim_grads_params", "use_megatron_fsdp": True})  # decides: MFSDP101
    return cfg
