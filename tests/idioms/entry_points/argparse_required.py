# idiom: a required option beside a switch for FSDP
# argv: --data /data/wiki
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--fsdp", type=int, default=1)  # decides: MFSDP101
    args = parser.parse_args()
    cfg = llama3_8b_pretrain_config()
    cfg.dataset.blend = ([args.data], None)
    cfg.ddp.use_megatron_fsdp = bool(args.fsdp)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
