# idiom: dictionaries of overrides merged before they are applied
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

COMMON = {"train.train_iters": 100, "ddp.use_megatron_fsdp": False}
SHARDED = COMMON | {
    "ddp.use_megatron_fsdp": True,  # decides: MFSDP101
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
}


def apply(cfg, overrides):
    for path, value in overrides.items():
        section, name = path.split(".", 1)
        setattr(getattr(cfg, section), name, value)
    return cfg


def plain():  # recipe
    return apply(llama3_8b_pretrain_config(), COMMON)


def sharded():  # recipe
    return apply(llama3_8b_pretrain_config(), SHARDED)
