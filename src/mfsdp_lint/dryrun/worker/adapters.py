"""Adapters on a model whose weights stay as they are: put in before the model is wrapped, as the launcher does."""

import os
from typing import Any


def prepare(config: Any) -> None:
    """Has the provider put them in.

    Validation insists on a place for the model's weights, which are the proxy's own: nothing is read there.
    """
    from megatron.bridge.training.setup import _apply_peft_transformation

    config.checkpoint.pretrained_checkpoint = os.getcwd()
    config.model.register_pre_wrap_hook(lambda model: _apply_peft_transformation(config.peft, model))
