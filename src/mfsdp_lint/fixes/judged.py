"""Judgement of a project, as proofs need it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.requests import FixRequest
from mfsdp_lint.fixes.ways import Breaks, Broken


@dataclass(frozen=True, slots=True)
class Judged:
    """Result of reading and judging the project: its recipes, what they break, and the files that cannot be read.

    `requests` are the findings that should be fixed, of the wanted safety. `breaks` judges further recipes. `users`
    are files that were not named for linting but use files that are edited; `asked` is the judgement without them,
    where they are included, and `with_users` makes the one with them, which takes longer. `unprovable` says that there
    may be more such files than can be read, so that no fix can be proved.
    """

    recipes: Sequence[Recipe]
    broken: Sequence[Broken]
    requests: Sequence[FixRequest] = ()
    unreadable: Sequence[str] = ()
    breaks: Breaks = lambda recipes: ()
    users: Sequence[str] = ()
    asked: Judged | None = None
    with_users: Callable[[], Judged] | None = None
    unprovable: bool = False


Evaluate = Callable[[Mapping[str, str]], Judged]
"""Reads and judges the project with other texts for some of its files (by path)."""

Widen = Callable[[Judged, Mapping[str, str], Collection[str]], Judged]
"""Adds everybody who uses some files to the judgement of the project with other texts."""
