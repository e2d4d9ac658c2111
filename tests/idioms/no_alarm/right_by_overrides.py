# idiom: overrides turn on FSDP with its checkpoint format
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides

FSDP = ["ddp.use_megatron_fsdp=true", "checkpoint.ckpt_format=fsdp_dtensor"]


def recipe():  # recipe
    return process_config_with_overrides(llama3_8b_pretrain_config(), cli_overrides=FSDP)
