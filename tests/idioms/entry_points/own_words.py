# idiom: extra arguments from an environment variable through shlex, with argparse.Namespace and parse_known_args
# versions: >=0.3,<0.5
import argparse
import os
import shlex

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

DEFAULT_ARGS = "--fsdp --ckpt torch_dist"  # decides: MFSDP101


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", action="store_true")
    parser.add_argument("--ckpt", default="fsdp_dtensor")
    namespace = argparse.Namespace(iters=10)
    known, rest = parser.parse_known_args(shlex.split(DEFAULT_ARGS), namespace=namespace)
    if rest:
        parser.error(f"unknown: {rest}")
    return known


def configured():
    args = parse()
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = args.iters
    cfg.ddp.use_megatron_fsdp = args.fsdp
    cfg.checkpoint.ckpt_format = args.ckpt
    if os.environ.get("DEBUG_RUN"):
        cfg.train.train_iters = 1
    return cfg


if __name__ == "__main__":
    pretrain(configured(), forward_step)  # launch
