# idiom: profiles of a YAML file that inherit from one another
# decides: MFSDP101 at profiles.yaml:9, MFSDP101 at profiles.yaml:4
import os
import sys

import yaml

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

HERE = os.path.dirname(os.path.abspath(__file__))


def profile(name):
    with open(os.path.join(HERE, "profiles.yaml")) as file:
        every = yaml.safe_load(file)
    found = every[name]
    parent = found.pop("inherits", None)
    return {**(profile(parent) if parent else {}), **found}


def main(argv):
    cfg = llama3_8b_pretrain_config()
    for path, value in profile(argv[1] if len(argv) > 1 else "sharded").items():
        section, _, name = path.rpartition(".")
        setattr(getattr(cfg, section), name, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main(sys.argv)
