# idiom: options that are not known are left for somebody else
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strategy", default="optim_grads_params")
    args, rest = parser.parse_known_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.data_parallel_sharding_strategy = args.strategy
    if rest:
        print("ignored", rest)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
