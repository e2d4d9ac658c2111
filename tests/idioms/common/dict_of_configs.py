# idiom: a dictionary of configurations, of which one is launched
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    configs = {"small": llama32_1b_pretrain_config(), "large": llama3_8b_pretrain_config()}
    for cfg in configs.values():
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    pretrain(configs["large"], forward_step)  # launch


if __name__ == "__main__":
    main()
