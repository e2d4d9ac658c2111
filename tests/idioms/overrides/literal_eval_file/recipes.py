# idiom: a dictionary kept in a text file and read by literal_eval
import ast
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    values = ast.literal_eval(Path(__file__).with_name("ddp.txt").read_text())
    for name, value in values.items():
        setattr(cfg.ddp, name, value)
    return cfg
