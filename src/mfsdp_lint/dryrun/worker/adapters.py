"""Adapters on a model whose weights stay as they are: put in before the model is wrapped, as the launcher does."""

import os
from collections.abc import Callable
from typing import Any


def prepare(config: Any, base: str | None, at: Callable[[str], None]) -> None:
    """Make the provider put the adapters in, after the model's weights were read from `base`; `at` is told when they
    are.

    Without a base, nothing is read: validation insists on a place for the weights, which are the proxy's own.
    """
    from megatron.bridge.training.setup import _apply_peft_transformation

    if base is not None:
        _read_first(config, base, at)
        return

    config.checkpoint.pretrained_checkpoint = os.getcwd()
    config.model.register_pre_wrap_hook(lambda model: _apply_peft_transformation(config.peft, model))


def _read_first(config: Any, base: str, at: Callable[[str], None]) -> None:
    """Make the launcher's own hook read the base, and put the adapters in."""
    from megatron.bridge.training.setup import _create_peft_pre_wrap_hook
    from megatron.bridge.training.state import GlobalState

    state = GlobalState()
    state.cfg = config
    config.checkpoint.pretrained_checkpoint = base
    launchers = _create_peft_pre_wrap_hook(config, state)

    def hook(model: Any) -> Any:
        at("load")
        with_adapters = launchers(model)
        at("wrap")
        return with_adapters

    config.model.register_pre_wrap_hook(hook)
