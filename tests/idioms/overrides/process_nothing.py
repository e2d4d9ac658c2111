# idiom: the override helper without overrides
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def same():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return process_config_with_overrides(cfg, cli_overrides=[])
