"""Questions about a variant: the rules of one site, arranged so that a recipe that no rule concerns is judged fast.

A rule is silent about what is unknown. Where some value of one setting alone would make a rule of level error or
warning fire, and the setting is unknown because a call in the user's files is not followed, that is told; once for each
such call, about the setting that decides most.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from mfsdp_lint.core.recipe import Obstacle, Recipe, Setting, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import With
from mfsdp_lint.core.values import Known, NotNone, Plain, Unknown
from mfsdp_lint.megatron.conditions.applicability import Site
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.conditions.nodes import Junction, Node
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.rules.model import Case, Rule, Sees
from mfsdp_lint.rules.views import Clause, Views

_NOTHING: frozenset[str] = frozenset()


class RuleQuestion:
    """A rule about settings: the clauses that have to hold for all of its cases, and those of each case.

    The latter are only looked at where the former hold, which is seldom.
    """

    __slots__ = ("_applies", "_cases", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._applies = _arms(rule.applies)
        self._cases: tuple[tuple[Clause, ...], ...] | None = None

    def answer(self, views: Views) -> Case | None:
        """Find the case in which the rule is broken; None if there is none."""
        applies: dict[Sees, bool] = {}
        for number, case in enumerate(self.rule.cases):
            sees = case.sees
            if sees not in applies:
                applies[sees] = _hold(self._applies, sees, views)
            if applies[sees] and _hold(self.cases[number], sees, views):
                return case
        return None

    @property
    def cases(self) -> tuple[tuple[Clause, ...], ...]:
        """The further clauses that have to hold in each case."""
        if self._cases is None:
            self._cases = tuple(_arms(case.when) if case.when else () for case in self.rule.cases)
        return self._cases


def _hold(clauses: Sequence[Clause], sees: Sees, views: Views) -> bool:
    """Tell whether all clauses hold; clauses that start-up cannot change come first, since resolving it is slow."""
    written, changeable = views.written, _NOTHING if sees == "written" else views.changeable
    changed = []
    for clause in clauses:
        if not changeable.isdisjoint(clause.paths):
            changed.append(clause)
        elif not _holds(clause, written, views):
            return False
    if changed:
        seen = views.of(sees)
        for clause in changed:
            if not _holds(clause, seen, views):
                return False
    return True


def _holds(clause: Clause, variant: Variant, views: Views) -> bool:
    """Tell whether a clause is true; an undecided one is added to `views.open`."""
    truth = clause.node.truth(variant)
    if truth is None:
        views.open.append(clause)
    return truth is True


class Gate:
    """A clause that several rules begin with, and the views in which they ask it.

    What they ask behind it is only worked out for a variant that gets there.
    """

    __slots__ = ("_questions", "clause", "rules", "sees", "site")

    def __init__(self, rules: Sequence[Rule], site: Site) -> None:
        self.rules = rules
        self.site = site
        self.clause = _clause(rules[0].gate.at(site).root)
        self.sees = tuple(dict.fromkeys(sees for rule in rules for sees in rule.views))
        self._questions: tuple[RuleQuestion, ...] | None = None

    def open(self, views: Views) -> bool:
        """Tell whether any question behind the gate may have an answer."""
        if self._questions == ():
            return False
        if views.changeable.isdisjoint(self.clause.paths):
            return _holds(self.clause, views.written, views)
        return any(_holds(self.clause, views.of(sees), views) for sees in self.sees)

    @property
    def questions(self) -> tuple[RuleQuestion, ...]:
        """The questions of the rules that apply at the site."""
        if self._questions is None:
            here = (rule.at(self.site.target, self.site.front_end) for rule in self.rules)
            self._questions = tuple(RuleQuestion(rule) for rule in here if rule is not None)
        return self._questions


@dataclass(frozen=True, slots=True)
class Agenda:
    """The questions of one site: about settings, behind gates, and the rules about assignments and about text."""

    gates: tuple[Gate, ...]
    of_writes: tuple[Rule, ...] = ()
    of_text: tuple[Rule, ...] = ()

    def broken(self, views: Views) -> Iterator[tuple[Rule, Case]]:
        """Yield the rules that a variant breaks, each with the case."""
        for gate in self.gates:
            if gate.open(views):
                for question in gate.questions:
                    if case := question.answer(views):
                        yield question.rule, case


_KEPT = 16
_known: dict[tuple[tuple[int, ...], Site], tuple[Sequence[Rule], Agenda]] = {}
"""The latest agendas by the ids of the rules, which are kept with them. A proof asks for the same one many times."""


def agenda(rules: Sequence[Rule], site: Site) -> Agenda:
    """Return the agenda of the rules at a site, cached."""
    key = tuple(map(id, rules)), site
    if key not in _known:
        while len(_known) >= _KEPT:
            del _known[next(iter(_known))]
        _known[key] = rules, _agenda(rules, site)
    return _known[key][1]


def _agenda(rules: Sequence[Rule], site: Site) -> Agenda:
    gates: dict[tuple[str, str], list[Rule]] = {}
    beside: dict[str, list[Rule]] = {"writes": [], "text": []}
    if site.target.older and not site.front_end.core:
        # Of what that version does nothing is known; what a shell does with a text is the same everywhere.
        rules = [rule for rule in rules if rule.judges == "text" and not rule.evidence]
    for rule in rules:
        if rule.judges == "settings":
            # A term means the same in all files of one folder.
            gates.setdefault((rule.gate.text, os.path.dirname(rule.file)), []).append(rule)
        elif here := rule.at(site.target, site.front_end):
            beside[here.judges].append(here)
    return Agenda(
        tuple(Gate(behind, site) for behind in gates.values()), tuple(beside["writes"]), tuple(beside["text"])
    )


def _arms(condition: Condition) -> tuple[Clause, ...]:
    root = condition.root
    return tuple(map(_clause, root.arms if isinstance(root, Junction) and not root.decisive else (root,)))


def _clause(root: Node) -> Clause:
    return Clause(root, frozenset(path for path, _ in root.landmarks()))


_FIRST = ("ddp.use_megatron_fsdp", *SWITCHES, "checkpoint.ckpt_format", "ddp.data_parallel_sharding_strategy")
"""Settings that most rules depend on."""

_MOST_VALUES = 12
"""Values of a setting that are tried."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A setting of a recipe, what keeps it from being known, and a value with which these rules would fire."""

    recipe: Recipe
    path: str
    obstacle: Obstacle
    value: Plain
    codes: tuple[str, ...]


def undecided(recipe: Recipe, views: Views, asked: Agenda, broken: Collection[str]) -> Iterator[Undecided]:
    """Yield the undecided settings of a variant, after its rules were asked; rules in `broken` are reported anyway."""
    written = views.written
    told: set[Obstacle] = set()
    paths = {path for clause in views.open for path in clause.paths}
    # Those that decide most come first.
    for path in (*(path for path in dict.fromkeys(_FIRST) if path in paths), *sorted(paths.difference(_FIRST))):
        if not isinstance(written.value(path), (Unknown, NotNone)):
            continue
        obstacle = written.settings.obstacle(path)
        if obstacle is None or obstacle in told:
            continue
        for value in _values(path, views):
            supposed = replace(written, settings=With(written.settings, Setting(path, Known(value))))
            codes = _broken(Views(supposed, views.site), asked, broken)
            if codes:
                told.add(obstacle)
                yield Undecided(recipe, path, obstacle, value, codes)
                break


def _values(path: str, views: Views) -> Sequence[Plain]:
    """Collect values that may make a difference: choices, values in the rules' comparisons, numbers beside them."""
    from mfsdp_lint.megatron.vocabulary import table

    entry = table().entry(path)
    found: list[Plain] = [True, False] if entry is None or entry.type == "bool" else list(entry.choices)
    for clause in views.open:
        for there, literals in clause.node.landmarks():
            if there == path:
                found += literals
    found += [number + by for number in found for by in (1, -1) if type(number) is int]
    return list({repr(value): value for value in found}.values())[:_MOST_VALUES]


def _broken(views: Views, asked: Agenda, known: Collection[str]) -> tuple[str, ...]:
    found = (rule.code for rule, case in asked.broken(views) if case.severity != "info")
    return tuple(dict.fromkeys(code for code in found if code not in known))
