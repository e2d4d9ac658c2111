"""Tests that have a recipe from a fixture, or from what is set up for them, and turn a feature off in it."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.discover import is_under
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.readers.registry import is_python

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_SELF = "self"


def test_without(users: EditUsers, path: str, module: str, names: Collection[str], switches: Collection[str]) -> str:
    """Return a test that turns one of some switches off in a recipe of a module, as "tests/test_ddp.py uses llama".

    The proof compares what a fixture returns, but no test that changes it further.
    """
    for other, text in users.search(path, {module}).items():
        if not is_python(other) or not any(name in text for name in names):
            continue
        fixtures = _fixtures_of(text, {*names, module})
        tests = {other: text}
        if os.path.basename(other) == "conftest.py":
            below = os.path.dirname(os.path.abspath(other))
            taking = (each for name in fixtures for each in users.search(other, {name}).items())
            tests.update((each, said) for each, said in taking if is_under(os.path.abspath(each), below))
        for test, said in tests.items():
            if is_python(test) and any(
                owner in fixtures and attribute in switches for owner, attribute in _turned_off(said)
            ):
                return f"{test} uses {module}"
    return ""


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of tests: the names that it says or takes, and the fixtures that it makes, of which one is `self`."""

    says: frozenset[str]
    makes: tuple[str, ...]


def _fixtures_of(text: str, names: Collection[str]) -> set[str]:
    """Return the names by which tests have what code of these names makes: fixtures of pytest, and `self`."""
    renamed, functions = _functions(text)
    taking = {*names, *(other for name, other in renamed if name in names)}
    fixtures: set[str] = set()
    for each in functions:
        if not taking.isdisjoint(each.says):
            fixtures.update(each.makes)
            taking.update(name for name in each.makes if name != _SELF)
    return fixtures


@lru_cache(maxsize=512)
def _functions(text: str) -> tuple[Sequence[tuple[str, str]], Sequence[_Function]]:
    """Return the names that imports of a text rename, each with its new one, and its functions."""
    renamed: list[tuple[str, str]] = []
    functions: list[_Function] = []
    for node in ast.walk(parsed(text) or ast.Module([], [])):
        if isinstance(node, ast.Import | ast.ImportFrom):
            renamed += ((each.name.rpartition(".")[2], each.asname) for each in node.names if each.asname)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = [each.arg for each in node.args.args]
            said = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
            makes = (_SELF,) if taken[:1] == [_SELF] else tuple(_fixture(node))
            functions.append(_Function(frozenset((*said, *taken)), makes))
    return renamed, functions


def _fixture(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the name of a fixture of pytest."""
    for each in function.decorator_list:
        call = each if isinstance(each, ast.Call) else None
        made = each if call is None else call.func
        if getattr(made, "attr", getattr(made, "id", "")) == "fixture":
            named = (word.value for word in (call.keywords if call else ()) if word.arg == "name")
            yield next((str(name.value) for name in named if isinstance(name, ast.Constant)), function.name)


@lru_cache(maxsize=512)
def _turned_off(text: str) -> frozenset[tuple[str, str]]:
    """Return the attributes that functions set to something else than True, each with the parameter it belongs to."""
    found: set[tuple[str, str]] = set()
    for function in ast.walk(parsed(text) or ast.Module([], [])):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        parameters = {each.arg for each in function.args.args}
        found.update((owner, each.attr) for each in switched(function) if (owner := _owner(each)) in parameters)
    return frozenset(found)


def switched(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Yield the attributes that code sets to something else than True: such a switch may be off afterwards."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and not (isinstance(node.value, ast.Constant) and node.value.value is True):
            yield from (each for each in node.targets if isinstance(each, ast.Attribute))


def _owner(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
