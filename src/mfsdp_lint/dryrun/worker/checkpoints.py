"""Saving and loading, through Megatron-Bridge's own functions."""

import ast
import inspect
from typing import Any

from . import measure
from .calls import call
from .trainer import Trainer

_SKIPS = "skip_load_to_model_and_opt"


def save(trainer: Trainer, directory: str, step: int, *, short_lived: bool = False) -> None:
    """Save a model trained for so many steps; `short_lived`: as a checkpoint that is thrown away when the next one is
    there.
    """
    from megatron.bridge.training.checkpointing import save_checkpoint

    measure.fill_moments(trainer.optimizer)
    trainer.config.checkpoint.save = directory
    call(
        save_checkpoint,
        _state(trainer, step),
        trainer.model,
        trainer.optimizer,
        trainer.scheduler,
        0,
        checkpointing_context={},
        pg_collection=trainer.groups,
        non_persistent_ckpt=short_lived,
    )


def load(trainer: Trainer, directory: str) -> None:
    """Load a checkpoint into a model that was just built, as the launcher does."""
    from megatron.bridge.training.checkpointing import load_checkpoint

    measure.fill_moments(trainer.optimizer)
    trainer.config.checkpoint.load = directory
    call(
        load_checkpoint,
        _state(trainer, 0),
        trainer.model,
        trainer.optimizer,
        trainer.scheduler,
        checkpointing_context={},
        **{_SKIPS: _skips(trainer.config)},
    )


def loads_optimizer(config: Any) -> bool:
    """Tell whether a load gives the optimizer its state back."""
    return bool(config.checkpoint.load_optim and not config.checkpoint.finetune)


def _skips(config: Any) -> bool:
    """Tell whether the launcher counts the state that it has read as loaded already, as it says: versions do not agree
    on it.

    It is an expression of the configuration in the launcher's own call. Raises ImportError where there is none.
    """
    from megatron.bridge.training import setup

    for node in ast.walk(ast.parse(inspect.getsource(setup.setup))):
        if isinstance(node, ast.keyword) and node.arg == _SKIPS:
            return bool(eval(compile(ast.Expression(node.value), _SKIPS, "eval"), {"cfg": config}))
    raise ImportError(f"the launcher of this version does not say {_SKIPS}")


def _state(trainer: Trainer, step: int) -> Any:
    from megatron.bridge.training.state import GlobalState

    state = GlobalState()
    state.cfg = trainer.config
    state.train_state.step = step
    return state
