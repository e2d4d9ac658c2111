# idiom: the launcher is a parameter
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def start(launcher, cfg):
    cfg.logger.log_interval = 1
    launcher(cfg, forward_step)


def main():
    first = llama3_8b_pretrain_config()
    first.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    start(pretrain, first)  # launch
    second = llama3_8b_pretrain_config()
    second.dist.use_tp_pp_dp_mapping = True
    start(finetune, second)  # launch


if __name__ == "__main__":
    main()
