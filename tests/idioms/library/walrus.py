# idiom: assignment expressions
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    if (ddp := cfg.ddp).overlap_grad_reduce:
        ddp.use_megatron_fsdp = True  # decides: MFSDP101
    while (iters := cfg.train.train_iters) > 1000:
        cfg.train.train_iters = iters // 10
    return cfg
