"""Models of the standard library, written in Python: the evaluator follows them like any other function.

A file of `library/written` has modules of the standard library, each behind an assignment of its `__name__`. It gives a
function's effects on its arguments, and the order in which it calls the functions among them, but not its ways of being
fast. A function of one statement stands on one line. Nobody imports these files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mfsdp_lint.core import files
from mfsdp_lint.readers.python.eval import classes
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.interpreter import Interpreter, remembered
from mfsdp_lint.readers.python.values.code import StarOut
from mfsdp_lint.readers.python.values.objects import MISSING, External, Module, Object

WRITTEN = Path(__file__).parents[1] / "library" / "written"

SAME_AS = {
    "tqdm.auto": "tqdm",
    "tqdm.autonotebook": "tqdm",
    "tqdm.notebook": "tqdm",
    "tqdm.std": "tqdm",
    "mock": "unittest.mock",
    "attr": "attrs",
    "pydantic.main": "pydantic",
    "rich_click": "click",
}
"""Modules that offer what another one has."""

OF_TYPING = {
    f"typing.{name}": f"collections.abc.{name}"
    for name in ("Mapping", "MutableMapping", "Sequence", "MutableSequence", "Set", "MutableSet")
}
"""Classes that `typing` offers under a name of its own."""


@remembered()
def written(interp: Interpreter, name: str) -> Object:
    """Return the function or class with this dotted name (`itertools.chain.from_iterable` is written
    `chain_from_iterable`); MISSING where nobody wrote a model of it.
    """
    parts = OF_TYPING.get(name, name).split(".")
    for length in range(len(parts) - 1, 0, -1):
        top = ".".join(parts[:length])
        top = SAME_AS.get(top, top)
        if top not in _modules():
            continue
        found = resolve_global(interp, _module(interp, top), "_".join(parts[length:]))
        return MISSING if isinstance(found, External) else found
    return MISSING


@remembered()
def _module(interp: Interpreter, name: str) -> Module:
    module = Module(f"<{name}>", name, _tree(name))
    module.written = True
    module.stars.append(StarOut(name))
    return module


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(_modules()[name])


@cache
def _modules() -> Mapping[str, str]:
    """Return the text of each module that is written."""
    found: dict[str, str] = {}
    for path in sorted(WRITTEN.glob("*.py")):
        _, *parts = re.split(r'^__name__ = "(.+)"\n', files.read(path).decode(), flags=re.MULTILINE)
        found |= zip(parts[::2], parts[1::2], strict=True)
    return found


classes.WRITTEN[0] = written
