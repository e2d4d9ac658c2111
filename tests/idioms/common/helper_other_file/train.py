# idiom: a helper in another file shards, and a third file keeps the numbers
from sharding import shard

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = shard(llama3_8b_pretrain_config())
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
