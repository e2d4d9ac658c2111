# idiom: a launcher starts the worker with subprocess; the worker is where the mistake is
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--strategy", default="optim_grads_params", choices=["no_shard", "optim", "optim_grads_params"])
    p.add_argument("--fsdp", default=False, action=argparse.BooleanOptionalAction)
    return p.parse_args()


def main():
    args = parse()
    cfg = llama3_8b_pretrain_config()
    if args.fsdp:
        cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = args.strategy
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
