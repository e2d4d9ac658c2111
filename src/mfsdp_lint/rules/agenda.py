"""What to ask about a variant: the rules of one site, put so that a recipe that none is about is soon done with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from mfsdp_lint.conditions.applicability import Site
from mfsdp_lint.conditions.language import Condition
from mfsdp_lint.conditions.nodes import Junction, Node
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.rules.model import Case, Rule, Sees
from mfsdp_lint.rules.views import Views

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Clause:
    """One arm of what has to hold, and the settings in it."""

    node: Node
    paths: frozenset[str]


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
        """The case in which the rule is broken, if one is."""
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
        """What has to hold in each case on top."""
        if self._cases is None:
            self._cases = tuple(_arms(case.when) if case.when else () for case in self.rule.cases)
        return self._cases


def _hold(clauses: Sequence[Clause], sees: Sees, views: Views) -> bool:
    """Whether all of them hold. Those that start-up has no say in are asked first, for it takes time to work out."""
    written, changeable = views.written, _NOTHING if sees == "written" else views.changeable
    changed = []
    for clause in clauses:
        if not changeable.isdisjoint(clause.paths):
            changed.append(clause.node)
        elif not clause.node.truth(written):
            return False
    if changed:
        seen = views.of(sees)
        for node in changed:
            if not node.truth(seen):
                return False
    return True


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
        """Whether any question behind it may have an answer."""
        if self._questions == ():
            return False
        if views.changeable.isdisjoint(self.clause.paths):
            return bool(self.clause.node.truth(views.written))
        return any(self.clause.node.truth(views.of(sees)) for sees in self.sees)

    @property
    def questions(self) -> tuple[RuleQuestion, ...]:
        """Those of the rules that say something at the site."""
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
        """The rules that a variant breaks, each with the case."""
        for gate in self.gates:
            if gate.open(views):
                for question in gate.questions:
                    if case := question.answer(views):
                        yield question.rule, case


_KEPT = 16
_known: dict[tuple[tuple[int, ...], Site], tuple[Sequence[Rule], Agenda]] = {}
"""The latest agendas by the ids of the rules, which are kept with them. A proof asks for the same one many times."""


def agenda(rules: Sequence[Rule], site: Site) -> Agenda:
    """The rules as they read at a site."""
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
