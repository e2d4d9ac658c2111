"""The settings of a variant as they are at each point of a run; start-up is worked out where a rule asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.conditions.applicability import Site
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.conditions.nodes import Node
from mfsdp_lint.megatron.startup import StartupStep, startup
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE, Resolution, after, resolve
from mfsdp_lint.rules.model import STEP_VIEW, Sees


@dataclass(frozen=True, slots=True)
class Clause:
    """An arm of a condition, and the settings in it."""

    node: Node
    paths: frozenset[str]


class Views:
    """A variant at one site."""

    __slots__ = ("_at_steps", "_changeable", "_resolution", "open", "site", "written")

    def __init__(self, written: Variant, site: Site) -> None:
        self.open: list[Clause] = []
        """Clauses that were asked and are not decided."""
        self.written = written
        self.site = site
        self._changeable: frozenset[str] | None = None
        self._resolution: Resolution | None = None
        self._at_steps: dict[Sees, Variant] = {}

    def of(self, sees: Sees) -> Variant:
        """Return the settings that a case looks at."""
        match sees:
            case "written":
                return self.written
            case "validation":
                return self.resolution.validation
            case "run":
                return self.resolution.run
        if sees not in self._at_steps:
            steps = steps_until(sees, self.site)
            self._at_steps[sees] = after(steps, self.written, self._world_size())
        return self._at_steps[sees]

    @property
    def changeable(self) -> frozenset[str]:
        """The settings that may be something else in the other views than what is written."""
        if self._changeable is None:
            self._changeable = changeable(self.written, self.site)
        return self._changeable

    @property
    def resolution(self) -> Resolution:
        """The settings after start-up."""
        if self._resolution is None:
            self._resolution = resolve(
                self.written, self.site.target, self._world_size(), front_end=self.site.front_end
            )
        return self._resolution

    def _world_size(self) -> int | None:
        match self.written.value(WORLD_SIZE):
            case Known(int() as ranks) if not isinstance(ranks, bool):
                return ranks
            case _:
                return None


@dataclass(frozen=True, slots=True)
class _Effect:
    """A step of start-up from afar: when it is taken, and all that it may write."""

    when: Condition | None
    asks: frozenset[str]
    writes: frozenset[str]
    spread: tuple[str, str] | None


@cache
def steps_until(sees: Sees, site: Site) -> tuple[StartupStep, ...]:
    """Return the steps up to the view `before STEP` or `after STEP`; none if start-up has no such step."""
    match = STEP_VIEW.fullmatch(sees)
    steps = startup(site.target, site.front_end)
    places = [number for number, step in enumerate(steps) if match and step.name == match[2]]
    if match is None or not places:
        return ()
    return steps[: places[0]] if match[1] == "before" else steps[: places[-1] + 1]


def changeable(variant: Variant, site: Site) -> frozenset[str]:
    """Collect the settings that start-up may change in a variant: a superset of those it does, and far cheaper."""
    found: frozenset[str] = frozenset()
    for effect in _effects(site):
        if effect.when and found.isdisjoint(effect.asks) and effect.when.truth(variant) is False:
            continue
        found |= effect.writes
        if effect.spread:
            source, section = effect.spread
            given = variant.value(source)
            if isinstance(given, Known) and isinstance(given.value, dict):
                found |= {f"{section}.{name}" for name in given.value}
    return found


@cache
def _effects(site: Site) -> tuple[_Effect, ...]:
    return tuple(
        _Effect(step.when, step.when.paths() if step.when else frozenset(), frozenset(_writes([step])), step.spread)
        for step in startup(site.target, site.front_end)
    )


def _writes(steps: Sequence[StartupStep]) -> Iterator[str]:
    for step in steps:
        yield from (path for path, _ in (*step.writes, *step.copies))
        yield from _writes(step.steps)
