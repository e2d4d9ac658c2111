# idiom: options without a default change nothing unless they are given
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tp", type=int)
    parser.add_argument("--ckpt-format")
    args = parser.parse_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    if args.tp is not None:
        cfg.model.tensor_model_parallel_size = args.tp
    if args.ckpt_format:
        cfg.checkpoint.ckpt_format = args.ckpt_format
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
