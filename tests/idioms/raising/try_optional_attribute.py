# idiom: an attribute that only newer releases have, read in a try
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def careful():  # recipe
    cfg = llama3_8b_pretrain_config()
    try:
        iters = cfg.validation.eval_iters
    except AttributeError:
        iters = cfg.train.eval_iters
    cfg.logger.log_interval = max(1, iters // 4)
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
