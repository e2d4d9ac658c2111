# idiom: a setattr loop over a table of sections
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

TABLE = {
    "ddp": {
        "use_megatron_fsdp": True,  # decides: MFSDP101
        "data_parallel_sharding_strategy": "optim_grads_params",
    },
    "train": {"train_iters": 100},
}


def tabled():  # recipe
    cfg = llama3_8b_pretrain_config()
    for section, values in TABLE.items():
        for name, value in values.items():
            setattr(getattr(cfg, section), name, value)
    return cfg
