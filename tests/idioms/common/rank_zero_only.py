# idiom: something is done on the first rank only
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def is_first():
    return int(os.environ.get("RANK", "0")) == 0


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    if is_first():
        print("starting", cfg.train.train_iters)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
