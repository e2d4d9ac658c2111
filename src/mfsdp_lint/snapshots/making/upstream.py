"""Upstream's source as the makers of a snapshot see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.snapshots.making.bounds import Bounds

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upstream:
    """The evaluator, the modules of the release, and the bounds of their functions."""

    machine: Machine
    modules: Mapping[str, Module]
    bounds: Bounds


def quietly(machine: Machine, work: Callable[[], T]) -> T | None:
    """Return the result of some work at the evaluator; None if it cannot be computed."""
    try:
        return work()
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        return None
    finally:
        machine.finish()


def is_summarised(module: str) -> bool:
    """Tell whether the functions of a module are worth a summary: Megatron-Core's build models, not configurations."""
    return module.startswith("megatron.bridge")
