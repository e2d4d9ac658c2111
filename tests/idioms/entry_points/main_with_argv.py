# idiom: main takes argv, and the guard passes it on
import argparse
import sys

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--cp", type=int, default=1)
    args = parser.parse_args(argv)
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.model.context_parallel_size = args.cp
    pretrain(cfg, forward_step)  # launch
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
