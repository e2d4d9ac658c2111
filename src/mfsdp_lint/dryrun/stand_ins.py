"""Values for what nobody knows of a model whose sizes come from the hub, where what is known of it asks for one.

Validation would else refuse a correct recipe for a default that its model does not have, and experts would never run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from mfsdp_lint.dryrun.outcome import PlainSettings

_EXPERTS_A_RANK = 2
_QUICK_GELU = "<function megatron.core.fusions.fused_bias_geglu.quick_gelu>"


def stand_ins(settings: PlainSettings, unknown: Collection[str]) -> Mapping[str, Any]:
    """Values for some of the unknown paths, such as go together with the settings that are known."""
    asked = ((path, asks(settings)) for path, asks in _ASKED.items() if path in unknown and path not in settings)
    return {path: value for path, value in asked if value is not None}


def _experts(settings: PlainSettings) -> int | None:
    spread = settings.get("model.expert_model_parallel_size")
    return spread * _EXPERTS_A_RANK if isinstance(spread, int) and spread > 1 else None


def _score_function(settings: PlainSettings) -> str | None:
    return "sigmoid" if settings.get("model.moe_router_enable_expert_bias") else None


def _activation(settings: PlainSettings) -> str | None:
    return _QUICK_GELU if settings.get("model.glu_linear_offset") else None


def _gated(settings: PlainSettings) -> bool | None:
    return True if settings.get("model.glu_linear_offset") else None


def _attention_frequency(settings: PlainSettings) -> int | None:
    return 4 if settings.get("model.experimental_attention_variant") == "gated_delta_net" else None


_ASKED: Mapping[str, Callable[[PlainSettings], Any]] = {
    "model.num_moe_experts": _experts,
    "model.moe_router_score_function": _score_function,
    "model.activation_func": _activation,
    "model.gated_linear_unit": _gated,
    "model.linear_attention_freq": _attention_frequency,
}
"""What a setting has to be for the sake of others: a function of these, None where they ask for nothing."""
