"""Measurements and observations of a run on a rank.

Bytes, sums and digests hold for plain tensors, DTensors and the buffers of Megatron-FSDP. An Observer reports the fate
of settings, those of them that were read, and the objects that were built:

    after.PATH   a value that replaced another one, in the configuration or in the environment (env.NAME)
    read.PATH    whether Megatron's code asked for a setting that is watched
    buffers      the class that FSDP has its buffers from
    scaled       whether FSDP scales gradients in front of every reduction

A question to upstream's own objects is left out where a version does not have them.
"""

import copy
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any


def local(tensor: Any) -> Any:
    """Return the part of a tensor that this rank has."""
    return getattr(tensor, "_local_tensor", tensor)


def sizes(model: Any, optimizer: Any) -> dict[str, int]:
    """Count the bytes of weights to compute with, main weights, and the optimizer's moments.

    Buffers are counted where there are any, for parameters are swapped between whole and sharded.
    """
    main = sum(_first(group, "main_weight_buffer") for chunk in model for group in _fsdp(chunk))
    # The copies that Megatron's mixed-precision optimizers keep: of whole weights, or of this rank's part.
    names = ("fp32_from_float16_groups", "shard_fp32_from_float16_groups")
    groups = (group for part in _parts(optimizer) for name in names for group in getattr(part, name, None) or ())
    main += sum(_size(local(parameter)) for group in groups for parameter in group if parameter is not None)
    moments = sum(_size(local(value)) for _, state in _states(optimizer) for value in _moments(state))
    return {"weights": sum(map(_weights, model)), "main": main, "moments": moments}


def gradients(model: Any) -> int:
    """Count the bytes of the gradients, after they were added up and before the optimizer takes them."""
    found = 0
    for chunk in model:
        if buffers := _fsdp(chunk):
            found += sum(_first(group, "hsdp_gbuf", "hfsdp_helper_gbuf", "main_grad_buffer") for group in buffers)
        elif buffers := _ddp(chunk):
            found += sum(_size(buffer.grad_data) for buffer in buffers)
        else:
            found += sum(_size(local(parameter.grad)) for parameter in chunk.parameters())
    return found


def _weights(chunk: Any) -> int:
    if buffers := _fsdp(chunk):
        # The buffer of a group, where Megatron-FSDP shards; with HSDP the instance's buffer contains it.
        names = ("hsdp_wbuf", "hfsdp_helper_wbuf", "model_weight_buffer")
        return sum(_first(group, *names) or sum(_size(local(each)) for each in group.params) for group in buffers)
    whole = sum(_size(buffer.param_data) for buffer in _ddp(chunk))
    return whole or sum(_size(local(parameter)) for parameter in chunk.parameters())


def _fsdp(chunk: Any) -> list[Any]:
    """Return the groups of parameters that Megatron-FSDP keeps in buffers; none with anything else."""
    buffers = getattr(chunk, "param_and_grad_buffer", None)
    return [] if buffers is None else list(buffers.parameter_groups)


def _ddp(chunk: Any) -> list[Any]:
    """Return the buffers of Megatron's DDP; none with anything else."""
    buffers = getattr(chunk, "buffers", None)
    return [*buffers, *chunk.expert_parallel_buffers] if isinstance(buffers, list) else []


def _first(group: Any, *names: str) -> int:
    """Count the bytes of the first of these buffers that there is."""
    data = (getattr(getattr(group, name, None), "data", None) for name in names)
    return next((_size(each) for each in data if each is not None), 0)


def _size(tensor: Any) -> int:
    return 0 if tensor is None else int(tensor.numel() * tensor.element_size())


def total(optimizer: Any) -> float:
    """Sum the absolute values of all weights that this rank steps."""
    return float(sum(local(parameter).detach().double().abs().sum().item() for parameter, _ in _states(optimizer)))


def digest(model: Any, optimizer: Any) -> dict[str, str]:
    """Digest the weights, and the optimizer's own, to the bit. Its count of steps is left out."""
    weights, moments = hashlib.sha256(), hashlib.sha256()
    for chunk in model:
        for name, parameter in sorted(chunk.named_parameters()):
            _put(weights, name, parameter)
    for parameter, state in _states(optimizer):
        _put(moments, "", parameter)
        for value in _moments(state):
            _put(moments, "", value)
    return {"weights": weights.hexdigest()[:16], "optimizer": moments.hexdigest()[:16]}


def _put(into: Any, name: str, tensor: Any) -> None:
    into.update(name.encode())
    # A copy: an array on the tensor's own storage would pin it, and the next step resizes it.
    into.update(local(tensor).detach().float().clone().cpu().numpy().tobytes())


def fill_moments(optimizer: Any) -> None:
    """Fill in zero moments for parameters that have none, in the order of the parameters.

    torch's Adam keeps none for a parameter of which a rank has an empty part; then the ranks would list different keys
    while saving, and wait for each other for ever. Transformer Engine's keeps some for all, and no step with them.
    """
    import torch

    for inner in _inner(optimizer):
        if not isinstance(inner, (torch.optim.Adam, torch.optim.AdamW)):
            continue
        step = next((state["step"] for state in inner.state.values() if "step" in state), torch.zeros(()))
        filled = {}
        for group in inner.param_groups:
            for parameter in group["params"]:
                filled[parameter] = inner.state.get(parameter) or {
                    "step": step.clone() if hasattr(step, "clone") else step,
                    "exp_avg": torch.zeros_like(parameter),
                    "exp_avg_sq": torch.zeros_like(parameter),
                }
        inner.state.clear()
        inner.state.update(filled)


def _inner(optimizer: Any) -> list[Any]:
    return [part.optimizer for part in _parts(optimizer) if getattr(part, "optimizer", None) is not None]


def _parts(optimizer: Any) -> list[Any]:
    return list(getattr(optimizer, "chained_optimizers", [optimizer]))


def _states(optimizer: Any) -> Iterator[tuple[Any, Any]]:
    for inner in _inner(optimizer):
        for group in inner.param_groups:
            for parameter in group["params"]:
                yield parameter, inner.state.get(parameter, {})


def _moments(state: Any) -> Iterator[Any]:
    for name in sorted(state):
        if name != "step" and hasattr(state[name], "numel"):
            yield state[name]


SCALARS = (bool, int, float, str, type(None))
_UPSTREAM = "megatron"


def plain_settings(config: Any) -> dict[str, Any]:
    """Return the settings of a configuration that are plain values."""
    found = {}
    for section, part in vars(config).items():
        for name, value in getattr(part, "__dict__", {}).items():
            if isinstance(value, SCALARS) and not name.startswith("_"):
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
    return {**plain_settings(config), **{f"env.{name}": value for name, value in os.environ.items()}}


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
