"""Plans for writing the settings that a finding's remedy names: several candidates, the most readable first.

A setting is changed in the text that decides its value, or where that value is handed on or written, if all recipes
that take it from there need the change. Otherwise it is assigned right behind the line that turned on the feature that
conflicts with the value, or at the end of the function. Where that line says `= fsdp`, the callers decide, and the new
value may be for those callers alone who turn the feature on. The proof decides which candidate really works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from mfsdp_lint.core.finding import Edit, IsLinted
from mfsdp_lint.core.recipe import Origin, Recipe, Source, Span, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import UNKNOWN, Known, Plain, Value, is_known_as
from mfsdp_lint.fixes.editor import ABSENT, Absent, Assignments, Editable, Old, Switch, open_for_edit
from mfsdp_lint.fixes.edits import OverlapError, merge
from mfsdp_lint.fixes.judged import Broken, FixRequest, Need, is_unset
from mfsdp_lint.readers.registry import kind_of

Texts = Callable[[str], str]
"""The text of a file, by its path."""

Placement = Literal[
    "decided",
    "handed on",
    "in place",
    "taken out",
    "argument here",
    "behind",
    "for its command",
    "at the end",
    "at the recipe's end",
    "argument",
    "in place where on",
    "taken out where on",
    "behind where on",
]


@dataclass(frozen=True, slots=True)
class EditSite:
    """A call of an edit function; assignments at one place are made together, for all recipes."""

    placement: Placement
    where: Span
    origin: Origin = field(compare=False)
    setting: str
    switch: Switch | None = None
    source: Source | None = field(default=None, compare=False)


class EditPlacer:
    """The places of all recipes that were read; `others` is what is broken where no fix was asked for."""

    def __init__(self, recipes: Sequence[Recipe], texts: Texts, is_linted: IsLinted, others: Sequence[Broken]) -> None:
        self._texts = texts
        self._is_linted = is_linted
        self._files: dict[str, Editable | None] = {}
        self._variants = [variant for recipe in recipes for variant in recipe.variants]
        self._readers: dict[str, dict[Span, set[int]]] = {}
        self._uses: dict[tuple[str, Span], set[Span]] = defaultdict(set)
        self._others: dict[str, set[int]] = defaultdict(set)
        for each in others:
            self._others[each.code].add(id(each.variant))
        self._known: dict[tuple[EditSite, str], list[Edit] | None] = {}

    def jobs(self, placement: Placement, request: FixRequest, need: Need, path: str) -> Iterator[EditSite]:
        """Yield the edit sites of this placement, the best first."""
        origin, anchors = need.variant.origin(path), list(self._anchors(need))
        anchor = anchors[0] if anchors else None
        own = origin if origin and self._editable(origin) and self._only(request, path, origin) else None
        match placement:
            case "decided" | "handed on" if origin and origin.sources:
                places = origin.sources[-1:] if placement == "decided" else origin.sources[-2::-1]
                for source in places:
                    if self._is_linted(source.span.path) and self._only_from(request, path, source.span):
                        yield EditSite(placement, source.span, origin, path, source=source)
            case "in place" if own and own.how != "default":
                yield EditSite(placement, own.point, own, path)
            case "argument" if own and own.how == "default":
                yield EditSite("argument", own.span, own, "")
            case "argument here" if own and own.how == "default" and self._beside(own, anchor):
                yield EditSite("argument", own.span, own, "")
            case "behind":
                for decided, setting in anchors:
                    yield from self._beside_in_data(decided, setting)
                    if not _comes_later(origin, decided):
                        yield EditSite(placement, decided.span, decided, setting)
            case "at the end":
                for scope in filter(None, (anchor and anchor[0], self._recipe_origin(need.recipe))):
                    yield EditSite(placement, scope.span, scope, "")
            case "at the recipe's end" if whole := self._recipe_origin(need.recipe):
                yield EditSite(placement, whole.span, whole, "")
            case "for its command" if path.startswith("env.") and (whole := self._recipe_origin(need.recipe)):
                yield EditSite(placement, whole.span, whole, "")
            case "in place where on" | "taken out where on" | "behind where on":
                # Which of several lines is for the callers to decide, each of them shows.
                for each in anchors or self._anchors(need, on=False):
                    yield from self._for_one_side(placement, need.variant, path, each)

    def _for_one_side(
        self, placement: Placement, variant: Variant, path: str, anchor: tuple[Origin, str]
    ) -> Iterator[EditSite]:
        """Yield the edit sites for those callers alone who turn the feature on, or for those who do not."""
        origin, (decided, setting) = variant.origin(path), anchor
        switch = Switch(decided, on=_is_on(variant.value(setting)))
        written = origin and origin.how != "default" and self._editable(origin) and self._beside(origin, anchor)
        if placement == "behind where on" and not _comes_later(origin, decided):
            yield EditSite(placement, decided.span, decided, setting, switch)
        elif origin and written:
            where = origin.span if placement == "behind where on" else origin.point
            yield EditSite(placement, where, origin, path, switch)

    def edits(self, job: EditSite, new: Assignments, old: Old) -> list[Edit] | None:
        """Return the edits of a job, None for none. Cached: recipes that share a helper need the same edits."""
        key = job, repr((new, old))
        if key not in self._known:
            self._known[key] = self._made(job, new, old)
        return self._known[key]

    def _made(self, job: EditSite, new: Assignments, old: Old) -> list[Edit] | None:
        file = self._file(job.where.path)
        if file is None:
            return None
        path, value = new[0]
        match job.placement:
            case "behind":
                return file.assign_after(job.origin, job.setting, new)
            case "behind where on" if job.switch:
                return file.assign_after_where(job.origin, job.setting, job.switch, new, old)
            case "at the end" | "at the recipe's end":
                return file.assign_at_end(job.origin, new)
            case "for its command":
                return file.assign_for_command(job.origin, new)
            case "taken out where on" if job.switch and value is ABSENT:
                return file.delete_write_where(job.origin, path, job.switch)
        if value is ABSENT:
            return None
        match job.placement:
            case "decided" | "handed on" if job.source:
                return file.replace_source(job.source, path, value, old, self._uses[job.setting, job.where])
            case "in place":
                return file.replace_value(job.origin, path, value, old)
            case "in place where on" if job.switch:
                return file.replace_value_where(job.origin, path, value, job.switch)
            case "argument":
                return file.add_arguments(job.origin, new)
        return None

    def taken_out(self, request: FixRequest, path: str, origin: Origin) -> list[Edit] | None:
        """Return the edits that take out a write and the writes that it replaced. None if the write has to stay."""
        last = self._entry_out(request, path, origin)
        return None if last is None else [*last, *self._earlier(origin, path)]

    def dropped(self, request: FixRequest, path: str, origin: Origin) -> list[Edit]:
        """Return the edits that take out a write without effect; empty if it has to stay."""
        if origin.how == "default" or not self._editable(origin) or not self._only(request, path, origin):
            return []
        return [*(self._delete(origin, path) or ()), *self._earlier(origin, path)]

    def renamed(self, variant: Variant, path: str, meant: str) -> list[Edit] | None:
        """Return the edits that correct the name of an undeclared field wherever it is written. None if one of the
        places cannot be edited.
        """
        writes = [(each.written, each.origin) for each in variant.settings.undeclared()]
        writes += [(each.path, each.origin) for each in variant.settings.named()]
        edits: list[Edit] = []
        for origin in (origin for written, origin in writes if written == path):
            file = self._file(origin.span.path) if self._editable(origin) else None
            renamed = file.rename(origin, path, meant) if file else None
            if renamed is None:
                return None
            edits += (each for each in renamed if each not in edits)
        return edits or None

    def _entry_out(self, request: FixRequest, path: str, origin: Origin) -> list[Edit] | None:
        """Take out the write itself, or the entry of a table that a loop writes from."""
        if self._editable(origin) and self._only(request, path, origin):
            own = self._delete(origin, path)
            if own is not None:
                return own
        for source in reversed(origin.sources):
            if self._is_linted(source.span.path) and self._only_from(request, path, source.span):
                entry = self._delete(Origin(source.span, "assigned"), path)
                if entry is not None:
                    return entry
        return None

    def _earlier(self, origin: Origin, path: str) -> Iterator[Edit]:
        """Take out the earlier writes that the last one replaced: they would take effect again."""
        earlier = origin.earlier
        while earlier and self._editable(earlier):
            yield from self._delete(earlier, path) or ()
            earlier = earlier.earlier

    def _delete(self, origin: Origin, path: str) -> list[Edit] | None:
        file = self._file(origin.span.path)
        return file.delete_write(origin, path) if file else None

    def _file(self, path: str) -> Editable | None:
        if path not in self._files:
            self._files[path] = open_for_edit(path, self._texts(path))
        return self._files[path]

    def _editable(self, origin: Origin) -> bool:
        return origin.upstream is None and origin.how != "environment" and self._is_linted(origin.span.path)

    def _only(self, request: FixRequest, path: str, origin: Origin) -> bool:
        """Tell whether all recipes that take a setting from a write are among those that need it changed."""
        return self._only_from(request, path, origin.point)

    def _only_from(self, request: FixRequest, path: str, where: Span) -> bool:
        """Tell whether all recipes that take a setting from a text are among those that need it changed."""
        if path not in self._readers:
            readers: dict[Span, set[int]] = defaultdict(set)
            for variant in self._variants:
                if written := variant.origin(path):
                    for span in (written.point, *(source.span for source in written.sources)):
                        readers[span].add(id(variant))
                        self._uses[path, span].update(written.spans())
            self._readers[path] = readers
        needing = {id(need.variant) for need in request.needs if path in need.named}
        return self._readers[path].get(where, set()) <= needing | self._others[request.code]

    def _anchors(self, need: Need, *, on: bool = True) -> Iterator[tuple[Origin, str]]:
        """Yield the lines in the linted files that turned the feature on (or off), and the setting that each sets."""
        for path in need.anchors:
            origin = need.variant.origin(path)
            if _is_on(need.variant.value(path)) is on and origin and origin.how != "default" and self._editable(origin):
                yield origin, path

    def _beside_in_data(self, anchor: Origin, path: str) -> Iterator[EditSite]:
        """Yield the site next to an override file's entry that turned the feature on through a program."""
        for source in anchor.sources[-1:]:
            if kind_of(source.span.path) != kind_of(anchor.span.path) and self._is_linted(source.span.path):
                yield EditSite("behind", source.span, Origin(source.span, "assigned"), path)

    def _beside(self, origin: Origin, anchor: tuple[Origin, str] | None) -> bool:
        """Tell whether a call is in the same function as the line that turned the feature on."""
        if anchor is None:
            return True
        here, there = origin, anchor[0]
        return (here.span.path, here.function) == (there.span.path, there.function)

    def _recipe_origin(self, recipe: Recipe) -> Origin | None:
        if not self._is_linted(recipe.path):
            return None
        return Origin(Span(recipe.path, recipe.line, 1, recipe.line, 1), "assigned", function=recipe.name)


def _is_on(value: Value) -> bool:
    """Tell whether a feature is on, or may be."""
    return not (isinstance(value, Known) and value.value in (None, False))


def _comes_later(origin: Origin | None, anchor: Origin) -> bool:
    """Tell whether a write would undo an assignment behind the line that turned the feature on."""
    return origin is not None and 0 < anchor.order < origin.order


Strategy = Sequence[Placement]

STRATEGIES: tuple[Strategy, ...] = (
    ("decided", "handed on", "taken out", "in place", "argument here", "behind", "at the end", "argument"),
    ("handed on", "taken out", "in place", "argument here", "behind", "at the end", "argument"),
    ("taken out", "in place", "argument here", "behind", "at the end", "argument"),
    ("for its command", "behind", "at the end"),
    ("behind", "at the end"),
    ("in place where on", "taken out where on", "behind where on"),
    ("behind where on",),
    ("in place", "at the end", "argument"),
    ("at the end",),
    ("at the recipe's end",),
)
"""For each manner, the placements to try for every setting, in this order."""


def _nobody(edits: Sequence[Edit]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The ways in which a finding could be fixed, each a set of edits; none where there is no place to write.

    `manners` say which of the candidates each of the `STRATEGIES` comes to. `user_of` says who else uses the text that
    some edits change, "" for nobody: it is asked of a candidate when that is tried, since the answer is dear.
    `held_back` says why the best candidate is not, where somebody uses its text.
    """

    request: FixRequest
    candidates: tuple[tuple[Edit, ...], ...]
    manners: Mapping[int, int] = field(default_factory=dict)
    user_of: Callable[[Sequence[Edit]], str] = field(default=_nobody, compare=False)
    held_back: str = ""

    def free(self, start: int = 0) -> int | None:
        """Return the first candidate from `start` on whose text nobody else uses. Raises what `user_of` does."""
        places = range(start, len(self.candidates))
        return next((each for each in places if not self.user_of(self.candidates[each])), None)


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
    planner = _Planner(EditPlacer(recipes, texts, is_linted, others), requests)
    return [planner.plan(request) for request in requests]


class _Planner:
    def __init__(self, places: EditPlacer, requests: Sequence[FixRequest]) -> None:
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
        dropped = [
            edit
            for need in request.needs
            for path in need.drop
            if (origin := need.variant.origin(path)) is not None
            for edit in self._places.dropped(request, path, origin)
        ]
        # A setting that becomes dead may stay where somebody else has it.
        for more in (dropped, []) if dropped else ([],):
            yield from self._with_assignments(request, [*removed, *more])

    def _with_assignments(self, request: FixRequest, removed: list[Edit]) -> Iterator[tuple[int, tuple[Edit, ...]]]:
        twice = any(_own_variable(need.variant, path) for need in request.needs for path in need.unset)
        without_pieces = replace(request, needs=tuple(need for need in request.needs if not need.piece))
        for asked in (request, without_pieces) if 0 < len(without_pieces.needs) < len(request.needs) else (request,):
            for recipe_too in (False, True) if twice else (False,):
                for manner, strategy in enumerate(STRATEGIES):
                    added = self._assignments(asked, strategy, recipe_too)
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
        return edits

    def _assignments(self, request: FixRequest, strategy: Strategy, recipe_too: bool) -> list[Edit] | None:
        """Return the edits for every setting that does not have its right value yet. None if one finds no place.

        With `recipe_too` a variable of the environment is also removed from those that the recipe asks start-up to
        set.
        """
        jobs: dict[EditSite, dict[str, Plain | Absent]] = defaultdict(dict)
        old: dict[EditSite, dict[str, Value]] = defaultdict(dict)
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
