# idiom: a switch with a --no form
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", action=argparse.BooleanOptionalAction, default=True)  # decides: MFSDP101
    args = parser.parse_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = args.fsdp
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
