"""Prove fixes: change the texts, read and judge all again, and see that it is better and that nothing else differs.

A batch of fixes is proved at once. When it fails, those to blame get their next plan or wait; when nobody can be
blamed the batch is halved. What is left of one recipe is tried in every manner together, and then one by one. The
number of evaluations is bounded, because each one reads the whole project.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.blame import Comparison
from mfsdp_lint.fixes.editors import open_for_edit
from mfsdp_lint.fixes.edits import OverlapError, apply_all, merge
from mfsdp_lint.fixes.judged import Evaluate, Judged
from mfsdp_lint.fixes.placements import Texts
from mfsdp_lint.fixes.plan import STRATEGIES, Plan
from mfsdp_lint.fixes.requests import FixRequest
from mfsdp_lint.fixes.trial import Trial
from mfsdp_lint.progress import tell


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

_LAST_RESORT = 16
"""Attempts for recipes of which some fixes only hold in another manner than the others, or without them."""


def prove(plans: Sequence[Plan], before: Judged, evaluate: Evaluate, texts: Texts) -> Proof:
    """Find the largest part of a batch that holds together, with a bounded number of evaluations."""
    if not any(each.candidates for each in plans):
        return Proof((), tuple(Unproved(each.request, NO_PLACE) for each in plans), {}, before)
    return _Search(plans, before, evaluate, texts).run()


class _Search:
    def __init__(self, plans: Sequence[Plan], before: Judged, evaluate: Evaluate, texts: Texts) -> None:
        self._plans = plans
        self._before = before
        self._evaluate = evaluate
        self._texts = texts
        self._left = 12 + 2 * math.ceil(math.log2(len(plans) + 1))
        self._more = _LAST_RESORT
        self._choice = dict.fromkeys((index for index, each in enumerate(plans) if each.candidates), 0)
        self._reasons = {index: NO_PLACE for index, each in enumerate(plans) if not each.candidates}
        self._hopeless: set[int] = set(self._reasons)
        self._overlapping: set[int] = set()
        self._failed: set[frozenset[tuple[int, int]]] = set()
        self._best = Trial({}, {}, {}, before)
        self._comparison = Comparison(plans, before)

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
            Unproved(each.request, self._reasons.get(index, TOO_MANY))
            for index, each in enumerate(self._plans)
            if index not in self._best.chosen
        )
        return Proof(proved, unproved, self._best.texts, self._best.after)

    def _next(self, index: int, trial: Trial) -> bool:
        """Tell whether a blamed fix has another plan to try now; else it waits, or is given up if it failed alone."""
        self._reasons[index] = trial.blame[index]
        following = trial.used[index] + 1
        if following < len(self._plans[index].candidates):
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
            self._reasons[index] = trial.blame.get(index) or trial.nobody or next(iter(trial.blame.values()))

    def _insist(self, indices: Sequence[int]) -> None:
        """Try the fixes of one recipe that fail together: all in the same manner, then as many as hold by themselves.

        What one of them is blamed for may be the manner of another.
        """
        for manner in range(len(STRATEGIES)):
            if self._hold({index: self._plans[index].manners.get(manner, 0) for index in indices}):
                return
        for index in indices:
            for choice in range(len(self._plans[index].candidates)):
                if self._hold({index: choice}):
                    break

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
            tell("fixes proved", len(self._best.chosen), len(self._plans))
            trial.after = self._evaluate(changed)
            self._comparison.judge(trial)
        if not trial.holds:
            self._failed.add(frozenset(used.items()))
        return trial

    def _fitting(self, index: int, edits: tuple[Edit, ...]) -> tuple[int, tuple[Edit, ...]] | None:
        """Find a fix's first plan, from its current one on, whose edits do not overlap those of the others."""
        for choice in range(self._choice[index], len(self._plans[index].candidates)):
            candidate = self._plans[index].candidates[choice]
            try:
                merge((*edits, *candidate))
            except OverlapError:
                continue
            return choice, candidate
        return None
