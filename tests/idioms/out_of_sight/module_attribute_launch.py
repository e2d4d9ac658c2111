# idiom: the launcher is reached through its module
from megatron.bridge.training import gpt_step
from megatron.bridge.training import pretrain as training
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    training.pretrain(config=cfg, forward_step_func=gpt_step.forward_step)  # launch


if __name__ == "__main__":
    main()
