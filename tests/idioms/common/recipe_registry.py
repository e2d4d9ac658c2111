# idiom: a registry of recipes, and a script that launches one by name
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def sharded():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


RECIPES = {"sharded": sharded, "small": llama32_1b_pretrain_config}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipe", choices=RECIPES, default="sharded")
    cfg = RECIPES[parser.parse_args().recipe]()
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
