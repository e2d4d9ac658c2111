"""Formulas of a layer of Mamba (Mamba 2: `mamba_ssm`'s references), for a few tokens on a CPU."""

from typing import Any


def convolved_scan(
    projected: Any,
    weight: Any,
    bias: Any,
    step_bias: Any,
    decay: Any,
    D: Any,  # noqa: N803  # as callers name it
    *,
    headdim: int | None,
    ngroups: int,
    **_: Any,
) -> Any:
    """Compute a gate, a causal convolution and a scan of the projection's output: batch, length, gate + x + B + C +
    step.
    """
    import torch
    import torch.nn.functional as functional

    heads = step_bias.shape[0]
    width = headdim or D.shape[1]
    inner = heads * width
    batch, length, _all = projected.shape
    gate, mixed, step = torch.split(projected, [inner, weight.shape[0], heads], dim=-1)
    mixed = functional.conv1d(
        functional.pad(mixed.transpose(1, 2), (weight.shape[1] - 1, 0)),
        weight.unsqueeze(1),
        bias,
        groups=weight.shape[0],
    )
    mixed = functional.silu(mixed.transpose(1, 2))
    states = (weight.shape[0] - inner) // 2
    x, into, out = torch.split(mixed, [inner, states, states], dim=-1)
    x = x.reshape(batch, length, heads, width).float()
    into, out = (
        each.reshape(batch, length, ngroups, -1).repeat_interleave(heads // ngroups, dim=2).float()
        for each in (into, out)
    )
    step = functional.softplus(step.float() + step_bias)
    state = x.new_zeros(batch, heads, width, into.shape[-1])
    found = []
    for token in range(length):
        now = step[:, token, :, None, None]
        state = state * torch.exp(now * decay[:, None, None]) + now * x[:, token, :, :, None] * into[:, token, :, None]
        found.append((state * out[:, token, :, None]).sum(-1))
    result = torch.stack(found, dim=1) + x * (D.float()[:, None] if D.dim() == 1 else D.float())
    result = result.reshape(batch, length, inner).to(projected.dtype)
    return result * functional.silu(gate)


def norm(module: Any) -> type:
    """Make the norm behind the scan, with a sharded state as megatron-core gives it."""
    import torch

    theirs = module.ExtendedRMSNorm

    class Norm(torch.nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
        def __init__(self, size: int, eps: float = 1e-5, **keywords: Any) -> None:
            super().__init__()
            dtype, device = keywords.get("dtype"), keywords.get("device")
            self.weight = torch.nn.Parameter(torch.ones(size, dtype=dtype, device=device))
            self.eps = eps

        def forward(self, x: Any, gate: Any = None) -> Any:
            x = x if gate is None else x * torch.nn.functional.silu(gate)
            return torch.nn.functional.rms_norm(x, x.shape[-1:], self.weight, self.eps)

        sharded_state_dict = getattr(theirs, "sharded_state_dict", None)

    return Norm
