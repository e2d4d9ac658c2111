# idiom: flags of an enum.Flag, some of them taken out again
# versions: >=0.3,<0.5
import enum

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Feature(enum.Flag):
    NONE = 0
    FSDP = enum.auto()
    OFFLOAD = enum.auto()
    RECOMPUTE = enum.auto()
    MEMORY = OFFLOAD | RECOMPUTE


def build(features):
    cfg = llama3_8b_pretrain_config()
    if Feature.FSDP in features:
        cfg.ddp.use_megatron_fsdp = True
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    if features & Feature.RECOMPUTE:
        cfg.model.recompute_granularity = "full"
        cfg.model.recompute_method = "uniform"
        cfg.model.recompute_num_layers = 1
    if Feature.OFFLOAD in features:
        cfg.model.cpu_offloading = True
    return cfg


def lean():  # recipe
    return build((Feature.FSDP | Feature.MEMORY) & ~Feature.OFFLOAD)
