# idiom: a SimpleNamespace that is changed before it is read
from types import SimpleNamespace

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

knobs = SimpleNamespace(fsdp=False, tp=1)
knobs.fsdp = True  # decides: MFSDP101


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = knobs.fsdp
    cfg.model.tensor_model_parallel_size = knobs.tp
    return cfg
