"""Overrides: writes to a recipe's settings from outside, after the recipe's own writes, as a launcher would.

They lie over the settings of every variant, whichever reader these came from, and each has an origin of its own: a
piece of the text that writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import NamedWrite, Obstacle, Origin, Recipe, Setting, Settings, Undeclared, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Value
from mfsdp_lint.megatron.vocabulary import SETTINGS, table

ENVIRONMENT = "env."


@dataclass(frozen=True, slots=True)
class SettingOverride:
    """A setting's new value, and where it is written."""

    path: str
    value: Value
    origin: Origin


def override(recipe: Recipe, overrides: Sequence[SettingOverride]) -> Recipe:
    """Apply overrides to a recipe, in their order: of two for one setting the later one counts.

    A variable of the environment is there when a program starts: a recipe that sets the variable keeps its own value.
    """
    if not overrides:
        return recipe

    def under(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        return tuple(replace(each, settings=OverriddenSettings(each.settings, _over(each))) for each in variants)

    def _over(variant: Variant) -> list[SettingOverride]:
        return [each for each in overrides if each.origin.how != "environment" or each.path not in variant.settings]

    return replace(recipe, variants=under(recipe.variants), exposed=under(recipe.exposed))


class OverriddenSettings(Layer):
    """Settings of a recipe under overrides; `below` are its own."""

    __slots__ = ("_gone", "_own", "_written")

    def __init__(self, below: Settings, overrides: Sequence[SettingOverride]) -> None:
        super().__init__(below)
        self._written: dict[str, Setting] = {}
        self._own: dict[str, tuple[Origin, ...]] = {}
        """The writes of this layer."""
        self._gone: list[str] = []
        """Beginnings of the paths whose section was replaced."""
        for each in overrides:
            self._apply(each)

    def _apply(self, each: SettingOverride) -> None:
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


_ALIKE = 0.85
"""How much alike a misspelt name and the right one are."""


def of_bridge(writes: Iterable[NamedWrite]) -> tuple[NamedWrite, ...]:
    """Return the writes to entries of sections; empty where most of them are nothing like a setting of Bridge.

    Another program may have a section `model` as well. An object that is made where it is written (`_target_`) has the
    names of its own class.
    """
    inside = [each for each in writes if "." in each.path and not each.path.startswith(ENVIRONMENT)]
    made = tuple(each.path.removesuffix("__class__") for each in inside if each.path.endswith(".__class__"))
    named = [each for each in inside if not each.path.startswith(made)]
    right = [_is_setting(each.path) for each in named]
    # Comparing names takes long: no more of them than it takes to know.
    others = (each.path for each, is_right in zip(named, right, strict=True) if not is_right)
    strange = islice((path for path in others if not _is_like_setting(path)), sum(right), None)
    return tuple(named) if next(strange, None) is None else ()


def is_misspelt(path: str) -> bool:
    """Tell whether a path is no setting, but nearly that of a setting that decides how a run is sharded."""
    return not _is_setting(path) and bool(nearest(path, SETTINGS, cutoff=_ALIKE))


def _is_setting(path: str) -> bool:
    """Tell whether any version has the setting."""
    section, name = path.split(".")[:2]
    return name in table().every_field(section)


def _is_like_setting(path: str) -> bool:
    """Tell whether a path may be meant for a setting."""
    section, name = path.split(".")[:2]
    return _is_setting(path) or bool(nearest(name, table().every_field(section), cutoff=_ALIKE)) or is_misspelt(path)
