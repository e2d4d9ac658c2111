"""The story of one value: every write in order, what it overwrote, and what is left in the end."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Origin, Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, UNKNOWN, Value
from mfsdp_lint.megatron.startup.resolve import Change, resolve
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.readers.overrides import ENVIRONMENT


@dataclass(frozen=True, slots=True)
class Step:
    """A write of the setting itself, or of the section that it is in (`path` says which)."""

    path: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Story:
    """History of one setting on some execution paths of a recipe.

    `when` has the conditions of each of these paths; it is empty if the story is the same on all. `remark` has a fact
    that the steps cannot show: no file writes the setting, or its section is None. `startup` are the framework's
    changes to it.
    """

    path: str
    value: Value
    steps: tuple[Step, ...]
    when: tuple[tuple[str, ...], ...] = ()
    remark: str = ""
    startup: tuple[Change, ...] = ()


def stories(recipe: Recipe, path: str, target: Target) -> list[Story]:
    """Return the stories of a setting; several if it depends on the execution path."""
    told: dict[str, tuple[Story, list[tuple[str, ...]]]] = {}
    for variant in recipe.variants:
        changes = resolve(variant, target, front_end=recipe.front_end).changes
        startup = tuple(change for change in changes if change.path == path)
        story = replace(_story(recipe, variant, path), startup=startup)
        writes = [(step.path, step.origin.point, step.origin.value, step.origin.calls) for step in story.steps]
        told.setdefault(repr((story.value, story.remark, writes, startup)), (story, []))[1].append(variant.when)
    if len(told) == 1:
        return [story for story, _ in told.values()]
    return [replace(story, when=tuple(conditions)) for story, conditions in told.values()]


def _story(recipe: Recipe, variant: Variant, path: str) -> Story:
    setting = variant.settings.get(path)
    steps = _steps(variant, path)
    if setting is not None:
        return Story(path, setting.value, steps, remark="" if steps else "nobody is seen to write it")
    if path.startswith(ENVIRONMENT):
        return Story(
            path, UNKNOWN, (), remark="the recipe does not set it: what is in the environment of the launch counts"
        )
    section = path.rpartition(".")[0]
    while section and section not in variant.settings:
        section = section.rpartition(".")[0]
    if section and variant.value(section) == NONE:
        above = _steps(variant, section)
        return Story(path, UNKNOWN, above, remark=f"{section} is None, so there is no {path}")
    if recipe.partial:
        return Story(path, UNKNOWN, (), remark="nothing here writes it: what is overridden here decides")
    return Story(path, UNKNOWN, steps, remark=f"what {section or 'the configuration'} holds is not all known")


def _steps(variant: Variant, path: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    for written, origin in variant.settings.history(path):
        # `cfg.ddp = DdpConfig(x=1)` writes x, and then the section: one step is enough.
        if written == path or not steps or not _holds(origin.span, steps[-1].origin.span):
            steps.append(Step(written, origin))
    return tuple(steps)


def _holds(outer: Span, inner: Span) -> bool:
    start, end = (outer.line, outer.column), (outer.end_line, outer.end_column)
    return (
        outer.path == inner.path and start <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= end
    )
