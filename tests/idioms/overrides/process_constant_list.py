# idiom: a list of overrides kept at the top of the module
# versions: >=0.3
from megatron.bridge.recipes.qwen import qwen3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides

FSDP = [
    "ddp.use_megatron_fsdp=true",  # decides: MFSDP101
    "ddp.average_in_collective=false",
]


def sharded():  # recipe
    return process_config_with_overrides(qwen3_8b_pretrain_config(), cli_overrides=FSDP)
