"""Arguments of a test: the values that it is parametrised over, fixtures, and objects that its class sets up."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Mapping

from mfsdp_lint.inputs.projects import above
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import fork
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.eval.iteration import elements
from mfsdp_lint.readers.python.state.calling import GeneratorCall, evaluate, invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    External,
    Frame,
    Function,
    Instance,
    Module,
    Object,
)

MOST_CASES = 8
"""Sets of parameters that are looked at one by one; of more, the parameters are not known."""
SET_UP = ("setUpClass", "setup_class", "setUp", "setup_method", "setup")

Case = Mapping[str, Object]


def case_of(interp: Interpreter, function: Function) -> Case:
    """Return the parameters of a test on the path at hand: each set that it is parametrised with has its own path."""
    frame = Frame(function.module)
    found: dict[str, Object] = {}
    for node in function.decorators:
        cases = _cases(interp, node, frame) if isinstance(node, ast.Call) else []
        if 0 < len(cases) <= MOST_CASES:
            found.update(_one_of(interp, cases))
    return found


def _one_of(interp: Interpreter, cases: list[Case]) -> Case:
    while len(cases) > 1:
        half = (len(cases) + 1) // 2
        words = " or ".join(map(_words, cases[:half]))
        cases = cases[:half] if fork(interp, words) else cases[half:]
    return cases[0]


def _words(case: Case) -> str:
    return ", ".join(f"{name}={getattr(value, 'name', None) or repr(value)}" for name, value in case.items())


def _cases(interp: Interpreter, node: ast.Call, frame: Frame) -> list[Case]:
    """Return the sets of parameters of one `@pytest.mark.parametrize(names, values)`."""
    if len(node.args) + len(node.keywords) < 2 or not _is_parametrize(interp, node.func, frame):
        return []
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    names_node, values_node = [*node.args, given.get("argnames"), given.get("argvalues")][:2]
    if names_node is None or values_node is None:
        return []
    try:
        names = _names(interp, evaluate(interp, names_node, frame), frame)
        rows = list(_rows(interp, values_node, frame))
    except Raised:
        return []
    if not names:
        return []
    if len(names) == 1:
        return [{names[0]: row[0] if isinstance(row, _Parameters) else row} for row in rows]
    items = [row if isinstance(row, _Parameters) else elements(interp, row, frame) for row in rows]
    if not all(row is not None and len(row) == len(names) for row in items):
        return []
    return [dict(zip(names, row, strict=True)) for row in items if row is not None]


def _names(interp: Interpreter, given: Object, frame: Frame) -> list[str]:
    """Return the names of the parameters, given in one text or in a sequence; empty where they are not known."""
    if isinstance(given, str):
        return [name.strip() for name in given.split(",")]
    found = elements(interp, given, frame) or []
    names = [name for name in found if isinstance(name, str)]
    return names if len(names) == len(found) else []


class _Parameters(list[Object]):
    """The values of one `pytest.param(...)`."""


def _rows(interp: Interpreter, node: ast.expr, frame: Frame) -> Iterator[Object | _Parameters]:
    """Yield the values of a test's parameters, one by one."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            if isinstance(item, ast.Call) and ast.unparse(item.func).rpartition(".")[2] == "param":
                yield _Parameters(evaluate(interp, each, frame) for each in item.args)
            else:
                yield evaluate(interp, item, frame)
    else:
        yield from elements(interp, evaluate(interp, node, frame), frame) or ()


def _is_parametrize(interp: Interpreter, node: ast.expr, frame: Frame) -> bool:
    try:
        value = evaluate(interp, node, frame)
    except Raised:
        return False
    options = value.options if isinstance(value, Choice) else (value,)
    return any(isinstance(each, External) and each.name == "pytest.mark.parametrize" for each in options)


def fixture(interp: Interpreter, function: Function, name: str, frame: Frame) -> Object:
    """Return the value of a fixture of the test's own file, or of the nearest `conftest.py` that has it; MISSING where
    none has one of this name.
    """
    modules = (function.module, *_conftests(interp, function.module))
    every = (resolve_global(interp, module, name) for module in modules)
    found = next((each for each in every if isinstance(each, Function) and _is_fixture(each, function)), None)
    if found is None:
        return MISSING
    parameters = found.node.args
    needed = {each.arg: fixture(interp, found, each.arg, frame) for each in parameters.args}
    given: dict[str, Object] = {}
    for key, value in needed.items():
        given[key] = interp.unknown(key) if value is MISSING else value
    result = invoke(interp, found, Call([], given, found.node, frame))
    return result.first() if isinstance(result, GeneratorCall) else result


def _is_fixture(found: Function, user: Function) -> bool:
    """Tell whether a function is a fixture, and not the one itself that asks for another of its name."""
    return found is not user and any("fixture" in ast.unparse(node) for node in found.decorators)


def _conftests(interp: Interpreter, module: Module) -> Iterator[Module]:
    """Yield the `conftest.py` beside a test and in the folders above it, the nearest first."""
    for folder in above(module.path):
        path = posixpath.join(folder, "conftest.py")
        if path != module.path and interp.finder.sources.exists(path):
            found = interp.finder.load_for(module.path, path)
            if found is not None:
                yield found


def set_up(interp: Interpreter, owner: Object, node: ast.AST, frame: Frame) -> None:
    """Run the set-up of a test class, as a test runner does before each test."""
    cls = owner.cls if isinstance(owner, Instance) else owner
    if not isinstance(cls, ClassObject):
        return
    for name in SET_UP:
        if lookup(interp, cls, name)[0] is MISSING:
            continue
        method = get_attribute(interp, owner, name, None, frame)
        function = getattr(method, "function", None)
        extra = len(function.node.args.args) - 1 if isinstance(function, Function) else 0
        invoke(interp, method, Call([interp.unknown("method") for _ in range(extra)], {}, node, frame))
