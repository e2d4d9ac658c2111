# idiom: an ml_collections.ConfigDict with references
# versions: >=0.3,<0.5
from ml_collections import ConfigDict

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def get_config():
    config = ConfigDict()
    config.fsdp = ConfigDict({"use_megatron_fsdp": True, "data_parallel_sharding_strategy": "optim_grads_params"})
    config.ckpt = "torch_dist"  # decides: MFSDP101
    config.lock()
    return config


def build(config):
    cfg = llama3_8b_pretrain_config()
    for name, value in config.fsdp.items():
        setattr(cfg.ddp, name, value)
    cfg.checkpoint.ckpt_format = config.ckpt
    return cfg


def sharded():  # recipe
    return build(get_config())


def mended():  # recipe
    config = get_config()
    with config.unlocked():
        config.ckpt = "fsdp_dtensor"
    return build(config)
