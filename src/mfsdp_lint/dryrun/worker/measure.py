"""What a rank holds: bytes, sums and digests, for plain tensors, DTensors and the buffers of Megatron-FSDP."""

import hashlib
from collections.abc import Iterator
from typing import Any


def local(tensor: Any) -> Any:
    """The part of a tensor that this rank has."""
    return getattr(tensor, "_local_tensor", tensor)


def sizes(model: Any, optimizer: Any) -> dict[str, int]:
    """Bytes for weights to compute with, main weights, gradients, and the optimizer's moments.

    Buffers are counted where there are any, for parameters are swapped between whole and sharded.
    """
    found = {"weights": 0, "main": 0, "gradients": 0}
    for chunk in model:
        buffers = getattr(chunk, "param_and_grad_buffer", None)
        if buffers is not None:
            for group in buffers.parameter_groups:
                found["weights"] += _bytes(group, "model_weight_buffer")
                found["main"] += _bytes(group, "main_weight_buffer")
                found["gradients"] += _bytes(group, "main_grad_buffer")
        elif isinstance(getattr(chunk, "buffers", None), list):
            for buffer in (*chunk.buffers, *chunk.expert_parallel_buffers):
                found["gradients"] += _size(buffer.grad_data)
                found["weights"] += _size(buffer.param_data)
            if not found["weights"]:
                found["weights"] = sum(_size(parameter) for parameter in chunk.parameters())
        else:
            found["weights"] += sum(_size(local(parameter)) for parameter in chunk.parameters())
    found["moments"] = sum(_size(local(value)) for _, state in _states(optimizer) for value in _moments(state))
    return found


def _bytes(group: Any, name: str) -> int:
    return _size(getattr(getattr(group, name, None), "data", None))


def _size(tensor: Any) -> int:
    return 0 if tensor is None else int(tensor.numel() * tensor.element_size())


def total(optimizer: Any) -> float:
    """The sum of the absolute values of all weights that this rank steps."""
    return float(sum(local(parameter).detach().double().abs().sum().item() for parameter, _ in _states(optimizer)))


def digest(model: Any, optimizer: Any) -> dict[str, str]:
    """What the weights, and the optimizer's own, are to the bit. Its count of steps is left out."""
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
    """Zero moments for what has none, in the order of the parameters.

    torch's Adam keeps none for a parameter of which a rank has an empty part, unlike the fused Adam of a GPU; then the
    ranks would list different keys while saving, and wait for each other for ever.
    """
    import torch

    for inner in _inner(optimizer):
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


def _inner(optimizer: Any) -> Iterator[Any]:
    for part in getattr(optimizer, "chained_optimizers", [optimizer]):
        inner = getattr(part, "optimizer", None)
        if inner is not None:
            yield inner


def _states(optimizer: Any) -> Iterator[tuple[Any, Any]]:
    for inner in _inner(optimizer):
        for group in inner.param_groups:
            for parameter in group["params"]:
                yield parameter, inner.state.get(parameter, {})


def _moments(state: Any) -> Iterator[Any]:
    for name in sorted(state):
        if name != "step" and hasattr(state[name], "numel"):
            yield state[name]
