# idiom: the type of the configuration is imported for checking only
from __future__ import annotations

from typing import TYPE_CHECKING

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

if TYPE_CHECKING:
    from megatron.bridge.training.config import ConfigContainer


def recipe() -> ConfigContainer:  # recipe
    cfg: ConfigContainer = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
