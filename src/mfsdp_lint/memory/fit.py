"""The question whether a recipe fits the memory of a GPU, and changes that would make it fit.

A proposal is a list of changes of settings, the cheapest kind first: more sharding, recomputation, smaller
micro-batches, more ranks for a model. Each is judged by the rules: one that start-up, or building the model, would
refuse is not proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.settings import With
from mfsdp_lint.core.values import Plain
from mfsdp_lint.memory.estimate import GIB, Answer, Fit, Footprint, Limit, Memory, MemoryOf, Proposal
from mfsdp_lint.memory.facts import STRATEGIES, SettingFacts

_CLOSE = 0.9
"""The part of the memory from which on what is not counted may decide."""


def fit_of(footprint: Footprint, limit: Limit) -> tuple[Fit, str]:
    """Tell whether a footprint fits, and why."""
    state, needed = footprint.total.bytes, footprint.needed.bytes
    if state is not None and state > limit.bytes:
        return "does not fit", f"model state alone is {_size(state)}"
    if needed is None:
        return "not known", footprint.needed.why
    if needed > limit.bytes:
        return "does not fit", f"{_size(needed)} by the estimate"
    if needed > _CLOSE * limit.bytes:
        return "close", f"{_size(needed)} by the estimate, and what is not counted"
    return "fits", f"{_size(needed)} by the estimate"


def _size(number: int) -> str:
    return f"{number / GIB:.1f} GiB"


IsRefused = Callable[[Recipe], frozenset[str]]
"""Returns the codes of the rules by which start-up, or building the model, refuses a recipe."""


def answer(recipe: Recipe, memory: Memory, limit: Limit, memory_of: MemoryOf, refused_by: IsRefused) -> Answer:
    """Tell whether a recipe fits, and what would make it fit."""
    if memory.own is None:
        return Answer("not known", limit, memory.why or memory.own_why or "how the model is wrapped is not known")
    fit, why = fit_of(memory.own, limit)
    if fit != "does not fit" and memory.count is not None and memory.count.without:
        # What is counted may be the smaller part of what a rank holds.
        return Answer("not known", limit, f"{why}, without {memory.count.without}")
    if fit in ("fits", "not known"):
        return Answer(fit, limit, why)
    return Answer(fit, limit, why, tuple(_proposals(recipe, memory.own, limit, memory_of, refused_by)))


_MOST_PROPOSALS = 3


def _proposals(
    recipe: Recipe, now: Footprint, limit: Limit, memory_of: MemoryOf, refused_by: IsRefused
) -> list[Proposal]:
    """Return the cheapest changes after which a recipe fits: single ones, else what several do together."""
    already = refused_by(recipe)
    found: list[Proposal] = []
    best: dict[str, Plain] = {}
    least = now.needed.bytes

    def outcome(changes: Mapping[str, Plain]) -> tuple[Fit, int] | None:
        changed = _with(recipe, changes)
        memory = memory_of(changed)
        if not _divides(changed, memory.ranks) or refused_by(changed) - already:
            return None
        own = memory.own
        if own is None or own.needed.bytes is None or (memory.count is not None and memory.count.without):
            return None
        return fit_of(own, limit)[0], own.needed.bytes

    close: list[Proposal] = []
    for change in _changes(recipe):
        after = outcome(change)
        if after is None:
            continue
        if after[0] in ("fits", "close"):
            (found if after[0] == "fits" else close).append(Proposal(tuple(change.items()), after[1], after[0]))
        if len(found) == _MOST_PROPOSALS:
            break
        if not found:
            # Kinds that help, though none is enough, are added up.
            together = outcome(best | change) if best else after
            if together is not None and (least is None or together[1] < least):
                best, least = best | change, together[1]
                if together[0] == "fits":
                    found.append(Proposal(tuple(best.items()), together[1], together[0]))
    return found or close[:1]


def _with(recipe: Recipe, changes: Mapping[str, Plain]) -> Recipe:
    variants = tuple(replace(each, settings=With.known(each.settings, changes)) for each in recipe.variants)
    return replace(recipe, variants=variants)


def _divides(recipe: Recipe, ranks: int | None) -> bool:
    """Tell whether sizes divide as Megatron asks (megatron-core 0.16.1, transformer/transformer_config.py:924,
    transformer/moe/moe_layer.py:75, num_microbatches_calculator.py:479; megatron/training/arguments.py:818). Whether
    layers divide among stages is asked where they are counted.
    """
    known = SettingFacts(recipe.variants[0].settings).known

    def size(path: str) -> int:
        number = known(path)
        return number if isinstance(number, int) and number > 0 else 1

    tensor, context = size("model.tensor_model_parallel_size"), size("model.context_parallel_size")
    replicas = (ranks or 1) // (tensor * context * size("model.pipeline_model_parallel_size"))
    asked = (
        ("model.num_attention_heads", tensor),
        ("model.num_moe_experts", size("model.expert_model_parallel_size")),
        ("model.seq_length", 2 * context if context > 1 else 1),
        ("train.global_batch_size", max(replicas, 1) * size("train.micro_batch_size")),
    )
    return all(size(path) % by == 0 for path, by in asked if size(path) > 1)


def _changes(recipe: Recipe) -> Iterator[dict[str, Plain]]:
    """Yield changes of a recipe's settings, the cheapest kind first."""
    known = SettingFacts(recipe.variants[0].settings).known
    strategy = known("ddp.data_parallel_sharding_strategy")
    if known("ddp.use_megatron_fsdp") and strategy in STRATEGIES:
        for stronger in STRATEGIES[STRATEGIES.index(str(strategy)) + 1 :]:
            yield {"ddp.data_parallel_sharding_strategy": stronger}
    elif not known("ddp.use_megatron_fsdp") and not known("ddp.use_distributed_optimizer"):
        yield {"ddp.use_distributed_optimizer": True, "optimizer.use_distributed_optimizer": True}
    if known("model.recompute_granularity") is None:
        yield {"model.recompute_granularity": "selective"}
    if known("model.recompute_granularity") != "full":
        yield {
            "model.recompute_granularity": "full",
            "model.recompute_method": "uniform",
            "model.recompute_num_layers": 1,
        }
    batch = known("train.micro_batch_size")
    if isinstance(batch, int):
        while batch > 1 and batch % 2 == 0:
            batch //= 2
            yield {"train.micro_batch_size": batch}
    for path in (
        "model.tensor_model_parallel_size",
        "model.context_parallel_size",
        "model.expert_model_parallel_size",
        "model.pipeline_model_parallel_size",
    ):
        size = known(path)
        if isinstance(size, int) and not (path.startswith("model.expert") and known("model.num_moe_experts") is None):
            more: dict[str, Plain] = {path: size * 2}
            if path == "model.tensor_model_parallel_size":
                more["model.sequence_parallel"] = True
            yield more
