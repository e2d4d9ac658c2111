# idiom: paths of checkpoints worked out by pathlib
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

ROOT = Path("/checkpoints")


def saved():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.checkpoint.save = str(ROOT / "llama3" / "fsdp")
    cfg.checkpoint.load = None
    return cfg
