# idiom: the flex dispatcher's backend is applied to a dense model, where it does nothing
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.flex_dispatcher_backend import apply_flex_dispatcher_backend


def dense():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    apply_flex_dispatcher_backend(cfg.model, moe_flex_dispatcher_backend="deepep")
    return cfg
