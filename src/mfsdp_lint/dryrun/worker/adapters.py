"""Adapters on a model whose weights stay as they are: put in before the model is wrapped, as the launcher does."""

from typing import Any

_SOMEWHERE = "/dry-run/pretrained"
"""A place for weights that validation insists on. Nothing is there: the proxy's own weights are the model's."""


def prepare(config: Any) -> None:
    """Has the provider put them in."""
    from megatron.bridge.training.setup import _apply_peft_transformation

    config.checkpoint.pretrained_checkpoint = config.checkpoint.pretrained_checkpoint or _SOMEWHERE
    config.model.register_pre_wrap_hook(lambda model: _apply_peft_transformation(config.peft, model))
