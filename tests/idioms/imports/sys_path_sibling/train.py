# idiom: a folder beside the script is put on sys.path
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from sharding import shard  # noqa: E402

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = shard(llama3_8b_pretrain_config())
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
