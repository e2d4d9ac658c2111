"""Prove fixes: change the texts, read and judge all again, and see that it is better and that nothing else differs.

A batch of fixes is proved at once. When it fails, those to blame get their next plan or wait; when nobody can be
blamed the batch is halved. What is left of one recipe is tried in every manner together, and then one by one. The
number of evaluations is bounded, because each one reads the whole project.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from mfsdp_lint.core.finding import SEVERITIES, Edit
from mfsdp_lint.core.recipe import CALLED, Origin, Recipe, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Plain, is_known_as
from mfsdp_lint.fixes.editor import open_for_edit
from mfsdp_lint.fixes.edits import OverlapError, apply_all, merge
from mfsdp_lint.fixes.judged import (
    Broken,
    Evaluate,
    FixRequest,
    Judged,
    Need,
    Picture,
    Way,
    as_call,
    equal,
    in_other_calls,
    is_same_as,
    is_unset,
    is_whole_of,
    may_become,
    pairs,
    parts,
    picture,
)
from mfsdp_lint.fixes.plan import STRATEGIES, Plan, Texts
from mfsdp_lint.process import tell_progress


@dataclass(slots=True)
class Trial:
    """An evaluation: the fixes to blame for what went wrong, and any failure that no fix can be blamed for.

    `used` says which of its plans each fix was tried with. `at_odds` are groups of blamed fixes with which another
    mistake appears, perhaps only because they were made together.
    """

    chosen: dict[int, tuple[Edit, ...]]
    used: dict[int, int]
    texts: dict[str, str]
    after: Judged
    blame: dict[int, str] = field(default_factory=dict)
    own_fault: set[int] = field(default_factory=set)
    at_odds: list[Sequence[int]] = field(default_factory=list)
    nobody: str = ""

    @property
    def holds(self) -> bool:
        """True if nothing went wrong."""
        return not self.blame and not self.nobody

    def blamed(self, indices: Sequence[int], reason: str) -> None:
        """Note what went wrong, and which fixes may be at fault; where it is one alone, it fails by itself."""
        for index in indices:
            self.blame.setdefault(index, reason)
        if len(indices) == 1:
            self.own_fault.update(indices)
        if not indices:
            self.nobody = self.nobody or reason

    def editing(self, path: str) -> list[int]:
        """Return the fixes that edit a file."""
        return [index for index, edits in self.chosen.items() if any(edit.span.path == path for edit in edits)]


class Unfixed:
    """A project before any fix, with which attempts are compared. `plans` are by number, as attempts choose them."""

    def __init__(self, plans: Sequence[Plan], before: Judged) -> None:
        self._plans = plans
        self._before = before
        self._picture = picture(before.recipes, before.broken)
        self._way_of = {id(variant): way for way, variant in self._picture.ways.items()}
        self._others: dict[int, Sequence[Mapping[str, Plain]]] = {}
        self._calls: dict[int, tuple[Recipe, Sequence[Broken]]] = {}
        """The other calls of recipes (by id), and what these are in them before any change."""
        self._differences: dict[Way, tuple[Variant, Variant, Sequence[str]]] = {}
        """The settings that differ in a way, before and after."""
        self._recipe_of = {id(variant): recipe for recipe in before.recipes for variant in recipe.exposed}
        self._as_own: dict[int, frozenset[str]] = {}
        """The codes of what is broken where callers turn something on (by the id of the way), told or not."""

    def way_of(self, need: Need) -> Way:
        """Return the way on which the need asks for a change."""
        return self._way_of[id(need.variant)]

    def judge(self, trial: Trial) -> None:
        """Fill in what went wrong, and who may be to blame.

        Users of the edited files are evaluated only if all else is right.
        """
        self._judge(trial, self._before.asked or self._before)
        if trial.holds and trial.after.with_users is not None:
            trial.after = trial.after.with_users()
            self._judge(trial, self._before)

    def _judge(self, trial: Trial, before: Judged) -> None:
        earlier = self._picture if before is self._before else picture(before.recipes, before.broken)
        self._compare(trial, earlier, picture(trial.after.recipes, trial.after.broken))
        for path in [path for path in trial.after.unreadable if path not in before.unreadable]:
            trial.blamed(trial.editing(path), f"{path} could not be read any more")
        if trial.holds:
            # This takes longest, so that it is done for what is right otherwise.
            then, now = self._in_other_calls(before, trial.after)
            self._compare(trial, then, now)
            self._judge_rest(trial, then, now)

    def _compare(self, trial: Trial, before: Picture, after: Picture) -> None:
        """Fill in what the ways before and after say of a trial."""
        touching, named = self._touching(trial, before)
        whole = parts(before, after)
        split = {way[:2] for way in whole}
        for way in (*_missing(before, after), *_missing(after, before)):
            if way[:2] in split:
                continue
            found = [index for other, each in touching.items() if other[:2] == way[:2] for index in each]
            reason = f"{way[1]} would take other ways through its code"
            trial.blamed(found or trial.editing(way[0]), reason)
        self._judge_own(trial, after)
        for way, earlier in ({way: way for way in before.ways if way in after.ways} | whole).items():
            then, now, may = before.ways[earlier], after.ways[way], named[way] | named[earlier]
            for path in self._differing(way, then, now):
                if way != earlier and may_become(then.value(path), now.value(path)):
                    continue
                if path in may or any(is_same_as(path, each, then, now) for each in may):
                    continue
                if path in self._named_for_callers(trial, then):
                    continue
                if not is_whole_of(path, then.value(path), now.value(path), may):
                    wrote = _wrote(trial.chosen, now.origin(path))
                    reason = f"{path} would change in {_said(way)}"
                    trial.blamed(wrote or self._nearest(trial, touching, way, path), reason)
        self._judge_new(trial, before, after, whole, touching)

    def _named_for_callers(self, trial: Trial, variant: Variant) -> set[str]:
        """Return the settings that fixes may change where callers turn something on that makes the same mistake: a mild
        one is told to nobody there.
        """
        recipe = self._recipe_of.get(id(variant))
        if recipe is None:
            return set()
        if id(variant) not in self._as_own:
            own = replace(recipe, variants=(replace(variant, exposed=()),), exposed=())
            self._as_own[id(variant)] = frozenset(each.code for each in self._before.breaks([own]))
        codes = self._as_own[id(variant)]
        same = (index for index in trial.chosen if self._plans[index].request.code in codes)
        return set[str]().union(*map(self._names_of, same))

    def _differing(self, way: Way, before: Variant, after: Variant) -> Sequence[str]:
        """Return the settings that differ; cached, since most ways stay the same from attempt to attempt."""
        known = self._differences.get(way)
        if known is None or known[0] is not before or known[1] is not after:
            known = self._differences[way] = (before, after, _differences(before, after))
        return known[2]

    def _in_other_calls(self, before: Judged, after: Judged) -> tuple[Picture, Picture]:
        """Return pictures of the recipes that were read anew in calls with other arguments, before and after."""
        changed = [each for each in pairs(before.recipes, after.recipes) if each[0].callers is not None]
        self._look_at_calls([recipe for recipe, _ in changed if id(recipe) not in self._calls])
        then = [self._calls[id(recipe)] for recipe, _ in changed]
        now = [in_other_calls(now, self._given(recipe)) for recipe, now in changed]
        # Together, so that several readings of one recipe are told apart as they are after the change.
        earlier = picture([recipe for recipe, _ in then], [each for _, broken in then for each in broken])
        return earlier, picture(now, after.breaks(now))

    def _look_at_calls(self, recipes: Sequence[Recipe]) -> None:
        """Judge recipes in their other calls before any change, and keep the results."""
        others = [in_other_calls(recipe, self._given(recipe)) for recipe in recipes]
        broken: dict[int, list[Broken]] = defaultdict(list)
        for each in self._before.breaks(others):
            broken[id(each.recipe)].append(each)
        self._calls |= {id(one): (other, broken[id(other)]) for one, other in zip(recipes, others, strict=True)}

    def _touching(self, trial: Trial, before: Picture) -> tuple[dict[Way, list[int]], dict[Way, set[str]]]:
        """Find the fixes for each way, and the settings that they may change there.

        A fix is for the recipes that it was asked for; it may make the same change in other recipes that have the same
        mistake.
        """
        touching: dict[Way, list[int]] = defaultdict(list)
        named: dict[Way, set[str]] = defaultdict(set)
        asked: dict[str, list[int]] = defaultdict(list)
        own: set[tuple[Way, str]] = set()
        recipes: dict[int, set[tuple[str, str]]] = defaultdict(set)
        for index in trial.chosen:
            request = self._plans[index].request
            asked[request.code].append(index)
            for need in request.needs:
                way = self._way_of[id(need.variant)]
                own.add((way, request.code))
                recipes[index].add(way[:2])
                touching[way].append(index)
                named[way].update(need.named)
        for way, code in before.broken:
            if (way, code) not in own and code in asked:
                # Whoever made it elsewhere may have nothing to do with the edits.
                touching[way] += [index for index in asked[code] if way[:2] in recipes[index]]
                named[way].update(*(self._names_of(index) for index in asked[code]))
        for need in (need for index in trial.chosen for need in self._plans[index].request.needs):
            for way in self._undecided(need, before):
                named[way].update(need.named)
        return touching, named

    def _undecided(self, need: Need, before: Picture) -> Iterator[Way]:
        """Yield the ways on which the switch that a need is about is neither on nor off yet.

        Such a way covers callers who turn the switch on and callers who do not; both kinds of call are compared as
        well.
        """
        names = [name for name in need.variant.exposed if {name: True} in self._given(need.recipe)]
        names = [name for name in names if {name: False} in self._given(need.recipe)]
        recipe = self._way_of[id(need.variant)][:2]
        for way, variant in before.ways.items() if names else ():
            said = way[2][0] if way[2] else ""
            if way[:2] == recipe and not variant.exposed and not any(f" {name}=" in said for name in names):
                yield way

    def _given(self, recipe: Recipe) -> Sequence[Mapping[str, Plain]]:
        """Return the arguments of a recipe's other calls, those that work today: the unchanged text decides."""
        if id(recipe) not in self._others:
            self._others[id(recipe)] = recipe.callers.given(self._before.users) if recipe.callers else ()
        return self._others[id(recipe)]

    def _judge_own(self, trial: Trial, after: Picture) -> None:
        """Require that every finding is gone and that every setting has the value that its fix gives it."""
        for index in trial.chosen:
            request = self._plans[index].request
            for need in request.needs:
                way = self._way_of[id(need.variant)]
                if need.variant.exposed and way not in after.ways:
                    way = as_call(way)
                variant = after.ways.get(way)
                if variant is None:
                    continue
                wrong = [path for path, value in need.set.items() if not is_known_as(variant.value(path), value)]
                # A setting that should be unset may have another value: another writer may decide it by then.
                now, then = variant.value, need.variant.value
                wrong = [path for path in wrong if not (need.piece and equal(then(path), now(path)))]
                unset = () if need.piece else need.unset
                wrong += [each for each in unset if not is_unset(now(each)) and equal(then(each), now(each))]
                if (way, request.code) in after.broken or wrong:
                    reason = (
                        f"{wrong[0]} would not take effect in {way[1]}" if wrong else f"it would remain in {way[1]}"
                    )
                    trial.blamed([index], reason)

    def _judge_rest(self, trial: Trial, before: Picture, after: Picture) -> None:
        """Require that a finding is gone for every value of the parameters with which the same text decides it."""
        for index in trial.chosen:
            request = self._plans[index].request
            for need in request.needs:
                recipe = self._way_of[id(need.variant)][:2]
                for way, variant in before.ways.items():
                    remains = (
                        way[:2] == recipe
                        and (way, request.code) in before.broken
                        and (way, request.code) in after.broken
                    )
                    if remains and all(_same_place(need.variant, variant, path) for path in (*need.set, *need.unset)):
                        trial.blamed([index], f"it would remain in {_said(way)}")

    def _judge_new(
        self, trial: Trial, before: Picture, after: Picture, whole: Mapping[Way, Way], touching: Mapping[Way, list[int]]
    ) -> None:
        """Refuse a new finding as severe as the fixed one, and any new finding in recipes without a fix.

        Findings of callers who turn a switch on are no new findings where that case is now among the recipe's own
        ways.
        """
        exposed = {(way[:2], code) for way, code in before.broken if before.ways[way].exposed}
        for (way, code), severity in after.broken.items():
            earlier = before.broken.get((whole.get(way, way), code))
            if way in whole and (way[:2], code) in exposed:
                continue
            rank = SEVERITIES.index(severity)
            if earlier is not None and SEVERITIES.index(earlier) <= rank:
                continue
            fixes = touching.get(way, [])
            asked = ((index, self._plans[index].request) for index in fixes)
            culprits = [at for at, each in asked if not each.unread and SEVERITIES.index(each.severity) >= rank]
            if culprits or not fixes:
                blamed = culprits or self._nearest(trial, touching, way)
                trial.at_odds.append(blamed)
                trial.blamed(blamed, f"{code} would appear in {_said(way)}")

    def _nearest(self, trial: Trial, touching: Mapping[Way, list[int]], way: Way, path: str = "") -> list[int]:
        """Find the fixes that may have affected a way that they are not for.

        These are the fixes of the same recipe, else those in its file; only those that name the setting `path`, if any
        does. If neither group has one, return all fixes that name `path`.
        """
        named = [index for index in trial.chosen if path in self._names_of(index)]
        candidates = set(named or trial.chosen)
        same = [index for other, each in touching.items() if other[:2] == way[:2] for index in each]
        for group in (same, trial.editing(way[0])):
            if found := [index for index in dict.fromkeys(group) if index in candidates]:
                return found
        return named

    def _names_of(self, index: int) -> set[str]:
        """Return the settings that a fix is about."""
        return {path for need in self._plans[index].request.needs for path in need.named}


def _same_place(one: Variant, other: Variant, path: str) -> bool:
    """Tell whether the same text writes a setting on two ways."""
    origins = one.origin(path), other.origin(path)
    return origins[0] is not None and origins[1] is not None and origins[0].spans() == origins[1].spans()


def _said(way: Way) -> str:
    """Name the recipe, and the call if it is not the usual one."""
    return " ".join((way[1], *(each for each in way[2][:1] if each.startswith(CALLED))))


def _missing(here: Picture, there: Picture) -> list[Way]:
    """Return the ways of one picture that the other lacks."""
    return [way for way in here.ways if way not in there.ways]


def _wrote(chosen: Mapping[int, tuple[Edit, ...]], origin: Origin | None) -> list[int]:
    """Find the fixes whose edits lie where a value of the changed texts comes from."""
    if origin is None:
        return []
    spans, added = origin.spans(), 0
    found: set[int] = set()
    for edit in merge(edit for edits in chosen.values() for edit in edits if edit.span.path == origin.span.path):
        first = edit.span.line + added
        last = first + edit.text.count("\n")
        if any(first <= span.end_line and span.line <= last for span in spans if span.path == origin.span.path):
            found.update(index for index, edits in chosen.items() if edit in edits)
        added += edit.text.count("\n") - (edit.span.end_line - edit.span.line)
    return sorted(found)


def _differences(before: Variant, after: Variant) -> list[str]:
    if before is after:
        return []
    paths = dict.fromkeys(before.settings.differing(after.settings))
    return [path for path in paths if not equal(before.value(path), after.value(path))]


@dataclass(frozen=True, slots=True)
class Proved:
    """A finding and the edits that were proved to remove it, together with the others of its batch."""

    request: FixRequest
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Unproved:
    """A finding that has no fix, and why."""

    request: FixRequest
    reason: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Result of proving a batch: `texts` are the changed files with all proved edits, `after` is their judgement."""

    proved: tuple[Proved, ...]
    unproved: tuple[Unproved, ...]
    texts: Mapping[str, str]
    after: Judged


NO_PLACE = "there is no place where the value could be written with certainty"
OVERLAP = "another fix changes the same text"
TOO_LARGE = "the project is too large to find everybody who uses the file"
TOO_MANY = "the proof took too many attempts"

_UNCHANGED: Mapping[str, str] = MappingProxyType({})

_LAST_RESORT = 16
"""Attempts for recipes of which some fixes only hold in another manner than the others, or without them."""


def prove(
    plans: Sequence[Plan], before: Judged, evaluate: Evaluate, texts: Texts, changed: Mapping[str, str] = _UNCHANGED
) -> Proof:
    """Find the largest part of a batch that holds together, with a bounded number of evaluations.

    `texts` gives the texts before it, in which those of `changed` differ from what they are on disk.
    """
    if all(each.free() is None for each in plans):
        return Proof((), tuple(Unproved(each.request, each.held_back or NO_PLACE) for each in plans), {}, before)
    return _Search(plans, before, evaluate, texts, changed).run()


class _Search:
    def __init__(
        self, plans: Sequence[Plan], before: Judged, evaluate: Evaluate, texts: Texts, changed: Mapping[str, str]
    ) -> None:
        self._plans = plans
        self._changed = changed
        self._before = before
        self._evaluate = evaluate
        self._texts = texts
        self._left = 12 + 2 * math.ceil(math.log2(len(plans) + 1))
        self._more = _LAST_RESORT
        free = {index: each.free() for index, each in enumerate(plans)}
        self._choice = {index: choice for index, choice in free.items() if choice is not None}
        self._reasons = {index: plans[index].held_back or NO_PLACE for index in free.keys() - self._choice.keys()}
        self._refused: dict[int, int] = {}
        self._hopeless: set[int] = set(self._reasons)
        self._overlapping: set[int] = set()
        self._failed: set[frozenset[tuple[int, int]]] = set()
        self._best = Trial({}, {}, {}, before)
        self._comparison = Unfixed(plans, before)

    def run(self) -> Proof:
        active = list(self._choice)
        # The first attempts let the blamed try their other plans; a few are left for what is halved below.
        while active and self._left > 6:
            trial = self._try(active)
            if trial.holds:
                self._hold_on(trial)
                break
            if not trial.blame:
                break
            # Of those that make room for another mistake together the first stays as it is, and the others wait.
            several = [indices for indices in trial.at_odds if len(indices) > 1]
            first, others = {indices[0] for indices in several}, {index for indices in several for index in indices[1:]}
            active = [index for index in active if index not in others]
            blamed = trial.blame.keys() - first
            active = [index for index in active if index not in blamed or self._next(index, trial)]
        lost = self._hopeless | self._overlapping | set(self._best.chosen)
        waiting = [index for index in self._choice if index not in lost]
        self._grow(self._groups(waiting))
        for group in self._groups(index for index in self._choice if index not in self._best.chosen):
            # What fails by itself has tried everything, unless others of the recipe were in its way.
            if len(group) > 1 or group[0] not in self._hopeless:
                self._insist(group)
        proved = tuple(Proved(self._plans[index].request, edits) for index, edits in sorted(self._best.chosen.items()))
        unproved = tuple(
            Unproved(each.request, self._reason(index))
            for index, each in enumerate(self._plans)
            if index not in self._best.chosen
        )
        return Proof(proved, unproved, self._best.texts, self._best.after)

    def _reason(self, index: int) -> str:
        """Return why a fix is not proved: who keeps its best edit, where there is such a user, before what is wrong
        with the others.
        """
        reason = self._reasons.get(index, TOO_MANY)
        return reason if reason in (OVERLAP, TOO_MANY) else self._plans[index].held_back or reason

    def _next(self, index: int, trial: Trial) -> bool:
        """Tell whether a blamed fix has another plan to try now; else it waits, or is given up if it failed alone."""
        self._refuse(index, trial, trial.blame[index])
        following = self._plans[index].free(trial.used[index] + 1)
        if following is not None:
            self._choice[index] = following
            return True
        if index in trial.own_fault:
            self._hopeless.add(index)
        else:
            self._choice[index] = 0
        return False

    def _grow(self, groups: list[list[int]]) -> None:
        """Add to what holds as many of the waiting as hold with it, half by half."""
        waiting = [index for group in groups for index in group]
        if not waiting or self._left <= 0:
            return
        trial = self._try([*self._best.chosen, *waiting])
        if trial.holds:
            self._hold_on(trial)
        elif len(groups) > 1:
            half = len(groups) // 2
            self._grow(groups[:half])
            self._grow(groups[half:])
        else:
            self._blamed(waiting, trial)

    def _blamed(self, indices: Iterable[int], trial: Trial) -> None:
        for index in indices:
            self._refuse(index, trial, trial.blame.get(index) or trial.nobody or next(iter(trial.blame.values())))

    def _refuse(self, index: int, trial: Trial, reason: str) -> None:
        """Keep why the best of the candidates that were tried does not hold: others are worse for other reasons."""
        choice = trial.used.get(index, self._choice[index])
        if choice <= self._refused.setdefault(index, choice):
            self._refused[index], self._reasons[index] = choice, reason

    def _insist(self, indices: Sequence[int]) -> None:
        """Try the fixes of one recipe that fail together: all in the same manner, then as many as hold by themselves.

        What one of them is blamed for may be the manner of another.
        """
        for manner in range(len(STRATEGIES)):
            if self._hold({index: self._in_manner(index, manner) for index in indices}):
                return
        for index in indices:
            choice = self._plans[index].free()
            while choice is not None and not self._hold({index: choice}):
                choice = self._plans[index].free(choice + 1)

    def _in_manner(self, index: int, manner: int) -> int:
        """Return the candidate of a fix that a manner comes to, or the best one."""
        plan = self._plans[index]
        choice = plan.manners.get(manner)
        if choice is None or plan.free(choice) != choice:
            choice = plan.free()
        assert choice is not None  # one without any is hopeless
        return choice

    def _hold(self, choice: Mapping[int, int]) -> bool:
        """Tell whether fixes, each in the given choice of plan, hold with the fixes that hold already."""
        if self._more <= 0 or frozenset({**self._best.used, **choice}.items()) in self._failed:
            return False
        self._more -= 1
        self._choice.update(choice)
        trial = self._try([*self._best.chosen, *choice])
        if trial.holds and trial.chosen.keys() >= choice.keys():
            self._hold_on(trial)
            return True
        if not trial.holds:
            self._blamed(choice, trial)
        return False

    def _hold_on(self, trial: Trial) -> None:
        self._best = trial
        self._choice.update(trial.used)

    def _groups(self, indices: Iterable[int]) -> list[list[int]]:
        """Group fixes by recipe: fixes of the same recipe may need each other."""
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index in indices:
            groups[self._comparison.way_of(self._plans[index].request.needs[0])[:2]].append(index)
        return list(groups.values())

    def _try(self, indices: Sequence[int]) -> Trial:
        chosen: dict[int, tuple[Edit, ...]] = {}
        used: dict[int, int] = {}
        edits: tuple[Edit, ...] = ()
        for index in sorted(indices):
            fitting = self._fitting(index, edits)
            if fitting is None:
                # It is for another batch, when the others have been applied.
                self._overlapping.add(index)
                self._reasons[index] = OVERLAP
                continue
            used[index], chosen[index] = fitting
            edits = merge((*edits, *chosen[index]))
        paths = dict.fromkeys(edit.span.path for edit in edits)
        changed = apply_all({path: self._texts(path) for path in paths}, edits)
        trial = Trial(chosen, used, changed, self._before)
        for path in (path for path, text in changed.items() if open_for_edit(path, text) is None):
            trial.blame |= dict.fromkeys(trial.editing(path), f"{path} could not be read any more")
        if trial.holds:
            self._left -= 1
            tell_progress("fixes proved", len(self._best.chosen), len(self._plans))
            trial.after = self._evaluate({**self._changed, **changed})
            self._comparison.judge(trial)
        if not trial.holds:
            self._failed.add(frozenset(used.items()))
        return trial

    def _fitting(self, index: int, edits: tuple[Edit, ...]) -> tuple[int, tuple[Edit, ...]] | None:
        """Find a fix's first plan, from its current one on, whose edits do not overlap those of the others."""
        plan = self._plans[index]
        choice = plan.free(self._choice[index])
        while choice is not None:
            try:
                merge((*edits, *plan.candidates[choice]))
            except OverlapError:
                choice = plan.free(choice + 1)
            else:
                return choice, plan.candidates[choice]
        return None
