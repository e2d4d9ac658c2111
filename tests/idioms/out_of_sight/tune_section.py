# idiom: one section is given to a function that is not there
# outside: company_tools
from company_tools.training import tune
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def tune_ddp(cfg):
    tune(cfg, overlap=False)


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    tune_ddp(cfg)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
