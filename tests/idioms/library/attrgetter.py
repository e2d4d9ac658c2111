# idiom: a section reached by operator.attrgetter
from operator import attrgetter

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    for section, name, value in [("ddp", "use_megatron_fsdp", True)]:  # decides: MFSDP101
        setattr(attrgetter(section)(cfg), name, value)
    return cfg
