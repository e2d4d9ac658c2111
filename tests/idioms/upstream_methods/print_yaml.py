# idiom: the configuration is printed as YAML
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config


def shown():  # recipe
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.print_yaml()
    return cfg
