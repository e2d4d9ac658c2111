# idiom: a NamedTuple of parallel sizes
from typing import NamedTuple

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Layout(NamedTuple):
    tp: int = 1
    pp: int = 1
    fsdp: bool = False


def laid_out():  # recipe
    cfg = llama3_8b_pretrain_config()
    layout = Layout()._replace(tp=2, fsdp=True)  # decides: MFSDP101
    cfg.model.tensor_model_parallel_size, cfg.model.pipeline_model_parallel_size, cfg.ddp.use_megatron_fsdp = layout
    return cfg
