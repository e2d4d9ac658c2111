# idiom: the configuration is kept as a YAML file beside the run
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.to_yaml("run_config.yaml")
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
