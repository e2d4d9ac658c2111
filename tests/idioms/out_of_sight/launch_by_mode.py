# idiom: the mode picks the launcher from a table
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

LAUNCHERS = {"pretrain": pretrain, "finetune": finetune}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=sorted(LAUNCHERS), default="pretrain")
    args = parser.parse_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    LAUNCHERS[args.mode](cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
