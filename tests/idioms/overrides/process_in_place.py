# idiom: the override helper's result is not used, for it changes the configuration in place
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    process_config_with_overrides(cfg, cli_overrides=["ddp.use_megatron_fsdp=True", "train.train_iters=5"])  # decides: MFSDP101
    return cfg
