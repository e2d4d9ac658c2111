# idiom: a table of runs in CSV, one recipe by its row's name
# versions: >=0.3,<0.5
# decides: MFSDP101 at runs.csv:3
import csv
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(HERE, "runs.csv"), newline="") as stream:
    RUNS = {row["name"]: row for row in csv.DictReader(stream)}


def configure(name):
    row = RUNS[name]
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = row["fsdp"] == "1"
    cfg.checkpoint.ckpt_format = row["format"]
    cfg.model.tensor_model_parallel_size = int(row["tp"])
    return cfg


def small():  # recipe
    return configure("small")


def sharded():  # recipe
    return configure("sharded")
