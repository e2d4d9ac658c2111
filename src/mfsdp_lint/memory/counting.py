"""Numbers of parameters: the weights of a whole model of Megatron's, and of the rank that has most of them.

The layers that a model provider builds follow from its class, as far as the snapshot of its release describes it, and
from its settings; they are divided into pipeline stages. `layers` has the weights of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.megatron.layers import BUILDERS, LAYER_FUNCTIONS, MULTIMODAL, Beside, Layers
from mfsdp_lint.megatron.versions import Target, parse_range
from mfsdp_lint.memory.facts import NotModelled, RankGroups, SettingFacts
from mfsdp_lint.memory.layers import WAN_LAYER, Layer, ModelShape, Part, Split, Tensor, WanShape
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import shipped


@dataclass(frozen=True, slots=True)
class GivenParameters:
    """Parameters that somebody counted: of the whole model, and of those the ones in its experts, if that is known."""

    total: int
    experts: int | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """Number of parameters: in the whole model, and on the rank that has most of them.

    `dense` and `experts` are those of that rank before data parallelism shards them; `formula` explains the numbers.
    `layer` is the largest layer of that rank, and `loose` what is in none; None where nobody counted them. `without`
    names a part of the model that none of the numbers has in it.
    """

    total: int
    dense: int
    experts: int
    formula: tuple[str, ...] = ()
    layer: int | None = None
    loose: int | None = None
    without: str = ""


UNMODELLED = {
    "model.heterogeneous_block_specs": (False, None),
    **dict.fromkeys(("model.restore_modelopt_state", "model.use_mup", "model.use_kitchen"), (False, None)),
    "model.enable_hyper_connections": (False, None),
}
"""Settings that change which layers there are, with the values that are understood. A release need not have them."""


_MOST_LAYERS = 10_000
"""More than any model has; counting more would take too long."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The part of a model on one rank of a pipeline, in one or several pieces: its layers, the number of layers that
    predict further tokens, and whether the embedding and the output are in it.
    """

    layers: tuple[Layer, ...]
    predictions: int
    embedding: bool
    output: bool


def tensors_of(stage: Stage, shape: ModelShape, predicting: Sequence[Layer], pipeline: int) -> list[Tensor]:
    """Return the tensors of a stage, those of equal layers as one. `predicting` are the layers of each further token
    that is predicted. Raises NotModelled.
    """
    held = Counter(stage.layers)
    for layer in predicting:
        held[layer] += stage.predictions
    several = [(times, shape.layer(layer)) for layer, times in sorted(held.items()) if times]
    if stage.predictions:
        several.append((stage.predictions, shape.prediction()))
    if stage.embedding:
        several.append((1, shape.embedding()))
    if stage.output:
        several.append((1, shape.output()))
    tied = stage.output and shape.facts.on("model.share_embeddings_and_output_weights")
    if pipeline > 1 and not stage.embedding and (tied or stage.predictions):
        # A copy of the embedding, which the output layer, or another prediction, needs.
        several.append((1, iter([(shape.vocabulary() * shape.hidden, "tensor")])))
    return [(times * numbers, split) for times, tensors in several for numbers, split in tensors]


def _stages(
    facts: SettingFacts, layers: Sequence[Layer], pipeline: int, numbers: Sequence[int], predictions: int
) -> list[Stage]:
    """Divide layers into stages, `numbers` of them in each. Raises NotModelled."""
    pieces = facts.get("model.virtual_pipeline_model_parallel_size") if pipeline > 1 else None
    if isinstance(pieces, int) and pieces > 1 and len(set(layers)) > 1:
        if len(set(numbers)) > 1 or numbers[0] % pieces:
            raise NotModelled("layers of two kinds are interleaved over unequal pipeline stages: not modelled")
        piece = numbers[0] // pieces
        held = [
            tuple(layer for nth in range(pieces) for layer in layers[(nth * pipeline + rank) * piece :][:piece])
            for rank in range(pipeline)
        ]
    else:
        held = [tuple(layers[start:end]) for start, end in pairwise(accumulate(numbers, initial=0))]
    ends = range(pipeline)
    return [
        Stage(each, predictions if rank == ends[-1] else 0, rank == 0, rank == ends[-1])
        for rank, each in zip(ends, held, strict=True)
    ]


def _predictions(facts: SettingFacts) -> int:
    """Return the number of layers that predict further tokens. Raises NotModelled."""
    path = "model.mtp_num_layers"
    if not facts.has(path) or not any(facts.one_of(path)):
        return 0
    return facts.number(path)


_LAYOUT_SIGNS = {"E": "embedding", "t": "decoder", "m": "mtp", "L": "loss"}


def _stages_by_layout(layout: Plain, layers: Sequence[Layer], pipeline: int) -> list[Stage]:
    """Divide layers as a layout says: a list of pieces, or their signs (megatron-core 0.16.1,
    transformer/pipeline_parallel_layer_layout.py:30-80 and 200-241). Raises NotModelled.
    """
    if isinstance(layout, str):
        text = layout.replace(",", "")
        for repeated in (_REPEATED_PIECES, _REPEATED_SIGN):
            if sum(int(times) for _, times in repeated.findall(text)) > _MOST_LAYERS:
                raise NotModelled("model.pipeline_model_parallel_layout repeats too much")
            text = repeated.sub(lambda found: found[1] * int(found[2]), text)
        pieces = [[_LAYOUT_SIGNS.get(sign, sign) for sign in piece] for piece in text.split("|")]
    elif isinstance(layout, list) and all(isinstance(piece, list) for piece in layout):
        pieces = [[str(name).strip().lower() for name in piece] for piece in layout if isinstance(piece, list)]
    else:
        raise NotModelled(f"model.pipeline_model_parallel_layout is {layout!r}, which is not modelled")
    names = [name for piece in pieces for name in piece]
    if len(pieces) % pipeline or names.count("decoder") != len(layers) or set(names) - set(_LAYOUT_SIGNS.values()):
        raise NotModelled("model.pipeline_model_parallel_layout does not fit the model")
    left = iter(layers)
    held: list[list[Layer]] = [[] for _ in range(pipeline)]
    for number, piece in enumerate(pieces):
        held[number % pipeline] += [next(left) for name in piece if name == "decoder"]
    stages = []
    for rank, own in enumerate(held):
        here = [name for piece in pieces[rank::pipeline] for name in piece]
        stages.append(Stage(tuple(own), here.count("mtp"), "embedding" in here, "loss" in here))
    return stages


_REPEATED_PIECES = lazy_pattern(r"\(([^)]+)\)\*(\d+)")
_REPEATED_SIGN = lazy_pattern(r"(.)\*(\d+)")


def _gpt_layers(facts: SettingFacts, kind: Layers) -> list[Layer]:
    """Return the layers of a GPT. Raises NotModelled."""
    number = _number_of_layers(facts)
    latent = facts.on("model.multi_latent_attention")
    if latent and not kind.startswith("by layer"):
        raise NotModelled("model.multi_latent_attention is on, which the layers of this provider do not follow")
    usual: Part = "latent" if latent else "attention"
    mixers: list[Part] = [usual] * number
    variant = facts.if_any("model.experimental_attention_variant")
    if kind == "by layer and attention" and variant == "dsa" and latent:
        mixers = ["sparse" if each else usual for each in _indexed(facts, number)]
    elif kind == "by layer and attention" and variant == "gated_delta_net":
        linear = _pattern(facts, "model.linear_attention_freq", number, lambda layer, every: (layer + 1) % every != 0)
        mixers = ["delta" if each else usual for each in linear]
    elif variant is not None:
        raise NotModelled(f"model.experimental_attention_variant is {variant!r}, which is not modelled")
    experts = [False] * number
    if facts.get("model.num_moe_experts") is not None:
        experts = [True] * number
        if kind.startswith("by layer"):
            experts = _pattern(facts, "model.moe_layer_freq", number, lambda layer, every: layer % every == 0)
    return [(mixer, "experts" if each else "mlp") for mixer, each in zip(mixers, experts, strict=True)]


def _indexed(facts: SettingFacts, layers: int) -> list[bool]:
    """Tell for each layer with sparse attention whether it has an indexer, or uses that of a layer before it
    (megatron-core 0.19.0, transformer/experimental_attention_variant/dsa.py:37; before it, every layer has one).
    """
    every, first = (
        number if isinstance(number := facts.if_any(f"model.dsa_indexer_{name}"), int) and number > 0 else 1
        for name in ("topk_freq", "skip_topk_offset")
    )
    return [max(layer + 1 - first, 0) % every == 0 for layer in range(layers)]


def _predicting(facts: SettingFacts, kind: Layers, layers: Sequence[Layer]) -> Sequence[Layer]:
    """Return the layers of each further token that a GPT predicts: its last one. Raises NotModelled."""
    mixer, mlp = layers[-1]
    if mixer in ("sparse", "latent") and any(each[0] == "sparse" for each in layers):
        # They are numbered anew (megatron-core 0.19.0, transformer/multi_token_prediction.py:1036).
        if not all(_indexed(facts, _predictions(facts))):
            raise NotModelled("some layers that predict further tokens have no indexer: not modelled")
        mixer = "sparse"
    return [(mixer, "mlp" if kind == "by layer, predicts without experts" else mlp)]


def _number_of_layers(facts: SettingFacts) -> int:
    layers = facts.size("model.num_layers")
    if layers > _MOST_LAYERS:
        raise NotModelled(f"model.num_layers is {layers}, which is no number of layers")
    return layers


def _pattern(facts: SettingFacts, path: str, layers: int, among: Callable[[int, int], bool]) -> list[bool]:
    """Tell for each layer whether it is one of those that a setting names, by a frequency or by a list."""
    frequency = facts.get(path)
    if isinstance(frequency, int) and not isinstance(frequency, bool) and frequency > 0:
        return [among(layer, frequency) for layer in range(layers)]
    if isinstance(frequency, list) and len(frequency) == layers and all(each in (0, 1) for each in frequency):
        return [each == 1 for each in frequency]
    raise NotModelled(f"{path} is {frequency!r}, which is not modelled")


_HYBRID: dict[str, Layer] = {"M": ("mamba",), "*": ("attention",), "-": ("mlp",), "E": ("experts",)}
"""Layers by their signs in a pattern (megatron-core 0.16.1, ssm/mamba_hybrid_layer_allocation.py:20, and
models/mamba/mamba_layer_specs.py)."""
_STAGE, _PREDICTION = "|", "/"
"""Signs between stages, and before the layers of further predictions (core 0.17 and later)."""
_HYBRID_PREDICTS = parse_range(">=0.19")
"""Cores whose layers of further predictions were read."""


def _hybrid_layers(
    facts: SettingFacts, pipeline: int, core: str
) -> tuple[Sequence[Layer], list[Stage], Sequence[Layer]]:
    """Return the layers of a hybrid model, its stages, and the layers of each further token that it predicts. Raises
    NotModelled.
    """
    pattern = facts.if_any("model.hybrid_layer_pattern")
    if pattern is None:
        pattern = facts.if_any("model.hybrid_override_pattern")
    if not isinstance(pattern, str):
        raise NotModelled("no pattern names the layers of the hybrid model: not modelled")
    pattern, *further = pattern.split(_PREDICTION)
    predicted, predictions = _hybrid_predictions(facts, further)
    if predictions and core not in _HYBRID_PREDICTS:
        raise NotModelled("a hybrid model that predicts further tokens is not modelled before core 0.19")
    stages = pattern.split(_STAGE)
    if strange := set("".join(stages) + predicted) - _HYBRID.keys():
        raise NotModelled(f"layers {''.join(sorted(strange))!r} of the hybrid model are not modelled")
    layers = [_HYBRID[sign] for sign in "".join(stages)]
    if len(layers) > _MOST_LAYERS or not layers:
        raise NotModelled(f"a hybrid model has {len(layers)} layers, which is no number of layers")
    if len(stages) == 1:
        numbers = _layers_of_stages(facts, len(layers), pipeline)
    elif len(stages) == pipeline:
        numbers = [len(stage) for stage in stages]
    else:
        raise NotModelled(f"the pattern of layers has {len(stages)} stages, the pipeline {pipeline}: not modelled")
    return layers, _stages(facts, layers, pipeline, numbers, predictions), [_HYBRID[sign] for sign in predicted]


def _hybrid_predictions(facts: SettingFacts, further: Sequence[str]) -> tuple[str, int]:
    """Return the pattern of the layers that predict a further token, and how many times they are built: once, if all
    tokens share them. `further` is what the whole pattern says of them, else a setting of its own does
    (Megatron-Bridge 0.6.0, models/hybrid/hybrid_provider.py:193-231; megatron-core 0.19.0,
    transformer/multi_token_prediction.py:1733). Raises NotModelled.
    """
    own = facts.if_any("model.mtp_hybrid_override_pattern")
    times = _predictions(facts)
    if own is not None and not further:
        further = [str(own)] * times
    if not further and not times:
        return "", 0
    if not further or len(set(further)) > 1 or own not in (None, further[0]):
        raise NotModelled("no single pattern names the layers that predict further tokens: not modelled")
    return further[0], 1 if facts.if_any("model.mtp_use_repeated_layer") else len(further)


def _layers_of_stages(facts: SettingFacts, layers: int, pipeline: int) -> list[int]:
    """Count the layers of each stage (megatron-core 0.16.1, transformer_block.py:75, get_num_layers_to_build)."""
    if pipeline == 1:
        return [layers]
    first, last = (
        None if facts.get(path) is None else facts.number(path)
        for path in (f"model.num_layers_in_{end}_pipeline_stage" for end in ("first", "last"))
    )
    said = [each for each in (first, last) if each is not None]
    more = int(facts.on("model.account_for_embedding_in_pipeline_split"))
    final = int(facts.on("model.account_for_loss_in_pipeline_split"))
    between = pipeline - len(said)
    each, rest = divmod(layers - sum(said) + more + final, between) if between else (0, layers - sum(said))
    ends = (each - more if first is None else first, each - final if last is None else last)
    if rest or pipeline > layers + more + final or min(each, *ends) < 0:
        raise NotModelled(f"{layers} layers do not divide among {pipeline} pipeline stages")
    return [ends[0], *[each] * (pipeline - 2), ends[1]]


_SPECS = ("transformer_layer_spec", "mamba_stack_spec", "hybrid_stack_spec")


def kind_of_layers(facts: SettingFacts, settings: Settings, target: Target) -> tuple[Layers | None, Beside | None]:
    """Return the kind of layers that the model's provider builds, None for a hybrid model, and what it builds beside
    them. Raises NotModelled.
    """
    name = facts.get("model.__class__")
    snapshot = shipped(target.library)
    if not isinstance(name, str) or snapshot is None:
        raise NotModelled("model.__class__ is not known")
    classes = list(_classes(snapshot, name))
    provider = next((each for each, described in classes if "provide" in described.get("methods", {})), "")
    beside = MULTIMODAL.get(provider)
    builders = [BUILDERS[each] for each, _ in classes if each in BUILDERS]
    builder = BUILDERS.get(provider) if beside is None else next(iter(builders), None)
    if builder is None and beside is None:
        raise NotModelled(f"the layers of {name} are not modelled")
    if beside is not None and beside.layers is not None:
        return beside.layers, beside
    if builder == "wan":
        return "wan", None
    if builder == "hybrid":
        for spec in _SPECS[1:]:
            setting = settings.get(f"model.{spec}")
            if setting is not None and (setting.origin is None or setting.origin.how != "default"):
                raise NotModelled(f"the layers of {name} are not modelled (model.{spec} is its own)")
        return None, beside
    # The function that builds the layers is the recipe's, if it names one, else that of the class.
    spec = _SPECS[0]
    setting, function = settings.get(f"model.{spec}"), None
    if setting is not None and isinstance(setting.value, Known):
        function = str(setting.value.value).removeprefix("<function ").removesuffix(">")
    elif setting is not None and setting.origin is not None and setting.origin.how == "default":
        fields = (field for _, described in classes for field in described.get("fields", ()))
        function = next((_function(node) for field, node, *_ in fields if field == spec), None)
    if (layers := LAYER_FUNCTIONS.get(function or "")) is None:
        raise NotModelled(f"the layers of {name} are not modelled ({function or f'model.{spec} is its own'})")
    return layers, beside


def _function(node: Any) -> str | None:
    """Return the name of a function, or of a partial call's function."""
    match node:
        case ["ref", module, name]:
            return f"{module}.{name}"
        case ["partial", inner, *_]:
            return _function(inner)
        case _:
            return None


def _classes(snapshot: Snapshot, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a class and its bases, the nearest first, each with its description in the snapshot."""
    module, _, last = name.rpartition(".")
    if last not in (snapshot.names(module) or ()):
        return
    match snapshot.entry(module, last):
        case ["from", elsewhere, again]:
            yield from _classes(snapshot, f"{elsewhere}.{again}")
        case ["class", described]:
            yield name, described
            for base in described.get("bases", ()):
                if inherited := _function(base):
                    yield from _classes(snapshot, inherited)


def split_evenly(parameters: GivenParameters, facts: SettingFacts, layout: RankGroups) -> Count:
    """Split counted parameters evenly. Raises NotModelled if that requires the number of parameters in experts."""
    experts = parameters.experts
    if experts is None:
        # Where experts are split like the rest, it makes no difference.
        same = layout.expert == 1 and layout.expert_tensor == layout.tensor
        if not same and facts.get("model.num_moe_experts") is not None:
            raise NotModelled("how many are in experts is not known (--parameters TOTAL,EXPERTS)")
        experts = 0
    dense = parameters.total - experts
    by, among = layout.tensor * layout.pipeline, layout.expert_tensor * layout.expert * layout.pipeline
    said = [f"{parameters.total:,} parameters, as given"]
    if by > 1:
        said.append(f"split evenly by TP × PP: {dense:,} ÷ {by}")
    if experts:
        said.append(f"experts split evenly by ETP × EP × PP: {experts:,} ÷ {among}")
    return Count(parameters.total, -(-dense // by), -(-experts // among), tuple(said))


@dataclass(frozen=True, slots=True)
class Model:
    """A model as its settings describe it: the shape of its parts, its layers, and the stages that they are divided
    into; the layers of each further token that it predicts. `beside` names another model that the provider builds
    beside it, and that is not counted.
    """

    shape: ModelShape
    layers: Sequence[Layer]
    stages: Sequence[Stage]
    predicting: Sequence[Layer]
    beside: str = ""


def model_of(facts: SettingFacts, settings: Settings, layout: RankGroups, target: Target) -> Model:
    """Describe the model. Raises NotModelled."""
    kind, beside = kind_of_layers(facts, settings, target)
    for path, understood in UNMODELLED.items():
        if (value := facts.if_any(path)) not in understood:
            raise NotModelled(f"{path} is {value!r}, which is not modelled")
    _need_usual_layers(facts)
    layers, stages, predicting = _divided(facts, kind, layout.pipeline, target.core)
    if beside is None:
        shape_of = WanShape if kind == "wan" else ModelShape
        return Model(shape_of(facts, kind, target.core), layers, stages, predicting)
    if _predictions(facts) and target.core not in beside.predicts:
        raise NotModelled("model.mtp_num_layers is set, which this multimodal model does not heed")
    shape = ModelShape(facts, kind, target.core, target.core in beside.pads)
    return Model(shape, layers, stages, predicting, beside.what)


def _need_usual_layers(facts: SettingFacts) -> None:
    """Raise NotModelled where Transformer Engine's own layer has other weights than those of megatron-core: it heeds
    none of the settings asked here (Megatron-Bridge 0.3.1, models/gpt_full_te_layer_autocast_spec.py:184-208).
    """
    path = "model.use_transformer_engine_full_layer_spec"
    if not facts.if_any(path):
        return
    groups = facts.get("model.num_query_groups")
    usual = facts.on("model.add_bias_linear") and facts.get("model.normalization") == "LayerNorm"
    more = any(facts.get(f"model.{name}") for name in ("gated_linear_unit", "qk_layernorm", "num_moe_experts"))
    if not usual or more or groups not in (None, facts.get("model.num_attention_heads")):
        raise NotModelled(f"{path} is True, which is not modelled with these layers")


def count_parameters(model: Model, layout: RankGroups) -> Count:
    """Count parameters by the model's settings. Raises NotModelled."""
    shape, layers, stages = model.shape, model.layers, model.stages
    whole = Stage(tuple(layers), sum(stage.predictions for stage in stages), embedding=True, output=True)
    total = sum(size for size, _ in tensors_of(whole, shape, model.predicting, 1))
    held = [_held(tensors_of(stage, shape, model.predicting, layout.pipeline), layout) for stage in stages]
    fullest = max(range(len(held)), key=lambda stage: sum(held[stage]))
    told = [f"{total:,} parameters{' of the language model' if model.beside else ''}, by the model's settings"]
    if model.beside:
        told.append(f"{model.beside}: not counted")
    if (words := shape.published_words()) is not None:
        told.append(f"{words:,} words, as published for {shape.facts.known('tokenizer.tokenizer_model')}")
    rank, experts = sum(held[fullest]), held[fullest][1]
    if rank != total:
        splits = {"TP": layout.tensor, "PP": layout.pipeline}
        if experts:
            splits |= {"EP": layout.expert, "ETP": layout.expert_tensor}
        split = " × ".join(f"{name} {size}" for name, size in splits.items() if size > 1)
        of = f" of pipeline stage {fullest + 1} of {layout.pipeline}, the fullest" if layout.pipeline > 1 else ""
        told.append(f"{rank:,} on a rank{of}{f', {experts:,} of them in experts' if experts else ''} ({split})")
    sizes = {layer: sum(_held(list(shape.layer(layer)), layout)) for layer in set(stages[fullest].layers)}
    loose = rank - sum(sizes[layer] for layer in stages[fullest].layers)
    return Count(total, *held[fullest], tuple(told), max(sizes.values(), default=0), loose, model.beside)


def _divided(
    facts: SettingFacts, kind: Layers | None, pipeline: int, core: str
) -> tuple[Sequence[Layer], list[Stage], Sequence[Layer]]:
    """Return the layers, the stages that they are divided into, and the layers of each further token that is
    predicted. Raises NotModelled.
    """
    if kind is None:
        return _hybrid_layers(facts, pipeline, core)
    if kind == "wan":
        if pipeline > 1:
            raise NotModelled("Wan with several pipeline stages is not modelled")
        wan = [WAN_LAYER] * _number_of_layers(facts)
        return wan, _stages(facts, wan, 1, [len(wan)], 0), []
    layers = _gpt_layers(facts, kind)
    predicting = _predicting(facts, kind, layers)
    layout = facts.if_any("model.pipeline_model_parallel_layout") if pipeline > 1 else None
    if _predictions(facts) and facts.if_any("model.mtp_use_repeated_layer"):
        raise NotModelled("model.mtp_use_repeated_layer is on, which is not modelled")
    if layout is not None:
        return layers, _stages_by_layout(layout, layers, pipeline), predicting
    numbers = _layers_of_stages(facts, len(layers), pipeline)
    return layers, _stages(facts, layers, pipeline, numbers, _predictions(facts)), predicting


def _held(stage: Sequence[Tensor], layout: RankGroups) -> tuple[int, int]:
    """Count dense and expert parameters of a stage on one rank."""
    sums: Counter[Split] = Counter()
    for numbers, split in stage:
        sums[split] += numbers
    experts = -(-sums["expert"] // layout.expert) + -(-sums["expert tensor"] // (layout.expert * layout.expert_tensor))
    return sums["whole"] + -(-sums["tensor"] // layout.tensor), experts
