# idiom: a required group of options that exclude each other
# argv: --mock
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def parse():
    parser = argparse.ArgumentParser()
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--mock", action="store_true")
    group.add_argument("--data")
    return parser.parse_args()


def main():
    args = parse()
    cfg = llama3_8b_pretrain_config()
    if not args.mock:
        cfg.dataset.blend = ([args.data], None)
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
