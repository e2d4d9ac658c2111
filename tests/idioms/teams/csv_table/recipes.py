# idiom: a CSV table of experiments beside the module
# decides: MFSDP101 at experiments.csv:3
import csv
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

with (Path(__file__).parent / "experiments.csv").open(newline="") as file:
    ROWS = {row["name"]: row for row in csv.DictReader(file)}


def build(name):
    row = ROWS[name]
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = int(row["iters"])
    cfg.ddp.use_megatron_fsdp = row["fsdp"] == "yes"
    cfg.checkpoint.ckpt_format = row["format"]
    return cfg


def plain():  # recipe
    return build("plain")


def sharded():  # recipe
    return build("sharded")
