# idiom: what mock.patch.object sets is gone after the block
from unittest import mock

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def restored():  # recipe
    cfg = llama3_8b_pretrain_config()
    with mock.patch.object(cfg.ddp, "use_megatron_fsdp", True):
        cfg.train.train_iters = 5
    return cfg
