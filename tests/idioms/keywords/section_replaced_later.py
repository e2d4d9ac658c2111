# idiom: a section that a new object replaces when FSDP is on already
# versions: >=0.3,<0.5
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import CheckpointConfig


def sharded():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg


def replaced():  # recipe
    cfg = sharded()
    cfg.checkpoint = CheckpointConfig(  # decides: MFSDP101
        save="/ckpt/replaced",
        save_interval=100,
    )
    return cfg
