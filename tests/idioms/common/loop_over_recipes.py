# idiom: every recipe of a list is launched
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    for base in (llama32_1b_pretrain_config, llama3_8b_pretrain_config):
        cfg = base()
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
