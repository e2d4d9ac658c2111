"""Each rule about start-up looks at the settings as they are where upstream checks them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.conditions.nodes import Junction, Node
from mfsdp_lint.megatron.startup import StartupStep, startup
from mfsdp_lint.megatron.startup.resolve import _StartupRun
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.rules.index import SettingsViews
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import STEP_VIEW, Case, Rule
from tests.rules.solve import Pool, pool_of, solutions, variant
from tools.evidenced import BRIDGE, bridge_site
from tools.startup_order import Order, Position, every_step, read

ORDERS = read()
DRAWS = 30


def position_of(step: StartupStep, order: Order) -> Position:
    assert step.place is not None
    return order.positions(step.place.path, step.place.line)[0]


def before(position: Position, steps: Sequence[StartupStep], order: Order) -> Iterator[StartupStep]:
    """The steps, without all that they write after a position."""
    for step in steps:
        kept = position_of(step, order) < position
        yield replace(
            step,
            writes=step.writes if kept else (),
            copies=step.copies if kept else (),
            spread=step.spread if kept else None,
            steps=tuple(before(position, step.steps, order)),
        )


def of_startup(rule: Rule, site: Site) -> list[Case]:
    """The cases of a rule that tell of a check of start-up's."""
    here = rule.at(site.target)
    cases = here.cases if here and here.judges == "settings" else ()
    return [each for each in cases if each.stage == "startup" and each.enforcer in ("validation", "dataclass")]


def question(rule: Rule, case: Case) -> Node:
    return Junction((rule.applies.root, case.when.root), decisive=False) if case.when else rule.applies.root


KINDS: Mapping[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float), "str": (str,)}


def typed(path: str, values: Sequence[Plain]) -> tuple[Plain, ...]:
    """The values that a setting can have by the vocabulary."""
    entry = table().entry(path)
    if entry is None or entry.type not in KINDS:
        return tuple(values)
    kinds = KINDS[entry.type]
    fit = [
        each
        for each in (*values, *entry.choices)
        if isinstance(each, kinds) and (isinstance(each, bool) is (entry.type == "bool"))
    ]
    chosen = [each for each in fit if not entry.choices or each in entry.choices]
    return (*dict.fromkeys(chosen), None) if entry.optional or not chosen else tuple(dict.fromkeys(chosen))


def drawn(node: Node, steps: Sequence[StartupStep], seed: str) -> Iterator[Variant]:
    """Settings that make a condition true, and any, with all that decides what the steps do."""
    draw = random.Random(seed)
    guards = [step.when.root for step in every_step(steps) if step.when]
    pool: Pool = {path: typed(path, values) for path, values in pool_of(node, *guards).items()}
    solved: list[dict[str, Plain]] = [dict(found) for found in islice(solutions(node, True, pool, {}), DRAWS)]
    for given in [*solved, *[{} for _ in range(DRAWS)]]:
        rest = {path: draw.choice(values) for path, values in pool.items() if path not in given}
        yield variant({**rest, **given})


@cache
def checks(version: str) -> list[tuple[Position, Case, Node]]:
    """Every check of start-up that a rule tells of, with the case and its question."""
    site = bridge_site(version)
    found = []
    for rule in load_rules():
        here = rule.at(site.target)
        for case in of_startup(rule, site) if here else ():
            places = ORDERS[version].raising(case.error.pieces()) if case.error else []
            found += [(places[0], case, question(here, case))] if here and places else []
    return found


def refused_before(position: Position, settings: Variant, version: str) -> bool:
    """Check that another check, which start-up makes earlier, refuses the settings already."""
    views = SettingsViews(settings, bridge_site(version))
    return any(place < position and node.truth(views.of(case.sees)) for place, case, node in checks(version))


CASES = [
    pytest.param(version, rule, id=f"{version}-{rule.code}")
    for version in BRIDGE
    for rule in load_rules()
    if of_startup(rule, bridge_site(version))
]


@pytest.mark.parametrize(("version", "rule"), CASES)
def test_no_step_between_the_view_and_the_check_changes_the_answer(version: str, rule: Rule) -> None:
    site, order = bridge_site(version), ORDERS[version]
    here = rule.at(site.target)
    assert here is not None
    steps = tuple(each for each in startup(site.target) if each.phase != "wrap")
    for number, case in enumerate(of_startup(rule, site)):
        node = question(here, case)
        paths = {path for path, _ in node.landmarks()}
        touching = [each for each in steps if paths & written_by(each)]
        positions = order.raising(case.error.pieces()) if case.error else []
        taken = [list(before(each, steps, order)) for each in positions] if touching else []
        for settings in drawn(node, touching, f"{version}{rule.code}{number}") if touching and positions else ():
            seen = node.truth(SettingsViews(settings, site).of(case.sees))
            checked = {node.truth(after(each, settings)) for each in taken}
            if seen is not None and not checked & {seen, None}:
                values = {path: settings.value(path) for path in sorted(paths)}
                assert refused_before(positions[0], settings, version), (case.error, seen, values)


def after(steps: Sequence[StartupStep], variant: Variant) -> Variant:
    run = _StartupRun(variant, None, steps)
    return run.state(run.now())


def written_by(step: StartupStep) -> set[str]:
    return {path for inner in every_step([step]) for path, _ in (*inner.writes, *inner.copies)}


# -- the form of a view ----------------------------------------------------------------------------------------------


def seen_at(sees: str) -> Plain | None:
    settings = {"ddp.use_megatron_fsdp": True, "ddp.average_in_collective": True, "dist.use_megatron_fsdp": False}
    value = SettingsViews(variant(settings), bridge_site("0.3.1")).of(sees).value("ddp.average_in_collective")
    return value.value if isinstance(value, Known) else None


def test_a_view_before_or_after_a_step_has_what_the_steps_until_then_changed() -> None:
    assert seen_at("validation") is True
    assert seen_at("before Megatron-FSDP") is True
    assert seen_at("after Megatron-FSDP") is False


def test_where_start_up_has_no_such_step_nothing_is_changed() -> None:
    assert seen_at("after a step that nobody takes") is True


def named_steps(rule: Rule, version: str) -> list[str]:
    here = rule.at(bridge_site(version).target)
    found = [STEP_VIEW.fullmatch(case.sees) for case in here.cases] if here else []
    return [match[2] for match in found if match]


@pytest.mark.parametrize("version", BRIDGE)
def test_a_step_that_a_rule_names_is_one_of_each_of_its_releases(version: str) -> None:
    names = {step.name for step in startup(bridge_site(version).target)}
    for rule in load_rules():
        assert [name for name in named_steps(rule, version) if name not in names] == [], rule.code
