# idiom: two trainings started through a helper of the same file
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def launch(cfg, name):
    cfg.logger.wandb_exp_name = name
    pretrain(cfg, forward_step)


def small():  # recipe
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


def large():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    return cfg


def main():
    launch(small(), "small")  # launch
    launch(large(), "large")  # launch


if __name__ == "__main__":
    main()
