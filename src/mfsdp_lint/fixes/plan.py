"""Plans for writing the settings that a finding's remedy names: several candidates, the most readable first.

The proof decides which of them really works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.finding import Edit, IsLinted
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import UNKNOWN, Known, Plain, Value, is_known_as
from mfsdp_lint.fixes.editor import ABSENT, Absent
from mfsdp_lint.fixes.edits import OverlapError, merge
from mfsdp_lint.fixes.placements import Job, Placement, Places, Texts
from mfsdp_lint.fixes.requests import FixRequest, Need
from mfsdp_lint.fixes.ways import Broken, is_unset

Strategy = Sequence[Placement]

STRATEGIES: tuple[Strategy, ...] = (
    ("decided", "handed on", "taken out", "in place", "argument here", "behind", "at the end", "argument"),
    ("handed on", "taken out", "in place", "argument here", "behind", "at the end", "argument"),
    ("taken out", "in place", "argument here", "behind", "at the end", "argument"),
    ("behind", "at the end"),
    ("in place where on", "taken out where on", "behind where on"),
    ("behind where on",),
    ("in place", "at the end", "argument"),
    ("at the end",),
    ("at the recipe's end",),
)
"""For each manner, the placements to try for every setting, in this order."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The ways in which a finding could be fixed, each a set of edits; none where there is no place to write.

    `manners` say which of the candidates each of the `STRATEGIES` comes to.
    """

    request: FixRequest
    candidates: tuple[tuple[Edit, ...], ...]
    manners: Mapping[int, int] = field(default_factory=dict)


def plan(
    requests: Sequence[FixRequest],
    recipes: Sequence[Recipe],
    texts: Texts,
    is_linted: IsLinted,
    others: Sequence[Broken] = (),
) -> list[Plan]:
    """Plan fixes for all `requests`; `recipes` are all recipes that were read, in the very objects that the needs
    name.

    `others` are mistakes for which no fix was asked: those recipes need the same change where the mistake is the same.
    """
    planner = _Planner(Places(recipes, texts, is_linted, others), requests)
    return [planner.plan(request) for request in requests]


class _Planner:
    def __init__(self, places: Places, requests: Sequence[FixRequest]) -> None:
        self._places = places
        needs = [need for request in requests for need in request.needs]
        self._meant = {(id(need.variant), meant): path for need in needs for path, meant in need.rename.items()}

    def plan(self, request: FixRequest) -> Plan:
        """Collect different sets of edits that may fix a finding, best first."""
        candidates: list[tuple[Edit, ...]] = []
        manners: dict[int, int] = {}
        for manner, edits in self._candidates(request):
            if edits not in candidates:
                candidates.append(edits)
            manners.setdefault(manner, candidates.index(edits))
        return Plan(request, tuple(candidates), manners)

    def _candidates(self, request: FixRequest) -> Iterator[tuple[int, tuple[Edit, ...]]]:
        removed = self._removals(request)
        if removed is None:
            return
        twice = any(_own_variable(need.variant, path) for need in request.needs for path in need.unset)
        for recipe_too in (False, True) if twice else (False,):
            for manner, strategy in enumerate(STRATEGIES):
                added = self._assignments(request, strategy, recipe_too)
                if added is None:
                    continue
                try:
                    edits = merge([*removed, *added])
                except OverlapError:
                    continue
                if edits:
                    yield manner, edits

    def _removals(self, request: FixRequest) -> list[Edit] | None:
        """Return the edits that are the same in every candidate. None if one of them cannot be made."""
        edits: list[Edit] = []
        for need in request.needs:
            edits += need.edits
            for path, meant in need.rename.items():
                renamed = self._places.renamed(need.variant, path, meant)
                if renamed is None:
                    return None
                edits += renamed
            for path in need.drop:
                if origin := need.variant.origin(path):
                    edits += self._places.dropped(request, path, origin)
        return edits

    def _assignments(self, request: FixRequest, strategy: Strategy, recipe_too: bool) -> list[Edit] | None:
        """Return the edits for every setting that does not have its right value yet. None if one finds no place.

        With `recipe_too` a variable of the environment is also removed from those that the recipe asks start-up to
        set.
        """
        jobs: dict[Job, dict[str, Plain | Absent]] = defaultdict(dict)
        old: dict[Job, dict[str, Value]] = defaultdict(dict)
        edits: list[Edit] = []
        for need in request.needs:
            wanted: list[tuple[str, Plain | Absent]] = []
            for path, right in need.set.items():
                if is_known_as(need.variant.value(path), right):
                    continue
                misspelt = self._misspelt(need.variant, path, right)
                edits += misspelt or ()
                wanted += [] if misspelt else [(path, right)]
            for path in need.unset:
                out, rest = self._unset(request, need, path, strategy, recipe_too)
                edits += out
                wanted += rest
            for path, value in wanted:
                now = need.variant.value(path)
                found = (job for each in strategy for job in self._places.jobs(each, request, need, path))
                known = {path: now.value} if isinstance(now, Known) else {}
                job = next((job for job in found if self._places.edits(job, [(path, value)], known) is not None), None)
                if job is None:
                    return None
                jobs[job][path] = value
                old[job][path] = now if old[job].get(path, now) == now else UNKNOWN
        for job, values in jobs.items():
            known = {path: value.value for path, value in old[job].items() if isinstance(value, Known)}
            more = self._places.edits(job, list(values.items()), known)
            if more is None:
                return None
            edits += more
        return edits

    def _unset(
        self, request: FixRequest, need: Need, path: str, strategy: Strategy, recipe_too: bool
    ) -> tuple[list[Edit], list[tuple[str, Plain | Absent]]]:
        """Return the edits that take out a setting's write, and the assignments needed where another writer sets it."""
        now, origin = need.variant.value(path), need.variant.origin(path)
        if origin is None or is_unset(now):
            return [], []
        own = _own_variable(need.variant, path)
        rest: list[tuple[str, Plain | Absent]] = [(own, ABSENT)] if own and recipe_too else []
        out = self._places.taken_out(request, path, origin) if "taken out" in strategy else None
        if out is not None:
            return out, rest
        if own and need.variant.origin(own) == origin:
            return [], [(own, ABSENT)]
        # A flag that nobody gives is off.
        return [], [(path, False if is_known_as(now, True) else ABSENT), *rest]

    def _misspelt(self, variant: Variant, path: str, value: Plain) -> list[Edit] | None:
        """Return the edits of another fix that write this very value under the right name."""
        written = self._meant.get((id(variant), path))
        now = variant.value(written) if written else UNKNOWN
        return self._places.renamed(variant, written, path) if written and now == Known(value) else None


def _own_variable(variant: Variant, path: str) -> str | None:
    """Find the entry of the recipe's own variables that sets a variable of the environment; None if there is none."""
    section, _, name = path.partition(".")
    own = f"env_vars.{name}"
    return own if section == "env" and variant.origin(own) is not None else None
