"""Entry points: which functions, scripts and modules of a file may configure a training run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mfsdp_lint.core.recipe import Kind
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.vocabulary import SECTIONS
from mfsdp_lint.readers.python.eval.configurations import CONTAINER, is_container
from mfsdp_lint.readers.python.eval.definitions import function_elsewhere
from mfsdp_lint.readers.python.eval.imports import ensure_ran, resolve_global
from mfsdp_lint.readers.python.eval.starting import may_launch
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    DictObject,
    Function,
    Instance,
    Native,
    Object,
    Partial,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A function, method, script or global name that can be evaluated to get a configuration."""

    name: str
    module: Module
    kind: Kind
    line: int
    function: Function | None = None
    arguments: Mapping[str, Plain] | None = None
    cls: ClassObject | None = None
    """The class of a method that needs an object of it, or the class itself, to be called."""
    partial: Partial | None = None
    """The partial object that a module calls the function by."""
    wrapper: Object = None
    """The result of the function's decorators, where that is something else."""

    @property
    def qualified_name(self) -> str:
        """Dotted, from the import root."""
        return f"{self.module.name}.{self.name}"


def functions(machine: Machine, module: Module) -> list[Entry]:
    """Return the functions that a module itself defines at its top level, also those under conditions there."""
    ensure_ran(machine, module)
    found = []
    for node in _defined(module.tree.body):
        value = resolve_global(machine, module, node.name)
        if isinstance(value, Choice):
            value = next((each for each in value.options if getattr(each, "node", None) is node), value)
        original = module.defined.get(node)
        if isinstance(value, Function) and value.node is node:
            found.append(Entry(node.name, module, "function", node.lineno, value))
        elif original is not None and isinstance(value, (Function, Instance, Partial, Bound, Native)):
            found.append(Entry(node.name, module, "function", node.lineno, original, wrapper=value))
        elif node not in module.tree.body and not node.decorator_list and _is_own(value, module):
            # The condition does not hold unless somebody sets a switch.
            other = function_elsewhere(machine, module, node)
            if isinstance(other, Function):
                found.append(Entry(node.name, module, "function", node.lineno, other))
    return found


def _is_own(value: Object, module: Module) -> bool:
    """Tell whether a name has no value yet, or a value that the module itself defines."""
    return value is MISSING or (isinstance(value, Function) and value.module is module)


def _defined(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _defined(each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt))
            for handler in getattr(node, "handlers", ()):
                yield from _defined(handler.body)


def partials(machine: Machine, module: Module) -> Iterable[Entry]:
    """Yield the functions that a module binds to a name: made by another one, or with `functools.partial`.

    A function in a table has the table's name and its key.
    """
    ensure_ran(machine, module)
    for name, line in _assigned(module).items():
        value: Any = module.fields.get(name, MISSING)
        made = {name: value}
        if isinstance(value, DictObject):
            made = {f"{name}.{key}": item for key, item in value.fields.items() if isinstance(key, str)}
        for full, each in made.items():
            if isinstance(each, Partial) and isinstance(each.function, Function):
                yield Entry(full, module, "function", line, each.function, partial=each)
            elif isinstance(each, Function) and (each.closure is not None or _is_own_lambda(each, module)):
                yield Entry(full, module, "function", line, each)


def _is_own_lambda(function: Function, module: Module) -> bool:
    return isinstance(function.node, ast.Lambda) and function.module is module


def may_configure(machine: Machine, entry: Entry) -> bool:
    """Tell whether a function's text gives reason to run it.

    It returns something, names a part of a configuration, or leads to a launcher.
    """
    assert entry.function is not None
    returns, parts = isinstance(entry.function.node, ast.Lambda), False
    for node in ast.walk(entry.function.node):
        returns = returns or (isinstance(node, ast.Return) and node.value is not None)
        parts = parts or (isinstance(node, ast.Attribute) and node.attr in SECTIONS)
        parts = parts or (isinstance(node, ast.keyword) and node.arg in SECTIONS)
    if parts or (returns and not needs_arguments(entry)) or says_container(entry.function.returns):
        return True
    return may_launch(machine, entry.function)


def says_container(annotation: ast.expr | None) -> bool:
    """Tell whether a function's annotation says that it returns a configuration."""
    return annotation is not None and CONTAINER in ast.unparse(annotation)


def needs_arguments(entry: Entry) -> bool:
    """Tell whether a parameter has no default."""
    return any(default(entry, name) is MISSING for name in open_parameters(entry))


def default(entry: Entry, name: str) -> Object:
    """Return the default of a parameter; MISSING where it has none."""
    for function in _callees(entry):
        if name in function.defaults:
            return function.defaults[name]
    return MISSING


def open_parameters(entry: Entry) -> list[str]:
    """Return the parameters of a function that neither its object nor `functools.partial` nor a decorator gives."""
    assert entry.function is not None
    if entry.wrapper is not None and not isinstance(entry.wrapper, Function):
        return []
    names: dict[str, None] = {}
    skipped, named = _given_by_wrapper(entry.wrapper) if entry.wrapper is not None else (0, set())
    for function in _callees(entry):
        parameters = function.node.args
        positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
        skip = positional_given(entry)
        if entry.wrapper is not None and function is entry.function:
            skip = max(skip, skipped)
        names.update(dict.fromkeys([*positional[skip:], *(parameter.arg for parameter in parameters.kwonlyargs)]))
    return [
        name for name in names if name not in named and (entry.partial is None or name not in entry.partial.keywords)
    ]


def takes_more(entry: Entry) -> bool:
    """Tell whether a function takes keyword arguments that it does not name."""
    return entry.function is not None and any(each.node.args.kwarg is not None for each in _callees(entry))


def _callees(entry: Entry) -> tuple[Function, ...]:
    """Return the functions whose parameters the arguments go to: a wrapper may take some, and hand on the others."""
    assert entry.function is not None
    if not isinstance(entry.wrapper, Function):
        return (entry.function,)
    hands_on = entry.wrapper.node.args.kwarg is not None
    return (entry.wrapper, entry.function) if hands_on else (entry.wrapper,)


def _given_by_wrapper(wrapper: Function) -> tuple[int, set[str]]:
    """Return the arguments that a wrapper itself gives where it hands others on.

    The first value is the number of positional ones, the second the names of the others.
    """
    for node in ast.walk(wrapper.node):
        if isinstance(node, ast.Call) and any(keyword.arg is None for keyword in node.keywords):
            plain = [each for each in node.args if not isinstance(each, ast.Starred)]
            return len(plain), {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    return 0, set()


def positional_given(entry: Entry) -> int:
    """Return the number of positional parameters that need no argument."""
    return (entry.cls is not None) + (len(entry.partial.arguments) if entry.partial is not None else 0)


def option_files(machine: Machine, entry: Entry) -> list[str]:
    """Return the files that declare command-line options and that an entry point which was just run goes through."""
    paths = dict.fromkeys((entry.module.path, *(function.module.path for function in machine.called)))
    return [path for path in paths if path in machine.switches]


def script(machine: Machine, module: Module) -> Entry | None:
    """Return a module as a script: its `if __name__ == "__main__":` part, or the lone calls at its top level."""
    start = guard(module) or next(_lone_calls(module.tree), None)
    return None if start is None else Entry(module.name.rpartition(".")[2], module, "script", start.lineno)


def guard(module: Module) -> ast.stmt | None:
    """Return the `if __name__ == "__main__":` part of a module."""
    for node in module.tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test) and "__main__" in ast.dump(node.test):
            return node
    return None


def _lone_calls(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield calls that are statements of their own, outside of functions and classes."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
            yield inner
        elif isinstance(inner, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            yield from _lone_calls(inner)


def module_configurations(machine: Machine, module: Module) -> Iterable[Entry]:
    """Yield the configurations that a module keeps in a global name."""
    ensure_ran(machine, module)
    for name, line in _assigned(module).items():
        value: Any = module.fields.get(name, MISSING)
        if is_container(machine, value):
            yield Entry(name, module, "module", line)


def _assigned(module: Module) -> dict[str, int]:
    """Return the names that a module's top level assigns to, each with its line."""
    return {
        target.id: node.lineno
        for node in module.tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
