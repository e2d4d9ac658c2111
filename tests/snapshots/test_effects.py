"""Effects are what a function does with its arguments: nothing is lost of that, and nothing else is kept."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from benchmarks.snapshot_calls import calls, compare
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.values.objects import Function
from mfsdp_lint.snapshots.effects import executable
from tools.snapshot.effects import lower
from tools.snapshot.encode import Encoder
from tools.snapshot.summarise import Watching

MODULE = """\
import logging
import os

LIMIT = 3
TRACKER = None
logger = logging.getLogger(__name__)
"""


def effects_of(tmp_path: Path, code: str) -> tuple[Function, Any]:
    path = tmp_path / "upstream.py"
    path.write_text(MODULE + dedent(code), encoding="utf-8")
    finder = ModuleFinder(Sources(), [str(tmp_path)])
    module = finder.load(str(path), "upstream")
    assert module is not None
    interp = Watching(finder)
    function = resolve_global(interp, module, "f")
    assert isinstance(function, Function)
    return function, lower(interp, {"upstream": module}, Encoder(interp, lambda _: None, None, {}), function)


DOES = {
    "a local name is a number": ("n = os.path.join(x, 'a')\nreturn n", "$0 = os.path.join(x, 'a')\nreturn $0"),
    "a constant of the module is its value": ("return x * LIMIT", "return x * 3"),
    "what is None until another function sets it is not known": ("TRACKER.add(x)", "$global.add(x)"),
    "text for people is left out": ("'''Doc.'''\nlogger.info(x)\nprint(x)\nreturn x", "return x"),
    "so is the text of an error": ("raise ValueError(f'no {x}')", "raise ValueError"),
    "so are annotations": ("n: int = x\nreturn n", "$0 = x\nreturn $0"),
    "branches": (
        "if x is None and not y:\n    y += 1\nelif x > 2:\n    y = -x\nreturn x if y else [*z]",
        "if x is None and (not y):\n    y += 1\nelif x > 2:\n    y = -x\nreturn x if y else [*z]",
    ),
    "loops": (
        "for k, v in z.items():\n    if k in x:\n        continue\n    setattr(x, k, v)",
        "for $0, $1 in z.items():\n    if $0 in x:\n        continue\n    setattr(x, $0, $1)",
    ),
    "collections": ("return {**z, 'a': (x, y[1:])}, {x, y}", "return ({**z, 'a': (x, y[1:])}, {x, y})"),
    "comprehensions": ("return {k: v for k, v in z.items() if v}", "return {$0: $1 for $0, $1 in z.items() if $1}"),
    "text made of arguments": ("return f'{x!r}-{y:>{z}}'", "return f'{x!r}-{y:>{z}}'"),
    "errors that are caught": (
        "try:\n    return x.a\nexcept AttributeError as e:\n    return e",
        "try:\n    return x.a\nexcept AttributeError as $0:\n    return $0",
    ),
    "functions inside": ("return lambda n=1: n + x", "return lambda n=1: n + x"),
}  # fmt: skip


@pytest.mark.parametrize("case", DOES)
def test_effects_say_what_the_function_does(case: str, tmp_path: Path) -> None:
    code, done = DOES[case]
    function, lowered = effects_of(
        tmp_path, "def f(x, y=2, *z):\n" + "".join(f"    {line}\n" for line in code.split("\n"))
    )
    made = executable("f", function.node.args, json.loads(json.dumps(lowered.described)))
    assert "\n".join(map(ast.unparse, made.body)) == done
    assert (made.lineno, made.end_lineno) == (function.node.lineno, function.node.end_lineno)


@pytest.mark.parametrize("code", ["yield x", "global LIMIT\n    LIMIT = x", "return __file__", "return unheard_of(x)"])
def test_what_is_more_than_effects_on_values_has_none(code: str, tmp_path: Path) -> None:
    assert effects_of(tmp_path, f"def f(x):\n    {code}\n")[1] is None


def test_a_call_of_the_wheels_recipes_is_what_its_source_says() -> None:
    root = Path(__file__).parents[2] / ".cache/megatron-bridge-0.3.1"
    tally = compare(list(calls(root))[40::440], "0.3.1", [str(root)])
    # The wheel has no megatron-core: of what its classes say, the source says nothing.
    assert [line for line in tally.told if not line.endswith("from source unknown")] == []
    assert tally.at_text == tally.decided > 0
