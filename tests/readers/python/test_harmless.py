"""A call out of sight changes what it is given, unless it is listed as one that does not."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.python.state.harmless import CHANGES, READS, TELLS, changes_nothing
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
        "print(cfg, math.sqrt(4))",
        "logging.getLogger().addFilter(lambda record: change(cfg.model))",
    ],
)
def test_telling_of_it_costs_nothing(lines: str) -> None:
    assert size(lines) == Known(1)


def test_every_entry_has_a_reason_and_holds_for_what_is_below_it() -> None:
    assert all({**TELLS, **READS, **CHANGES}.values())
    assert changes_nothing("logging.getLogger().info")
    assert not changes_nothing("random.shuffle")
    assert not changes_nothing("concurrent.futures.wait")
