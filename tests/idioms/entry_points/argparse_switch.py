# idiom: a store_true switch that nobody gives
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", action="store_true")  # decides: MFSDP102
    parser.add_argument("--ckpt-format", default="fsdp_dtensor")  # decides: MFSDP102
    args = parser.parse_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = args.fsdp
    cfg.checkpoint.ckpt_format = args.ckpt_format
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
