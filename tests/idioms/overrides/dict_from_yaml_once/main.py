# idiom: a YAML file read at import time into a module's dictionary
from pathlib import Path

import yaml
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

CONF = yaml.safe_load((Path(__file__).resolve().parent / "conf.yml").read_text())


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = CONF["fsdp"]["enabled"]
    cfg.ddp.data_parallel_sharding_strategy = CONF["fsdp"].get("strategy", "optim_grads")
    return cfg
