# idiom: |= on dictionaries of keyword arguments, unpacked later
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import CheckpointConfig

CKPT = {"save": "/results", "save_interval": 10}


def checkpoint(**more):
    kwargs = CKPT.copy()
    kwargs |= {"load": kwargs["save"]} | more
    return CheckpointConfig(**kwargs)


def recipe(fsdp=True):  # recipe; decides: MFSDP101
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint = checkpoint(ckpt_format="torch_dist")  # decides: MFSDP101
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg


def right():  # recipe
    cfg = recipe()
    cfg.checkpoint = checkpoint(ckpt_format="fsdp_dtensor")
    return cfg
