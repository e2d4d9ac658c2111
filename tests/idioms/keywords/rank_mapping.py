# idiom: FSDP with the tp-pp-dp mapping
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.dist.use_tp_pp_dp_mapping = True  # decides: MFSDP302
    return cfg
