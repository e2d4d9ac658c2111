# idiom: an argparse action of the user's own gathers key=value pairs, with defaults
import argparse
import ast

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Pairs(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        found = dict(getattr(namespace, self.dest) or {})
        for pair in values:
            key, _, text = pair.partition("=")
            found[key] = ast.literal_eval(text)
        setattr(namespace, self.dest, found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", nargs="*", action=Pairs, default={}, dest="pairs")
    parser.add_argument("--fsdp", type=int, choices=(0, 1), default=1)  # decides: MFSDP101
    args = parser.parse_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = bool(args.fsdp)
    for key, value in args.pairs.items():
        section, name = key.split(".")
        setattr(getattr(cfg, section), name, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
