"""How a model's layers fall into pipeline stages, and which of them have experts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.memory.facts import Facts, NotKnown

_MOST_LAYERS = 10_000
"""What has more is no model, and would take as long to count."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How many layers of each kind there are in a stage, and what else is there.

    `predictions` are the layers that predict further tokens, with experts if `predicts_with_experts`. The `first` stage
    has the embedding, the `last` one the output; `copies` is whether it has the embedding's weight once more.
    """

    dense: int
    experts: int
    first: bool = False
    last: bool = False
    predictions: int = 0
    predicts_with_experts: bool = False
    copies: bool = False


def whole_model(facts: Facts, by_layer: bool) -> Stage:
    """All of it, as it is on one rank. Raises NotKnown."""
    return _stages(facts, _kinds(facts, by_layer), 1)[0]


def stages_of(facts: Facts, by_layer: bool, pipeline: int) -> list[Stage]:
    """Every stage of a pipeline of so many; `by_layer`: settings say which layers have experts. Raises NotKnown."""
    return _stages(facts, _kinds(facts, by_layer), pipeline)


def _stages(facts: Facts, kinds: Sequence[bool], pipeline: int) -> list[Stage]:
    if pipeline > 1 and len(set(kinds)) > 1 and facts.get("model.virtual_pipeline_model_parallel_size") is not None:
        raise NotKnown("layers of two kinds are interleaved over pipeline stages: not modelled")
    predictions = facts.number("model.mtp_num_layers") if facts.if_any("model.mtp_num_layers") is not None else 0
    tied = facts.on("model.share_embeddings_and_output_weights")
    numbers = _layers_of_stages(facts, len(kinds), pipeline)
    stages = []
    for number, (start, end) in enumerate(pairwise(accumulate(numbers, initial=0))):
        experts, last = sum(kinds[start:end]), number == pipeline - 1
        stages.append(
            Stage(
                dense=end - start - experts,
                experts=experts,
                first=number == 0,
                last=last,
                predictions=predictions if last else 0,
                predicts_with_experts=kinds[-1],
                copies=last and pipeline > 1 and (tied or predictions > 0),
            )
        )
    return stages


def _kinds(facts: Facts, by_layer: bool) -> list[bool]:
    """Which layers have experts."""
    layers = facts.size("model.num_layers")
    if layers > _MOST_LAYERS:
        raise NotKnown(f"model.num_layers is {layers}, which is no number of layers")
    if facts.get("model.num_moe_experts") is None:
        return [False] * layers
    if not by_layer:
        return [True] * layers
    frequency = facts.get("model.moe_layer_freq")
    if isinstance(frequency, int) and not isinstance(frequency, bool) and frequency > 0:
        return [layer % frequency == 0 for layer in range(layers)]
    if isinstance(frequency, list) and len(frequency) == layers and all(each in (0, 1) for each in frequency):
        return [each == 1 for each in frequency]
    raise NotKnown(f"model.moe_layer_freq is {frequency!r}, which is not modelled")


def _layers_of_stages(facts: Facts, layers: int, pipeline: int) -> list[int]:
    """megatron-core 0.16.1, transformer/transformer_block.py:75 (get_num_layers_to_build)."""
    if pipeline == 1:
        return [layers]
    if facts.if_any("model.pipeline_model_parallel_layout") is not None:
        raise NotKnown("model.pipeline_model_parallel_layout is set, which is not modelled")
    first, last = (_if_said(facts, f"model.num_layers_in_{end}_pipeline_stage") for end in ("first", "last"))
    said = [each for each in (first, last) if each is not None]
    more = int(facts.on("model.account_for_embedding_in_pipeline_split"))
    final = int(facts.on("model.account_for_loss_in_pipeline_split"))
    between = pipeline - len(said)
    each, rest = divmod(layers - sum(said) + more + final, between) if between else (0, layers - sum(said))
    ends = (each - more if first is None else first, each - final if last is None else last)
    if rest or pipeline > layers + more + final or min(each, *ends) < 0:
        raise NotKnown(f"{layers} layers do not divide among {pipeline} pipeline stages")
    return [ends[0], *[each] * (pipeline - 2), ends[1]]


def _if_said(facts: Facts, path: str) -> int | None:
    return None if facts.get(path) is None else facts.number(path)
