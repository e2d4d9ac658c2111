# idiom: a name with the time of the run in it
from datetime import datetime

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def dated():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.logger.wandb_exp_name = f"fsdp-{datetime.now():%Y%m%d}"
    return cfg
