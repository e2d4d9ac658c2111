# idiom: the parsed options are handed to a builder as keywords
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def build(fsdp, tp):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.model.tensor_model_parallel_size = tp
    return cfg


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", type=int, choices=(0, 1), default=1)
    parser.add_argument("--tp", type=int, default=2)
    cfg = build(**{**vars(parser.parse_args()), "fsdp": True})  # decides: MFSDP101
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
