# idiom: every option that was given becomes a setting of the ddp section
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use_megatron_fsdp", type=bool, default=True)  # decides: MFSDP101
    parser.add_argument("--average_in_collective", type=bool, default=False)
    args = parser.parse_args()
    cfg = llama3_8b_pretrain_config()
    for name, value in vars(args).items():
        setattr(cfg.ddp, name, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
