from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import ConfigContainer

from team import defaults
from team.sharding import shard


def base(fsdp: bool = False, pp: int = 1) -> ConfigContainer:
    cfg = llama3_8b_pretrain_config()
    cfg.model.pipeline_model_parallel_size = pp
    if fsdp:
        shard(cfg)
    cfg.checkpoint.save = "/results"
    return cfg


def _format(cfg) -> None:
    cfg.checkpoint.ckpt_format = defaults.FORMAT
