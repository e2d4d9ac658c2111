# idiom: sub-commands that a decorator registers, with a shared parent parser
# argv: fit --iters 40
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

COMMANDS = {}


def command(function):
    COMMANDS[function.__name__] = function
    return function


@command
def show(args):
    print(llama3_8b_pretrain_config())


@command
def fit(args):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = not args.no_fsdp
    cfg.ddp.data_parallel_sharding_strategy = "no_shard"  # decides: MFSDP301
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.train.train_iters = args.iters
    pretrain(cfg, forward_step)  # launch


def main():
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--no-fsdp", action="store_true")
    parser = argparse.ArgumentParser()
    sub = parser.add_subparsers(dest="command", required=True)
    for name in COMMANDS:
        each = sub.add_parser(name, parents=[shared])
        each.add_argument("--iters", type=int, default=10)
    args = parser.parse_args()
    COMMANDS[args.command](args)


if __name__ == "__main__":
    main()
