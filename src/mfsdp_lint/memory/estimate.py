"""A recipe → what its model state costs on each rank, however it is wrapped."""

from __future__ import annotations

from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.recipe import Recipe, Settings, Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.memory.counting import counted, given
from mfsdp_lint.memory.facts import Facts, NotKnown
from mfsdp_lint.memory.formulas import Case, Ranks
from mfsdp_lint.memory.layout import Layout, layout_of
from mfsdp_lint.memory.precision import Precision
from mfsdp_lint.memory.result import Amount, Count, Footprint, Given, Memory
from mfsdp_lint.memory.sources import LEFT_OUT, sources_of
from mfsdp_lint.memory.wrappings import Wrapped, Wrapping, wrapping_of, wrappings
from mfsdp_lint.startup.resolve import WORLD_SIZE, resolve
from mfsdp_lint.versions.target import Target

_HYBRID = 2
"""Instances of hybrid sharding where a recipe has no more than one."""


def memory(recipe: Recipe, target: Target, ranks: int | None = None, parameters: Given | None = None) -> Memory:
    """The bytes of a recipe's model state on the rank that has most of it, by its settings as they will run.

    `ranks` is the number of ranks, `parameters` how many the model has, where somebody says so. What a setting that is
    not known decides is not known, and says which setting that is; the same where the recipe's paths differ.
    """
    found = [_of(variant, recipe.front_end, target, ranks, parameters) for variant in recipe.variants]
    return _joined(found)


def _of(variant: Variant, front_end: FrontEnd, target: Target, ranks: int | None, parameters: Given | None) -> Memory:
    settings = resolve(variant, target, ranks, front_end=front_end).run.settings
    facts = Facts(settings)
    said = settings.value(WORLD_SIZE)
    if ranks is None and isinstance(said, Known) and isinstance(said.value, int):
        ranks = said.value
    sources = sources_of(target)
    try:
        layout = layout_of(facts)
        count = _count(parameters, facts, settings, layout, target)
    except NotKnown as reason:
        return Memory(ranks, None, None, None, str(reason), (), sources, LEFT_OUT)
    own, own_why = _own(facts)
    instances = own.instances if own and own.instances > 1 else _HYBRID
    footprints = tuple(
        _footprint(variant, front_end, target, Ranks(ranks, layout), count, each, each == own)
        for each in wrappings(instances)
    )
    return Memory(ranks, *_shards(layout, ranks), count, "", footprints, sources, LEFT_OUT, own_why)


def _count(parameters: Given | None, facts: Facts, settings: Settings, layout: Layout, target: Target) -> Count:
    try:
        return given(parameters, facts, layout) if parameters else counted(facts, settings, layout, target)
    except NotKnown as reason:
        raise NotKnown(f"parameters: {reason}{'' if parameters else ' (--parameters)'}") from None


def _footprint(
    variant: Variant,
    front_end: FrontEnd,
    target: Target,
    ranks: Ranks,
    count: Count,
    wrapping: Wrapping,
    runs: bool,
) -> Footprint:
    """One way of wrapping. Start-up sees it, for what else it sets depends on it."""
    wrapped = replace(variant, settings=Wrapped(variant.settings, wrapping))
    run = resolve(wrapped, target, ranks.world, front_end=front_end).run
    precision = Precision(Facts(run.settings), wrapping.kind, target.core)
    return Case(wrapping, count, ranks, precision).footprint(runs)


def _own(facts: Facts) -> tuple[Wrapping | None, str]:
    """How the recipe itself is wrapped, or why that is not known."""
    try:
        return wrapping_of(facts), ""
    except NotKnown as reason:
        return None, str(reason)


def _shards(layout: Layout, ranks: int | None) -> tuple[int | None, int | None]:
    try:
        return (None, None) if ranks is None else (layout.shards(ranks), layout.expert_shards(ranks))
    except NotKnown:
        return None, None


# -- several paths through a recipe -----------------------------------------------------------------------------------

_DIFFERS = "the paths through the recipe differ in it"


def _joined(found: list[Memory]) -> Memory:
    """What holds on every path."""
    first, *others = found
    if all(each == first for each in others):
        return first
    count = first.count if all(each.count == first.count for each in others) else None
    if count is None:
        why = first.why if all(each.why == first.why for each in others) else "the number of parameters: " + _DIFFERS
        return replace(first, count=None, shards=None, expert_shards=None, why=why, footprints=())
    if any([each.key for each in other.footprints] != [each.key for each in first.footprints] for other in others):
        return replace(first, footprints=(), why="how the model is wrapped: " + _DIFFERS)
    rows = zip(*(each.footprints for each in found), strict=True)
    footprints = tuple(_same(row) for row in rows)
    own_why = "" if any(each.runs for each in footprints) else first.own_why or _DIFFERS
    return replace(first, footprints=footprints, own_why=own_why)


def _same(row: tuple[Footprint, ...]) -> Footprint:
    parameters, gradients, main, states = (
        _agreed(tuple(each.amounts[part][1] for each in row)) for part in range(len(row[0].amounts))
    )
    return Footprint(row[0].key, row[0].label, all(each.runs for each in row), parameters, gradients, main, states)


def _agreed(amounts: tuple[Amount, ...]) -> Amount:
    first = amounts[0]
    return first if all(each == first for each in amounts) else Amount(None, why=_DIFFERS)
