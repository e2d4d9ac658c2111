"""CPU offloading on a recipe whose pipeline parallelism is set upstream, out of sight."""

from megatron.bridge.recipes.llama import llama3_70b_pretrain_config
from megatron.bridge.training.config import ConfigContainer


def llama3_70b_offload() -> ConfigContainer:
    """Llama 3 70B with the activations of ten layers kept in host memory."""
    cfg = llama3_70b_pretrain_config()
    cfg.model.cpu_offloading = True
    cfg.model.cpu_offloading_num_layers = 10
    return cfg
