"""torch FSDP2, switched on in a helper that two recipes share: one cause, and one finding that names both."""

from megatron.bridge.recipes.qwen import qwen25_7b_pretrain_config
from megatron.bridge.training.config import ConfigContainer


def _shard(cfg: ConfigContainer) -> None:
    cfg.dist.use_torch_fsdp2 = True


def qwen25_7b_fsdp2() -> ConfigContainer:
    """Qwen 2.5 7B with sequences of 4096 tokens."""
    cfg = qwen25_7b_pretrain_config()
    _shard(cfg)
    return cfg


def qwen25_7b_fsdp2_long() -> ConfigContainer:
    """Qwen 2.5 7B with sequences of 16384 tokens."""
    cfg = qwen25_7b_pretrain_config()
    _shard(cfg)
    cfg.model.seq_length = 16384
    cfg.dataset.seq_length = 16384
    return cfg
