"""Which layers a model provider builds, by its class: as far as the snapshot of its release says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.memory.facts import Facts, NotKnown
from mfsdp_lint.snapshots.knowledge import shipped
from mfsdp_lint.snapshots.snapshot import Snapshot
from mfsdp_lint.versions.target import Target

_GPT = "megatron.bridge.models.gpt_provider"
_SPEC = "transformer_layer_spec"

ONE_LAYER = frozenset(f"{_GPT}.{name}" for name in ("default_layer_spec", "transformer_engine_layer_spec"))
"""Functions that give one kind of layer for all, whatever model.moe_layer_freq and multi_latent_attention say."""
BLOCK = frozenset({"megatron.core.models.gpt.gpt_layer_specs.get_gpt_decoder_block_spec"})
"""Functions that give each layer its own kind."""


@dataclass(frozen=True, slots=True)
class Family:
    """How a model is put together: with `by_layer`, layers differ as settings say."""

    by_layer: bool


def family_of(facts: Facts, settings: Settings, target: Target) -> Family:
    """The family of the model that settings describe. Raises NotKnown where it is none whose weights are counted."""
    name = facts.get("model.__class__")
    snapshot = shipped(target.data)
    if not isinstance(name, str) or snapshot is None:
        raise NotKnown("model.__class__ is not known")
    classes = list(_classes(snapshot, name))
    builder = next((each for each, described in classes if "provide" in described.get("methods", {})), None)
    if builder != f"{_GPT}.GPTModelProvider":
        raise NotKnown(f"the layers of {name} are not modelled")
    return _family(_layers(settings, classes), name)


def _family(layers: str | None, name: str) -> Family:
    if layers in ONE_LAYER:
        return Family(by_layer=False)
    if layers in BLOCK:
        return Family(by_layer=True)
    raise NotKnown(f"the layers of {name} are not modelled ({layers or f'model.{_SPEC} is its own'})")


def _layers(settings: Settings, classes: list[tuple[str, Any]]) -> str | None:
    """The function that gives the layers: the recipe's, if it says one, else that of the class."""
    setting = settings.get(f"model.{_SPEC}")
    if setting is not None and isinstance(setting.value, Known):
        value = str(setting.value.value)
        return value.removeprefix("<function ").removesuffix(">")
    if setting is None or setting.origin is None or setting.origin.how != "default":
        return None
    for _, described in classes:
        for name, node, *_ in described.get("fields", ()):
            if name == _SPEC:
                return _function(node)
    return None


def _function(node: Any) -> str | None:
    """The name of a function, or of that which a partial call is of."""
    match node:
        case ["ref", module, name]:
            return f"{module}.{name}"
        case ["partial", inner, *_]:
            return _function(inner)
        case _:
            return None


def _classes(snapshot: Snapshot, name: str) -> Iterator[tuple[str, Any]]:
    """A class and those that it is derived from, the nearest first, with what the snapshot says of each."""
    module, _, last = name.rpartition(".")
    if last not in (snapshot.names(module) or ()):
        return
    entry = snapshot.entry(module, last)
    match entry:
        case ["from", elsewhere, again]:
            yield from _classes(snapshot, f"{elsewhere}.{again}")
        case ["class", described]:
            yield name, described
            for base in described.get("bases", ()):
                if inherited := _function(base):
                    yield from _classes(snapshot, inherited)
