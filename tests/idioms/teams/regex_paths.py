# idiom: regular expressions parse the overrides
import re

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

PATTERN = re.compile(r"^(?P<section>\w+)\.(?P<name>\w+)\s*=\s*(?P<value>.+)$")
LINES = (
    "train.train_iters = 12",
    "ddp.use_megatron_fsdp = true",  # decides: MFSDP101
)
WORDS = {"true": True, "false": False}


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for line in LINES:
        if m := PATTERN.match(line):
            value = m["value"]
            value = WORDS[value] if value in WORDS else int(value)
            setattr(getattr(cfg, m.group("section")), m.group("name"), value)
    return cfg
