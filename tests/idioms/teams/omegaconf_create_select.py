# idiom: OmegaConf.create of a dictionary with an interpolation, read with select
from omegaconf import OmegaConf

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

CONF = OmegaConf.create(
    {
        "parallel": {"fsdp": True, "pp": 1},  # decides: MFSDP101
        "format": "torch_dist",  # decides: MFSDP101
        "ckpt": {"format": "${format}", "interval": 50},
    }
)


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = CONF.parallel.fsdp
    cfg.model.pipeline_model_parallel_size = OmegaConf.select(CONF, "parallel.pp")
    cfg.checkpoint.ckpt_format = CONF.ckpt.format
    cfg.checkpoint.save_interval = CONF["ckpt"].get("interval", 10)
    return cfg
