# idiom: the recipe's name is an option, looked up in the module
import argparse
import sys

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def small():
    return llama32_1b_pretrain_config()


def base():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    return cfg


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipe", default="base")
    args = parser.parse_args()
    cfg = getattr(sys.modules[__name__], args.recipe)()
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
