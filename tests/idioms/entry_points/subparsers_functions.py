# idiom: sub-parsers, each with set_defaults(fn=…)
# versions: >=0.3,<0.5
# argv: fsdp
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def run_ddp(args):
    print(llama3_8b_pretrain_config().model)


def run_fsdp(args):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = args.format
    pretrain(cfg, forward_step)  # launch


def make_parser():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    ddp = commands.add_parser("ddp")
    ddp.set_defaults(fn=run_ddp)
    fsdp = commands.add_parser("fsdp", aliases=["shard"])
    fsdp.add_argument("--format", default="torch_dist")  # decides: MFSDP101
    fsdp.set_defaults(fn=run_fsdp)
    return parser


if __name__ == "__main__":
    args = make_parser().parse_args()
    args.fn(args)
