"""A variant's settings as a worker takes them: what is known of them, as plain values.

Values for what nobody knows of a model whose sizes come from the hub, where what is known of it asks for one.

Validation would else refuse a correct recipe for a default that its model does not have, and experts would never run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import Known, NotNone, OneOf, Unknown
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.rules.judging.configuration import CONFIGURATION, variant_of

_EXPERTS_A_RANK = 2
_QUICK_GELU = "<function megatron.core.fusions.fused_bias_geglu.quick_gelu>"


def stand_ins(settings: PlainSettings, unknown: Collection[str]) -> Mapping[str, Any]:
    """Return values for some of the unknown paths, such as go together with the settings that are known."""
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


_FACTS = ("run.", "startup.", "write.")
_BY_NAME = ("model.__class__", "peft.__class__", WORLD_SIZE)
"""What is known of a variant, and only told to who asks for it."""


@dataclass(frozen=True, slots=True)
class Given:
    """The settings that are known, and the paths of those of which it is known that there is something to know.

    `stood_in` are values for some of the unknown ones, which the settings have as well.
    """

    settings: Mapping[str, Any]
    unknown: tuple[str, ...]
    world_size: int
    stood_in: Mapping[str, Any] = field(default_factory=dict)


def given(variant: Variant, *, defaults: bool = True) -> Given:
    """Return the settings of a variant that a worker can be given; without `defaults`, only those that somebody wrote.

    Where the number of ranks is not set, there are two replicas of the model, if its batch can be divided so.
    """
    settings: dict[str, Any] = {}
    unknown = []
    sections = {path.partition(".")[0] for path in variant.settings if "." in path}
    for path in variant.settings:
        if not defaults and (origin := variant.origin(path)) is not None and origin.how == "default":
            continue
        match variant.value(path):
            case Known(value) if not path.startswith(_FACTS) and _is_json(value):
                settings[path] = value
            case NotNone() if "." not in path and path in sections:
                continue  # a section, of which the fields tell
            case Unknown() | OneOf() | NotNone() if not path.startswith(_FACTS):
                unknown.append(path)
            case _:
                continue
    for path in _BY_NAME if defaults else ():
        match variant.value(path):
            case Known(str() | int() as value):
                settings[path] = value
    stood_in = stand_ins(settings, unknown)
    settings |= stood_in
    return Given(settings, tuple(unknown), world_size(variant, settings), stood_in)


def world_size(variant: Variant, settings: Mapping[str, Any]) -> int:
    """Return the number of ranks that the settings are for."""
    match variant.value(WORLD_SIZE):
        case Known(int() as ranks) if not isinstance(ranks, bool):
            return ranks
    sizes = {name: _size(settings, f"model.{name}_parallel_size") for name in ("tensor_model", "pipeline_model")}
    tensor, pipeline = sizes["tensor_model"], sizes["pipeline_model"]
    dense = tensor * _size(settings, "model.context_parallel_size")
    experts = _size(settings, "model.expert_model_parallel_size") * _size(
        settings, "model.expert_tensor_parallel_size", tensor
    )
    replica = pipeline * math.lcm(dense, experts) * _size(settings, "ddp.num_distributed_optimizer_instances")
    batches = _size(settings, "train.micro_batch_size") * (2 * replica // (pipeline * dense))
    return replica if _size(settings, "train.global_batch_size", batches) % batches else 2 * replica


def _size(settings: Mapping[str, Any], path: str, default: int = 1) -> int:
    value = settings.get(path)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def recipe_of(settings: Mapping[str, Any], name: str = CONFIGURATION) -> Recipe:
    """Make a recipe of a mapping of settings. Raises NotAConfiguration."""
    return Recipe(name, name, name, 1, "overrides", (variant_of(settings),))
