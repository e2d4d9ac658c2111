"""Overrides of a recipe that is not at hand: which of their paths may be those of settings, right or misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import NamedWrite
from mfsdp_lint.megatron.vocabulary import SETTINGS, table
from mfsdp_lint.readers.overrides import ENVIRONMENT

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
    right = [_is_one(each.path) for each in named]
    # Comparing names takes long: no more of them than it takes to know.
    others = (each.path for each, is_right in zip(named, right, strict=True) if not is_right)
    strange = islice((path for path in others if not _is_like_one(path)), sum(right), None)
    return tuple(named) if next(strange, None) is None else ()


def is_misspelt(path: str) -> bool:
    """Tell whether a path is no setting, but nearly that of a setting that decides how a run is sharded."""
    return not _is_one(path) and bool(nearest(path, SETTINGS, cutoff=_ALIKE))


def _is_one(path: str) -> bool:
    """Tell whether any version has the setting."""
    section, name = path.split(".")[:2]
    return name in table().every_field(section)


def _is_like_one(path: str) -> bool:
    """Tell whether a path may be meant for a setting."""
    section, name = path.split(".")[:2]
    return _is_one(path) or bool(nearest(name, table().every_field(section), cutoff=_ALIKE)) or is_misspelt(path)
