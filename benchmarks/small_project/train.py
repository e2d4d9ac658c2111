import argparse

from megatron.bridge.training.pretrain import pretrain
from team.llama import llama


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", action="store_true")
    parser.add_argument("--pp", type=int, default=1)
    args = parser.parse_args()
    cfg = llama(fsdp=args.fsdp)
    cfg.model.pipeline_model_parallel_size = args.pp
    pretrain(cfg, None)


if __name__ == "__main__":
    main()
