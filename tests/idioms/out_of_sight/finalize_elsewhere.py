# idiom: a function of a package that is not there finishes the configuration
# outside: company_tools
from company_tools.training import finalize
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg = finalize(cfg)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
