# idiom: built-in functions look at the configuration
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def looked_at():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    assert isinstance(cfg.train.train_iters, int)
    assert hasattr(cfg, "ddp")
    if callable(cfg.model):
        raise TypeError("no model")
    str(cfg), repr(cfg.ddp), id(cfg), type(cfg)
    return cfg
