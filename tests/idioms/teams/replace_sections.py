# idiom: sections are exchanged for dataclasses.replace copies, with a lambda table
import dataclasses

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

EDITS = {
    "ddp": lambda old: dataclasses.replace(old, use_megatron_fsdp=True, check_for_nan_in_grad=True),  # decides: MFSDP101
    "train": lambda old: dataclasses.replace(old, train_iters=old.train_iters // 10),
}


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, edit in EDITS.items():
        setattr(cfg, name, edit(getattr(cfg, name)))
    return cfg
