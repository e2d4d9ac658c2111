# idiom: a list of lambdas that change the configuration
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

CHANGES = [
    lambda cfg: setattr(cfg.ddp, "use_megatron_fsdp", True),  # decides: MFSDP101
    lambda cfg: setattr(cfg.train, "train_iters", 10),
]


def changed():  # recipe
    cfg = llama3_8b_pretrain_config()
    for change in CHANGES:
        change(cfg)
    return cfg
