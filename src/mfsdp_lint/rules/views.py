"""The settings of a variant as they are at each point of a run; start-up is worked out where a rule asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from mfsdp_lint.conditions.applicability import Site
from mfsdp_lint.conditions.language import Condition
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.rules.model import Sees
from mfsdp_lint.startup.resolve import WORLD_SIZE, Resolution, resolve
from mfsdp_lint.startup.steps import Step, startup


class Views:
    """One variant, at one site."""

    __slots__ = ("_changeable", "_resolution", "site", "written")

    def __init__(self, written: Variant, site: Site) -> None:
        self.written = written
        self.site = site
        self._changeable: frozenset[str] | None = None
        self._resolution: Resolution | None = None

    def of(self, sees: Sees) -> Variant:
        """The settings that a case looks at."""
        match sees:
            case "written":
                return self.written
            case "validation":
                return self.resolution.validation
            case "run":
                return self.resolution.run

    @property
    def changeable(self) -> frozenset[str]:
        """The settings that may be something else in the other views than what is written."""
        if self._changeable is None:
            self._changeable = changeable(self.written, self.site)
        return self._changeable

    @property
    def resolution(self) -> Resolution:
        """What start-up makes of it."""
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


def changeable(variant: Variant, site: Site) -> frozenset[str]:
    """The settings that start-up may change in a variant: more than it does, and far cheaper to say."""
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


def _writes(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        yield from (path for path, _ in (*step.writes, *step.copies))
        yield from _writes(step.steps)
