# idiom: optimizer and scheduler from upstream's helper
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.recipes.utils.optimizer_utils import distributed_fused_adam_with_cosine_annealing


def slow_start():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.optimizer, cfg.scheduler = distributed_fused_adam_with_cosine_annealing(
        lr_warmup_iters=100, lr_decay_iters=None, max_lr=1e-4, min_lr=1e-5
    )
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
