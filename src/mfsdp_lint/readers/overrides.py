"""Overrides: writes to a recipe's settings from outside, after the recipe's own writes, as a launcher would.

They lie over the settings of every variant, whichever reader these came from, and each has an origin of its own: a
piece of the text that writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mfsdp_lint.core.recipe import Obstacle, Origin, Recipe, Setting, Settings, Undeclared, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Value

ENVIRONMENT = "env."


@dataclass(frozen=True, slots=True)
class Override:
    """A setting's new value, and where it is written."""

    path: str
    value: Value
    origin: Origin


def override(recipe: Recipe, overrides: Sequence[Override]) -> Recipe:
    """Apply overrides to a recipe, in their order: of two for one setting the later one counts.

    A variable of the environment is there when a program starts: a recipe that sets the variable keeps its own value.
    """
    if not overrides:
        return recipe

    def under(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        return tuple(replace(each, settings=OverriddenSettings(each.settings, _over(each))) for each in variants)

    def _over(variant: Variant) -> list[Override]:
        return [each for each in overrides if each.origin.how != "environment" or each.path not in variant.settings]

    return replace(recipe, variants=under(recipe.variants), exposed=under(recipe.exposed))


class OverriddenSettings(Layer):
    """Settings of a recipe under overrides; `below` are its own."""

    __slots__ = ("_gone", "_own", "_written")

    def __init__(self, below: Settings, overrides: Sequence[Override]) -> None:
        super().__init__(below)
        self._written: dict[str, Setting] = {}
        self._own: dict[str, tuple[Origin, ...]] = {}
        """The writes of this layer."""
        self._gone: list[str] = []
        """What paths begin with whose section was replaced."""
        for each in overrides:
            self._apply(each)

    def _apply(self, each: Override) -> None:
        for section in reversed(list(_sections(each.path))):
            here = self.get(section)
            # Whatever a section was, it holds something now.
            if here is None or here.value == NONE:
                self._write(section, NOT_NONE, each.origin)
        hidden = each.path + "."
        for path in [path for path in self._written if path.startswith(hidden)]:
            del self._written[path], self._own[path]
        self._gone.append(hidden)
        self._write(each.path, each.value, each.origin)

    def _write(self, path: str, value: Value, origin: Origin) -> None:
        earlier = self.origin(path)
        origin = replace(origin, earlier=earlier, order=earlier.order + 1 if earlier else 0)
        self._written[path] = Setting(path, value, origin)
        self._own[path] = (*self._own.get(path, ()), origin)

    def get(self, path: str) -> Setting | None:
        found = self._written.get(path)
        if found is not None:
            return found
        return None if self._hidden(path) else self.below.get(path)

    def value(self, path: str) -> Value:
        found = self._written.get(path)
        if found is not None:
            return found.value
        return UNKNOWN if self._hidden(path) else self.below.value(path)

    def obstacle(self, path: str) -> Obstacle | None:
        return None if path in self._written or self._hidden(path) else self.below.obstacle(path)

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Return the writes of the recipe, then the overrides."""
        below = [] if self._hidden(path) else self.below.history(path)
        return [*below, *((path, each) for each in self._own.get(path, ()))]

    def undeclared(self) -> tuple[Undeclared, ...]:
        """Return the recipe's undeclared settings, without those in a section that an override replaces."""
        return tuple(each for each in self.below.undeclared() if not self._hidden(each.path))

    def _hidden(self, path: str) -> bool:
        return any(path.startswith(gone) for gone in self._gone)

    def __iter__(self) -> Iterator[str]:
        yield from (path for path in self.below if path in self)
        yield from (path for path in self._written if path not in self.below)


def _sections(path: str) -> Iterator[str]:
    """Yield the sections above a path, the innermost first: `a.b`, then `a`, for `a.b.c`."""
    while "." in path:
        path = path.rpartition(".")[0]
        if path != ENVIRONMENT.rstrip("."):
            yield path
