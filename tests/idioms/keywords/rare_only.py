# idiom: a recipe that writes nothing but the profiling section
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import ProfilingConfig


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.profiling = ProfilingConfig(use_nsys_profiler=True, profile_step_start=5, profile_step_end=8)
    return cfg
