from team.common.fsdp import apply
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():
    return apply(llama3_8b_pretrain_config())
