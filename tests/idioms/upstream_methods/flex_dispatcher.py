# idiom: the flex dispatcher's backend is applied to a mixture of experts
from megatron.bridge.recipes.qwen import qwen3_30b_a3b_pretrain_config
from megatron.bridge.training.flex_dispatcher_backend import apply_flex_dispatcher_backend


def deepep():  # recipe
    cfg = qwen3_30b_a3b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    apply_flex_dispatcher_backend(cfg.model, "deepep")
    return cfg
