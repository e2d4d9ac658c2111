"""Where to write what a finding's remedy names: several ways, the one that reads best first.

A setting is changed in the text that decides its value, or where that is handed on or written, when everybody who takes
it from there needs the change. Otherwise it is assigned right behind the line that turned on what the value is bad for,
or at the end of the function. Where that line says `= fsdp`, it is for the callers to decide, and the new value may be
for those alone who turn it on. Which of the ways really works is decided by the proof.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mfsdp_lint.core.finding import Edit, IsLinted, Safety, Severity
from mfsdp_lint.core.recipe import Origin, Recipe, Source, Span, Variant
from mfsdp_lint.core.values import UNKNOWN, Known, Plain, Value, is_known_as
from mfsdp_lint.fixes.editor import Editable, Old
from mfsdp_lint.fixes.editors import open_for_edit
from mfsdp_lint.fixes.edits import OverlapError, merge
from mfsdp_lint.fixes.ways import Broken
from mfsdp_lint.readers.registry import kind_of

Texts = Callable[[str], str]
"""The text of a file, by its path."""


@dataclass(frozen=True, slots=True)
class Need:
    """What has to change on one way through one recipe.

    `set` are the values that settings should have, `unset` settings that should not be set at all. `anchors` are the
    settings that turned on what the finding is about, the most telling first. The variant is one of the recipe's own.
    `edits` have to be made as they are: of a finding about text, which has no setting to change. `drop` are settings
    that say nothing any more then: what is written of them is taken out where it can be. `rename` has the paths of
    what is no setting, each with the setting that was meant.
    """

    recipe: Recipe
    variant: Variant
    set: Mapping[str, Plain]
    unset: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, ...]:
        """The settings that may change."""
        return (*self.set, *self.unset, *self.drop, *self.rename, *self.rename.values())


@dataclass(frozen=True, slots=True)
class FixRequest:
    """A finding that should be fixed: `key` tells it from all others, `code` is what is broken (see `Broken`)."""

    key: str
    code: str
    severity: Severity
    safety: Safety
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The ways in which a finding could be fixed, each a set of edits; none where there is no place to write."""

    request: FixRequest
    candidates: tuple[tuple[Edit, ...], ...]


Placement = Literal[
    "decided",
    "handed on",
    "in place",
    "argument here",
    "behind",
    "at the end",
    "argument",
    "in place where on",
    "behind where on",
]

STRATEGIES: tuple[tuple[Placement, ...], ...] = (
    ("decided", "handed on", "in place", "argument here", "behind", "at the end", "argument"),
    ("handed on", "in place", "argument here", "behind", "at the end", "argument"),
    ("in place", "argument here", "behind", "at the end", "argument"),
    ("behind", "at the end"),
    ("in place where on", "behind where on"),
    ("behind where on",),
    ("in place", "at the end", "argument"),
    ("at the end",),
)
"""For each candidate, the placements to try for every setting, in this order."""


def plan(
    requests: Sequence[FixRequest],
    recipes: Sequence[Recipe],
    texts: Texts,
    is_linted: IsLinted,
    others: Sequence[Broken] = (),
) -> list[Plan]:
    """Plans for all `requests`; `recipes` are all recipes that were read, in the very objects that the needs name.

    `others` is what is broken where no fix was asked for: they need the same where they make the same mistake.
    """
    planner = _Planner(recipes, texts, is_linted, others, requests)
    return [Plan(request, tuple(planner.candidates(request))) for request in requests]


@dataclass(frozen=True, slots=True)
class _Job:
    """One call of an edit function; assignments at one place are made together, for whichever recipe they are."""

    placement: Placement
    where: Span
    origin: Origin = field(compare=False)
    setting: str
    switch: Origin | None = field(default=None, compare=False)
    source: Source | None = field(default=None, compare=False)


class _Planner:
    def __init__(
        self,
        recipes: Sequence[Recipe],
        texts: Texts,
        is_linted: IsLinted,
        others: Sequence[Broken],
        requests: Sequence[FixRequest],
    ) -> None:
        self._texts = texts
        self._is_linted = is_linted
        self._files: dict[str, Editable | None] = {}
        self._variants = [variant for recipe in recipes for variant in recipe.variants]
        self._readers: dict[str, dict[Span, set[int]]] = {}
        self._uses: dict[tuple[str, Span], set[Span]] = defaultdict(set)
        self._others: dict[str, set[int]] = defaultdict(set)
        for each in others:
            self._others[each.code].add(id(each.variant))
        self._known: dict[tuple[_Job, str], list[Edit] | None] = {}
        needs = [need for request in requests for need in request.needs]
        self._meant = {(id(need.variant), meant): path for need in needs for path, meant in need.rename.items()}

    def candidates(self, request: FixRequest) -> Iterator[tuple[Edit, ...]]:
        """Different sets of edits that may fix a finding, best first."""
        removed = self._removals(request)
        if removed is None:
            return
        seen = set()
        for strategy in STRATEGIES:
            added = self._assignments(request, strategy)
            if added is None:
                continue
            try:
                edits = merge([*removed, *added])
            except OverlapError:
                continue
            if edits and edits not in seen:
                seen.add(edits)
                yield edits

    def _assignments(self, request: FixRequest, strategy: Sequence[Placement]) -> list[Edit] | None:
        """The edits for every setting that does not have its value yet. None when one finds no place."""
        jobs: dict[_Job, dict[str, Plain]] = defaultdict(dict)
        old: dict[_Job, dict[str, Value]] = defaultdict(dict)
        edits: list[Edit] = []
        for need in request.needs:
            for path, value in need.set.items():
                now = need.variant.value(path)
                if is_known_as(now, value):
                    continue
                misspelt = self._misspelt(need.variant, path, value)
                if misspelt:
                    edits += misspelt
                    continue
                found = (job for placement in strategy for job in self._jobs(placement, request, need, path))
                known = {path: now.value} if isinstance(now, Known) else {}
                job = next((job for job in found if self._edits(job, [(path, value)], known) is not None), None)
                if job is None:
                    return None
                jobs[job][path] = value
                old[job][path] = now if old[job].get(path, now) == now else UNKNOWN
        for job, values in jobs.items():
            known = {path: value.value for path, value in old[job].items() if isinstance(value, Known)}
            more = self._edits(job, list(values.items()), known)
            if more is None:
                return None
            edits += more
        return edits

    def _removals(self, request: FixRequest) -> list[Edit] | None:
        """The edits that are given, and those that take out writes that should not be. None when one cannot be."""
        edits: list[Edit] = []
        for need in request.needs:
            edits += need.edits
            for path, meant in need.rename.items():
                renamed = self._renamed(need.variant, path, meant)
                if renamed is None:
                    return None
                edits += renamed
            for path in need.unset:
                origin = need.variant.origin(path)
                last = self._taken_out(request, path, origin) if origin else None
                if origin is None or last is None:
                    return None
                edits += [*last, *self._earlier(origin, path)]
            for path in need.drop:
                origin = need.variant.origin(path)
                if origin and origin.how != "default" and self._editable(origin) and self._only(request, path, origin):
                    edits += [*(self._delete(origin, path) or ()), *self._earlier(origin, path)]
        return edits

    def _misspelt(self, variant: Variant, path: str, value: Plain) -> list[Edit] | None:
        """What another fix changes to write the very value under the name that was meant."""
        written = self._meant.get((id(variant), path))
        now = variant.value(written) if written else UNKNOWN
        return self._renamed(variant, written, path) if written and now == Known(value) else None

    def _renamed(self, variant: Variant, path: str, meant: str) -> list[Edit] | None:
        """The edits that write the name that was meant in the place of one that is no field."""
        origin = next((each.origin for each in variant.undeclared() if each.path == path), None)
        file = self._file(origin.span.path) if origin and self._editable(origin) else None
        return file.rename(origin, path, meant) if origin and file else None

    def _taken_out(self, request: FixRequest, path: str, origin: Origin) -> list[Edit] | None:
        """The edits that take a write out, or the entry of a table that a loop writes from."""
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
        """What the last write replaced would take effect again."""
        earlier = origin.earlier
        while earlier and self._editable(earlier):
            yield from self._delete(earlier, path) or ()
            earlier = earlier.earlier

    def _jobs(self, placement: Placement, request: FixRequest, need: Need, path: str) -> Iterator[_Job]:
        origin, anchor = need.variant.origin(path), self._anchor(need)
        own = origin if origin and self._editable(origin) and self._only(request, path, origin) else None
        match placement:
            case "decided" | "handed on" if origin and origin.sources:
                places = origin.sources[-1:] if placement == "decided" else origin.sources[-2::-1]
                for source in places:
                    if self._is_linted(source.span.path) and self._only_from(request, path, source.span):
                        yield _Job(placement, source.span, origin, path, source=source)
            case "in place" if own and own.how != "default":
                yield _Job(placement, own.point, own, path)
            case "argument" if own and own.how == "default":
                yield _Job("argument", own.span, own, "")
            case "argument here" if own and own.how == "default" and self._beside(own, anchor):
                yield _Job("argument", own.span, own, "")
            case "in place where on" if origin and self._editable(origin) and origin.how != "default" and anchor:
                if self._beside(origin, anchor):
                    yield _Job(placement, origin.point, origin, path, anchor[0])
            case "behind" | "behind where on" if anchor:
                if placement == "behind":
                    yield from self._beside_in_data(*anchor)
                yield _Job(placement, anchor[0].span, anchor[0], anchor[1])
            case "at the end":
                for scope in filter(None, (anchor and anchor[0], self._recipe_origin(need.recipe))):
                    yield _Job(placement, scope.span, scope, "")

    def _edits(self, job: _Job, new: Sequence[tuple[str, Plain]], old: Old) -> list[Edit] | None:
        """What a job comes to, worked out once: recipes that share a helper ask for the same."""
        key = job, repr((new, old))
        if key not in self._known:
            self._known[key] = self._made(job, new, old)
        return self._known[key]

    def _made(self, job: _Job, new: Sequence[tuple[str, Plain]], old: Old) -> list[Edit] | None:
        file = self._file(job.where.path)
        if file is None:
            return None
        match job.placement:
            case "decided" | "handed on" if job.source:
                uses = self._uses[job.setting, job.where]
                return file.replace_source(job.source, *new[0], old, uses)
            case "in place":
                return file.replace_value(job.origin, *new[0], old)
            case "in place where on":
                return file.replace_value_where(job.origin, *new[0], job.switch) if job.switch else None
            case "behind":
                return file.assign_after(job.origin, job.setting, new)
            case "behind where on":
                return file.assign_after_where(job.origin, job.setting, new, old)
            case "at the end":
                return file.assign_at_end(job.origin, new)
        return file.add_arguments(job.origin, new)

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
        """Whether everybody who takes a setting from a write is among those that need it changed."""
        return self._only_from(request, path, origin.point)

    def _only_from(self, request: FixRequest, path: str, where: Span) -> bool:
        """The same of any text that the setting may be taken from."""
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

    def _anchor(self, need: Need) -> tuple[Origin, str] | None:
        """The first line in the linted files that turned the feature on, and the setting that it sets."""
        for path in need.anchors:
            origin, value = need.variant.origin(path), need.variant.value(path)
            on = not (isinstance(value, Known) and value.value in (None, False))
            if on and origin and origin.how != "default" and self._editable(origin):
                return origin, path
        return None

    def _beside_in_data(self, anchor: Origin, path: str) -> Iterator[_Job]:
        """Next to the entry of a file of overrides, where a program only applies what turned the feature on."""
        for source in anchor.sources[-1:]:
            if kind_of(source.span.path) != kind_of(anchor.span.path) and self._is_linted(source.span.path):
                yield _Job("behind", source.span, Origin(source.span, "assigned"), path)

    def _beside(self, origin: Origin, anchor: tuple[Origin, str] | None) -> bool:
        """Whether a call stands in the same function as the line that turned the feature on."""
        if anchor is None:
            return True
        here, there = origin, anchor[0]
        return (here.span.path, here.function) == (there.span.path, there.function)

    def _recipe_origin(self, recipe: Recipe) -> Origin | None:
        if not self._is_linted(recipe.path):
            return None
        return Origin(Span(recipe.path, recipe.line, 1, recipe.line, 1), "assigned", function=recipe.name)
