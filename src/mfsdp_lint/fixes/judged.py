"""What a project comes to, as proofs see it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.requests import FixRequest
from mfsdp_lint.fixes.ways import Breaks, Broken


@dataclass(frozen=True, slots=True)
class Judged:
    """What reading and judging the project gave: the recipes, what they break, which files cannot be read.

    `requests` are the findings that should be fixed, of the safety that is wanted. `breaks` judges further recipes.
    `users` are files that nobody asked for, and that use what may be edited. `unprovable`: there may be more of them
    than can be looked at, so that no fix can be proved.
    """

    recipes: Sequence[Recipe]
    broken: Sequence[Broken]
    requests: Sequence[FixRequest] = ()
    unreadable: Sequence[str] = ()
    breaks: Breaks = lambda recipes: ()
    users: Sequence[str] = ()
    unprovable: bool = False


Evaluate = Callable[[Mapping[str, str]], Judged]
"""Reads and judges the project with other texts for some of its files (by path)."""

Widen = Callable[[Judged, Mapping[str, str], Collection[str]], Judged]
"""What the project with other texts came to, together with everybody who uses some files of it."""
