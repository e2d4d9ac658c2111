"""A call out of sight changes what it is given, unless it is listed as one that does not."""

from __future__ import annotations

import collections
import contextlib
from typing import Any

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.python.state import effects
from mfsdp_lint.readers.python.state.effects import Effect, effect, effect_of_method
from tests.readers.python.agreement import evaluate
from tests.readers.python.test_meaning import FRAME

CODE = """
import concurrent.futures, json, logging, math, multiprocessing, random, sched, warnings
import logging as log

def change(model):
    model.size = 9

SHARED = ConfigContainer()

def change_shared():
    SHARED.model.size = 9
"""


def size(lines: str, parameters: str = "") -> object:
    body = "\n".join(f"    {line}" for line in lines.split("\n"))
    found = evaluate(f"{FRAME}{CODE}\ndef recipe({parameters}):\n    cfg = ConfigContainer()\n{body}\n    return cfg\n")
    assert found is not None
    return found.setting("model.size").value


@pytest.mark.parametrize(
    "lines",
    [
        "multiprocessing.Pool().map(change, [cfg.model])",
        "concurrent.futures.ProcessPoolExecutor().submit(change, cfg.model)",
        "sched.scheduler().enter(1, 1, change, (cfg.model,))",
        "sched.scheduler().enter(1, 1, lambda: change(cfg.model))",
        "json.dumps({}, default=lambda _: change(cfg.model))",
        "somebody.apply(cfg.model)",
        "json.dumps(cfg.model, default=change)",
        "json.dumps({'a': [cfg.model]}, default=change)",
        "json.dumps([cfg], default=lambda each: each.grow())",
        "json.dumps([cfg], default=lambda each: setattr(each.model, 'size', 9))",
        "import yaml; yaml.add_multi_representer(cfg, change)",
    ],
)
def test_what_it_is_given_becomes_unknown(lines: str) -> None:
    assert not isinstance(size(lines, "somebody"), Known)


@pytest.mark.parametrize("name", ["trace", "code", "token", "profile", "logging", "json"])
def test_a_parameter_called_like_a_module_is_not_that_module(name: str) -> None:
    assert not isinstance(size(f"{name}.apply(cfg.model)", name), Known)


def test_what_a_function_that_is_handed_over_reaches_in_its_module_becomes_unknown() -> None:
    code = f"{FRAME}{CODE}\ndef recipe():\n    sched.scheduler().enter(1, 1, change_shared)\n    return SHARED\n"
    found = evaluate(code)
    assert found is not None
    assert not isinstance(found.setting("model.size").value, Known)


@pytest.mark.parametrize(
    "lines",
    [
        "logging.getLogger(__name__).info('%s', cfg)",
        "log.info(cfg)",
        "warnings.warn(str(cfg))",
        "json.dumps(vars(cfg), default=str)",
        "json.dumps([cfg], default=lambda each: each.__dict__)",
        "json.dumps([cfg], default=lambda each: [str(part) for part in vars(each).values()])",
        "print(cfg, math.sqrt(4))",
        "logging.getLogger().addFilter(lambda record: change(cfg.model))",
    ],
)
def test_telling_of_it_costs_nothing(lines: str) -> None:
    assert size(lines) == Known(1)


LOOKING = """
def first(names):
    inside = False
    end = len(names)
    for number, name in enumerate(names):
        if name == "[":
            inside = True
        elif name == "]":
            inside = False
        elif name == "," and not inside:
            end = number
            break
    {also}
    return names[:end]

NODE = first(os.environ["NODES"])

def recipe():
    return SHARED
"""


def test_a_function_that_only_looks_and_cannot_be_followed_changes_nothing_around_it() -> None:
    looks, writes = (
        evaluate(f"{FRAME}{CODE}{LOOKING.format(also=also)}") for also in ("pass", "SHARED.model.size = 9")
    )
    assert looks is not None
    assert writes is not None
    assert looks.setting("model.size").value == Known(1)
    assert not isinstance(writes.setting("model.size").value, Known)


TABLES = (effects.TELLS, effects.READS, effects.KEEPS, effects.FILLS, effects.CHANGES, effects.RUNS)


def test_every_name_is_listed_once_and_with_its_reason() -> None:
    assert all(reason for table in TABLES for reason in table.values())
    assert sum(map(len, TABLES)) == len(effects.EFFECTS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logging.getLogger().info", Effect.NOTHING),
        ("json.dumps", Effect.CALLS),
        ("builtins.getattr", Effect.KEEPS),
        ("functools.partial", Effect.KEEPS),
        ("random.shuffle", Effect.FILLS),
        ("random.Random().shuffle", Effect.FILLS),
        ("random.Random().random", Effect.CALLS),
        ("heapq.heappush", Effect.FILLS),
        ("heapq.nlargest", Effect.KEEPS),
        ("builtins.list.append", Effect.FILLS),
        ("builtins.list.index", Effect.KEEPS),
        ("unittest.mock.patch.object", Effect.ANYTHING),
        ("concurrent.futures.wait", Effect.ANYTHING),
        ("somebody.unheard.of", Effect.ANYTHING),
        ("builtins.exec", Effect.RUNS),
    ],
)
def test_the_longest_name_that_is_listed_counts(name: str, expected: Effect) -> None:
    assert effect(name) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("warning", Effect.NOTHING),
        ("write", Effect.CALLS),
        ("items", Effect.KEEPS),
        ("update", Effect.FILLS),
        ("popleft", Effect.FILLS),
        ("__setattr__", Effect.ANYTHING),
        ("finalize", Effect.ANYTHING),
    ],
)
def test_a_method_of_an_unknown_object_is_the_worst_of_those_with_its_name(name: str, expected: Effect) -> None:
    assert effect_of_method(name) is expected


@pytest.mark.parametrize("kind", [list, dict, set, bytearray, collections.deque, collections.OrderedDict])
def test_what_changes_a_container_is_listed(kind: Any) -> None:
    """Found by trying: every method that leaves a container other than it was."""
    module = kind.__module__
    for name in dir(kind):
        if name.startswith("_"):
            continue
        for arguments in ((), (1,), ([9],), ([(8, 9)],), (0, 7)):
            container = kind([(1, 2), (3, 4)]) if issubclass(kind, dict) else kind([1, 2])
            before = repr(container)
            with contextlib.suppress(Exception):
                getattr(container, name)(*arguments)
            if repr(container) != before:
                assert effect(f"{module}.{kind.__name__}.{name}") is Effect.FILLS, name


@pytest.mark.parametrize(
    "lines",
    ["holder.grow(*sizes)", "grow = holder.grow; grow(*sizes)", "grow(*sizes)", "Holder(*sizes)"],
)
def test_a_call_with_an_unknown_number_of_arguments_may_change_what_its_code_reaches(lines: str) -> None:
    code = """
class Holder:
    def __init__(self, *sizes):
        self.cfg = SHARED
        grow(*sizes)

    def grow(self, *sizes):
        self.cfg.model.size = 9

def grow(*sizes):
    SHARED.model.size = 9
"""
    body = f"    holder = Holder()\n    SHARED.model.size = 1\n    {lines}\n    return SHARED\n"
    found = evaluate(f"{FRAME}{CODE}{code}\ndef recipe(sizes):\n{body}")
    assert found is not None
    assert not isinstance(found.setting("model.size").value, Known)
