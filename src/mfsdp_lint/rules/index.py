"""The rules of one site, arranged so that a recipe that no rule concerns is judged fast; and a variant as they see it.

`SettingsViews` has the settings of a variant at each point of a run; start-up is worked out where a rule asks for it.

A rule is silent about what is unknown. Where some value of one setting alone would make a rule of level error or
warning fire, and the setting is unknown because a call in the user's files is not followed, that is told; once for each
such call, about the setting that decides most.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache

from mfsdp_lint.core.recipe import Obstacle, Recipe, Setting, Settings, Undeclared, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer, With
from mfsdp_lint.core.values import UNKNOWN, Known, NotNone, Plain, Unknown, Value
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.conditions.nodes import Junction, Node
from mfsdp_lint.megatron.startup import StartupStep, startup
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE, Resolution, resolve
from mfsdp_lint.megatron.versions import GPU_MEMORY, Target, gpu_in
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.rules.model import STEP_VIEW, Case, Rule, Sees


@dataclass(frozen=True, slots=True)
class Clause:
    """An arm of a condition, and the settings in it."""

    node: Node
    paths: frozenset[str]


GPU, STATE = "run.gpu_memory", "run.model_state"
"""The memory of the GPU that a recipe is for, and the model state that a rank surely holds, in GiB."""


class _OnGpu(Layer):
    """Settings as they will run on a GPU; the model state is worked out when a rule asks for it."""

    __slots__ = ("_memory", "_state")

    def __init__(self, below: Settings, memory: int, state: Callable[[], Value]) -> None:
        super().__init__(below)
        self._memory, self._state = memory, cache(state)

    def get(self, path: str) -> Setting | None:
        return Setting(path, self.value(path)) if path in (GPU, STATE) else self.below.get(path)

    def value(self, path: str) -> Value:
        if path == GPU:
            return Known(self._memory)
        return self._state() if path == STATE else self.below.value(path)


def gpu_memory(recipe: Recipe, target: Target) -> int | None:
    """Return the GiB of the GPU that the target or the recipe names: in its arguments, its name, its module; None if
    none does."""
    given = (value for value in recipe.arguments.values() if isinstance(value, str) and value.lower() in GPU_MEMORY)
    return GPU_MEMORY.get(target.gpu or gpu_in((*given, recipe.name, recipe.qualified_name)) or "")


class SettingsViews:
    """A variant at one site; `gpu` is the memory of its GPU in GiB, if that is known."""

    __slots__ = ("_at_steps", "_changeable", "_gpu", "_resolution", "_run", "open", "presumed", "site", "written")

    def __init__(self, written: Variant, site: Site, gpu: int | None = None) -> None:
        self.open: list[Clause] = []
        """Clauses that were asked and are not decided."""
        self.presumed: Sequence[Undeclared] | None = None
        """The writes by name that are presumed to be no fields, once a rule has asked for them."""
        self.written = written
        self.site = site
        self._changeable: frozenset[str] | None = None
        self._resolution: Resolution | None = None
        self._gpu = gpu
        self._run: Variant | None = None
        self._at_steps: dict[Sees, Variant] = {}

    def of(self, sees: Sees) -> Variant:
        """Return the settings that a case looks at."""
        match sees:
            case "written":
                return self.written
            case "validation":
                return self.resolution.validation
            case "run":
                return self.run
        if sees not in self._at_steps:
            self._at_steps[sees] = self.resolution.after(len(steps_until(sees, self.site)))
        return self._at_steps[sees]

    @property
    def changeable(self) -> frozenset[str]:
        """The settings that may be something else in the other views than what is written."""
        if self._changeable is None:
            self._changeable = changeable(self.written, self.site) | ({GPU, STATE} if self._gpu else _NOTHING)
        return self._changeable

    @property
    def run(self) -> Variant:
        """The settings that will run."""
        if self._run is None:
            self._run = run = self.resolution.run
            if self._gpu is not None:
                self._run = replace(run, settings=_OnGpu(run.settings, self._gpu, self._state))
        return self._run

    def _state(self) -> Value:
        from mfsdp_lint.memory.estimate import least_state

        held = least_state(self.resolution.run.settings, self.site.target, self._world_size())
        return UNKNOWN if held is None else Known(held * 10 // 2**30 / 10)

    @property
    def resolution(self) -> Resolution:
        """The settings after start-up."""
        if self._resolution is None:
            self._resolution = resolve(
                self.written, self.site.target, self._world_size(), front_end=self.site.front_end
            )
        return self._resolution

    def _world_size(self) -> int | None:
        match self.written.value(WORLD_SIZE):
            case Known(int() as ranks) if not isinstance(ranks, bool):
                return ranks
            case _:
                return None


@dataclass(frozen=True, slots=True)
class _Effect:
    """A step of start-up from afar: when it is taken, and all that it may write."""

    when: Condition | None
    asks: frozenset[str]
    writes: frozenset[str]
    spread: tuple[str, str] | None


@cache
def steps_until(sees: Sees, site: Site) -> tuple[StartupStep, ...]:
    """Return the steps up to the view `before STEP` or `after STEP`; none if start-up has no such step."""
    match = STEP_VIEW.fullmatch(sees)
    steps = startup(site.target, site.front_end)
    places = [number for number, step in enumerate(steps) if match and step.name == match[2]]
    if match is None or not places:
        return ()
    return steps[: places[0]] if match[1] == "before" else steps[: places[-1] + 1]


def changeable(variant: Variant, site: Site) -> frozenset[str]:
    """Collect the settings that start-up may change in a variant: a superset of those it does, and far cheaper."""
    found: set[str] = set()
    for effect in _effects(site):
        if effect.when and found.isdisjoint(effect.asks) and effect.when.truth(variant) is False:
            continue
        found |= effect.writes
        if effect.spread:
            source, section = effect.spread
            given = variant.value(source)
            if isinstance(given, Known) and isinstance(given.value, dict):
                found |= {f"{section}.{name}" for name in given.value}
    return frozenset(found)


@cache
def _effects(site: Site) -> tuple[_Effect, ...]:
    return tuple(
        _Effect(step.when, step.when.paths() if step.when else frozenset(), frozenset(_writes([step])), step.spread)
        for step in startup(site.target, site.front_end)
    )


def _writes(steps: Sequence[StartupStep]) -> Iterator[str]:
    for step in steps:
        yield from (path for path, _ in (*step.writes, *step.copies))
        yield from _writes(step.steps)


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

    def answer(self, views: SettingsViews) -> Case | None:
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


def _hold(clauses: Sequence[Clause], sees: Sees, views: SettingsViews) -> bool:
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


def _holds(clause: Clause, variant: Variant, views: SettingsViews) -> bool:
    """Tell whether a clause is true; an undecided one is added to `views.open`."""
    truth = clause.node.truth(variant)
    if truth is None:
        views.open.append(clause)
    return truth is True


class Gate:
    """A clause that several rules begin with, and the views in which they ask it.

    What they ask behind it is only worked out for a variant that gets there.
    """

    __slots__ = ("_questions", "clause", "is_idle", "rules", "sees", "site")

    def __init__(self, rules: Sequence[Rule], site: Site) -> None:
        self.rules = rules
        self.site = site
        self.clause = _clause(rules[0].gate.at(site).root)
        self.sees = tuple(dict.fromkeys(sees for rule in rules for sees in rule.views))
        self._questions: tuple[RuleQuestion, ...] | None = None
        self.is_idle = False
        """Says that it has no question, as is known by now."""

    def open(self, views: SettingsViews) -> bool:
        """Tell whether any question behind the gate may have an answer."""
        if self.is_idle:
            return False
        undecided = len(views.open)
        if views.changeable.isdisjoint(self.clause.paths):
            holds = _holds(self.clause, views.written, views)
        else:
            holds = any(_holds(self.clause, views.of(sees), views) for sees in self.sees)
        if len(views.open) > undecided and not self.questions:
            del views.open[undecided:]  # nobody asks for what is not decided there
        return holds

    @property
    def questions(self) -> tuple[RuleQuestion, ...]:
        """The questions of the rules that apply at the site."""
        if self._questions is None:
            here = (rule.at(self.site.target, self.site.front_end) for rule in self.rules)
            self._questions = tuple(RuleQuestion(rule) for rule in here if rule is not None)
            self.is_idle = not self._questions
        return self._questions


@dataclass(frozen=True, slots=True)
class RuleIndex:
    """The questions of one site: about settings, behind gates, and the rules about assignments and about text."""

    gates: tuple[Gate, ...]
    of_writes: tuple[Rule, ...] = ()
    of_text: tuple[Rule, ...] = ()

    @property
    def idle(self) -> tuple[int, ...]:
        """The numbers of the gates that were found to have no question behind them."""
        return tuple(number for number, gate in enumerate(self.gates) if gate.is_idle)

    def mark_idle(self, numbers: Sequence[int]) -> None:
        """Mark gates as found to have no question behind them."""
        for number in numbers:
            self.gates[number].is_idle = True

    def broken(self, views: SettingsViews) -> Iterator[tuple[Rule, Case]]:
        """Yield the rules that a variant breaks, each with the case."""
        for gate in self.gates:
            if gate.open(views):
                for question in gate.questions:
                    if case := question.answer(views):
                        yield question.rule, case


_KEPT = 16
_known: dict[tuple[tuple[int, ...], Site], tuple[Sequence[Rule], RuleIndex]] = {}
"""The latest agendas by the ids of the rules, which are kept with them. A proof asks for the same one many times."""


def agenda(rules: Sequence[Rule], site: Site) -> RuleIndex:
    """Return the agenda of the rules at a site, cached."""
    key = tuple(map(id, rules)), site
    if key not in _known:
        while len(_known) >= _KEPT:
            del _known[next(iter(_known))]
        _known[key] = rules, arranged(rules, site)
    return _known[key][1]


def arranged(rules: Sequence[Rule], site: Site) -> RuleIndex:
    """Return an agenda of the rules at a site."""
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
    return RuleIndex(
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
    """A setting of a recipe, what keeps it from being known, and a value with which these rules would fire.

    `others` is the number of other settings that rules ask for, and that the same keeps from being known.
    """

    recipe: Recipe
    path: str
    obstacle: Obstacle
    value: Plain
    codes: tuple[str, ...]
    others: int = 0


def undecided(recipe: Recipe, views: SettingsViews, asked: RuleIndex, broken: Collection[str]) -> Iterator[Undecided]:
    """Yield the undecided settings of a variant, after its rules were asked; rules in `broken` are reported anyway."""
    written = views.written
    told: set[Obstacle] = set()
    paths = {path for clause in views.open for path in clause.paths}
    # Those that decide most come first.
    order = (*(path for path in dict.fromkeys(_FIRST) if path in paths), *sorted(paths.difference(_FIRST)))
    unknown = (path for path in order if isinstance(written.value(path), (Unknown, NotNone)))
    obstacles = {path: found for path in unknown if (found := written.settings.obstacle(path)) is not None}
    for path, obstacle in obstacles.items():
        if obstacle in told:
            continue
        for value in _deciding_values(path, views):
            supposed = replace(written, settings=With.known(written.settings, {path: value}))
            codes = _further_broken(SettingsViews(supposed, views.site), asked, broken)
            if codes:
                told.add(obstacle)
                others = list(obstacles.values()).count(obstacle) - 1
                yield Undecided(recipe, path, obstacle, value, codes, others)
                break


def _deciding_values(path: str, views: SettingsViews) -> Sequence[Plain]:
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


def _further_broken(views: SettingsViews, asked: RuleIndex, known: Collection[str]) -> tuple[str, ...]:
    found = (rule.code for rule, case in asked.broken(views) if case.severity != "info")
    return tuple(dict.fromkeys(code for code in found if code not in known))
