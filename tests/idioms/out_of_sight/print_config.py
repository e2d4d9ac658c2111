# idiom: the configuration is printed before the launch
from pprint import pprint

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    print(cfg.ddp)
    pprint(cfg)
    print(f"training with {cfg!r}")
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
