"""Observations of a run beside its numbers: the fate of its settings, those of them that were read, the objects that
were built.

    after.PATH   a value that replaced another one, in the configuration or in the environment (env.NAME)
    read.PATH    whether Megatron's code asked for a setting that is watched
    buffers      the class that FSDP has its buffers from
    scaled       whether FSDP scales gradients in front of every reduction

A question to upstream's own objects is left out where a version does not have them.
"""

import copy
import os
import sys
from collections.abc import Sequence
from typing import Any

_SCALARS = (bool, int, float, str, type(None))
_UPSTREAM = "megatron"


def plain(config: Any) -> dict[str, Any]:
    """Return the settings of a configuration that are plain values."""
    found = {}
    for section, part in vars(config).items():
        for name, value in getattr(part, "__dict__", {}).items():
            if isinstance(value, _SCALARS) and not name.startswith("_"):
                found[f"{section}.{name}"] = copy.copy(value)
    return found


class Observer:
    """Looks at a run from before its start-up on. `settings` are given, of which those in `watched` are watched."""

    def __init__(self, config: Any, settings: dict[str, Any], watched: Sequence[str]) -> None:
        self._config = config
        self._read = {path: _watch(config, path, settings) for path in watched}
        self._before = _settings(config)
        self._more: dict[str, Any] = {}

    def wrapped(self, model: Sequence[Any]) -> None:
        """Record the buffers that the wrapper made."""
        buffer = getattr(model[0], "param_and_grad_buffer", None)
        if buffer is not None:
            self._more["buffers"] = type(getattr(buffer, "weight_alloc", None)).__name__
            self._more["scaled"] = getattr(buffer, "gradient_scaling_factor", None) is not None

    def report(self) -> dict[str, Any]:
        """Return all observations."""
        after = _settings(self._config)
        changed = {path: value for path, value in after.items() if self._before.get(path, ...) != value}
        changed |= {path: None for path in self._before if path.startswith("env.") and path not in after}
        read = {f"read.{path}": bool(readers) for path, readers in self._read.items() if readers is not None}
        return {**{f"after.{path}": value for path, value in changed.items()}, **read, **self._more}


def _settings(config: Any) -> dict[str, Any]:
    return {**plain(config), **{f"env.{name}": value for name, value in os.environ.items()}}


def _watch(config: Any, path: str, settings: dict[str, Any]) -> set[str] | None:
    """Return the modules of upstream that ask for a setting, from now on. None where there is no such setting.

    A name that is no field is put there, as an assignment does.
    """
    section, _, name = path.partition(".")
    part = getattr(config, section, None)
    if part is None or (path not in settings and not hasattr(part, name)):
        return None
    readers: set[str] = set()
    vars(part).setdefault(name, settings.get(path, getattr(part, name, None)))
    setattr(type(part), name, _Watched(name, getattr(type(part), name, None), readers))
    return readers


class _Watched:
    """An attribute that takes down who asks for it.

    Those who ask for all are not meant: copies, and what a dataclass is compared and printed by, which has no file.
    """

    def __init__(self, name: str, default: Any, readers: set[str]) -> None:
        self._name, self._default, self._readers = name, default, readers

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self._default
        reader = sys._getframe(1)
        module = reader.f_globals.get("__name__", "")
        if module.partition(".")[0] == _UPSTREAM and not reader.f_code.co_filename.startswith("<"):
            self._readers.add(module)
        return vars(instance).get(self._name, self._default)

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self._name] = value
