"""Calls that are repeated with unknown arguments: an earlier outcome is taken where it can only be the same one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.readers.python.eval import repeated_calls
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import Object

RECIPE = """
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

LOG = []
STATE = {"offload": False}


{helper}


def ask():
    return input()


def recipe(names):
    cfg = llama3_8b_pretrain_config()
    first, second = ask(), ask()
{body}
    return cfg
"""

OFFLOAD = """
    if {first}:
        cfg.model.cpu_offloading = True
        cfg.model.cpu_offloading_num_layers = 2
    if {second}:
        cfg.model.recompute_granularity = "full"
        cfg.model.recompute_method = "uniform"
        cfg.model.recompute_num_layers = 1
"""

HELPERS = {
    "one argument is one value": ("def same(x):\n    return x", "a, b = same(first), same(first)", "a", "not b", False),
    "two arguments are two values": ("def same(x):\n    return x", "a, b = same(first), same(second)", "a", "b", True),
    "a new value each time": (
        "def made(x):\n    return {'x': open(x).read()}",
        "a, b = made(first), made(second)",
        "a['x']",
        "not b['x']",
        True,
    ),
    "a part of one argument": (
        "def part(x):\n    return [x.y]",
        "a, b = part(first), part(first)",
        "a[0]",
        "not b[0]",
        False,
    ),
    "what is written to the result of one call stays there": (
        "def made(x):\n    return {'on': False}",
        "a, b = made(first), made(second)\n    a['on'] = True",
        "a['on']",
        "b['on']",
        False,
    ),
    "a helper that changes its module": (
        "def turn(x):\n    before = STATE['offload']\n    STATE['offload'] = True\n    return [before]",
        "a, b = turn(first), turn(second)",
        "b[0]",
        "b[0]",
        True,
    ),
    "a helper that raises for what was decided about its argument": (
        "def checked(x):\n    if x:\n        raise ValueError\n    return [1]",
        "checked(first)\n    a = [first]",
        "a[0]",
        "a[0]",
        False,
    ),
    "in a loop of unknown length": (
        "def on(x):\n    return [True]",
        "a = []\n    for name in names:\n        on(name)\n    a = on(first) + on(second)",
        "a[0]",
        "a[1]",
        True,
    ),
}


def refused(helper: str, body: str, first: str, second: str) -> bool:
    """Tell whether a run that offloads and recomputes is found, which Megatron refuses."""
    body = f"    {body}" + OFFLOAD.replace("{first}", first).replace("{second}", second)
    Path("recipes.py").write_text(RECIPE.replace("{helper}", helper).replace("{body}", body))
    options = Options(paths=("recipes.py::recipe",), target_bridge="0.3.1", output_format=("concise",))
    return any(finding.code == "MFSDP401" for finding in run(options).findings)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("helper", "body", "first", "second", "is_refused"), HELPERS.values(), ids=HELPERS)
def test_an_earlier_outcome_changes_no_answer(
    helper: str, body: str, first: str, second: str, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = refused(helper, body, first, second)
    monkeypatch.setattr("mfsdp_lint.readers.python.eval.functions.repeated", lambda *_: None)
    assert found == refused(helper, body, first, second) == is_refused


def test_a_helper_is_followed_once_for_all_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Call] = []
    again = repeated_calls.Outcome.again

    def watched(outcome: repeated_calls.Outcome, interp: Interpreter, call: Call) -> Object:
        taken.append(call)
        return again(outcome, interp, call)

    monkeypatch.setattr(repeated_calls.Outcome, "again", watched)
    refused("def made(x):\n    return [open(x).read()]", "made(first), made(second), made(ask())", "names", "names")
    assert len(taken) >= 2
