"""Which functions make, change or launch a configuration, by their text: what is there to be followed at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mfsdp_lint.readers.python.eval.classes import class_names
from mfsdp_lint.readers.python.eval.configurations import CONTAINER
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import External, Function, Object
from mfsdp_lint.vocabulary import NAMES
from mfsdp_lint.vocabulary.launchers import LAUNCHERS
from mfsdp_lint.vocabulary.sections import SECTIONS

UPSTREAM = "megatron.bridge."

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def definitions(module: Module) -> Iterator[tuple[str, Definition | ast.Module]]:
    """The functions of a file, methods and inner ones too, by their dotted names; its top level has no name."""
    yield "", module.tree
    pending: list[tuple[str, ast.AST]] = [("", module.tree)]
    while pending:
        prefix, node = pending.pop()
        for inner in _statements_in(node):
            if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                pending.append((prefix, inner))
                continue
            name = f"{prefix}.{inner.name}" if prefix else inner.name
            pending.append((name, inner))
            if not isinstance(inner, ast.ClassDef):
                yield name, inner


_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Delete)


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """The statements (and handlers and cases) right inside a statement; nothing is defined in an expression."""
    if isinstance(node, _SIMPLE):
        return
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, block, ())


def configures(machine: Machine, module: Module, node: ast.AST) -> bool:
    """Whether a function or a top level makes, changes or launches a configuration itself, by its text.

    Functions inside it are not looked at. What is called is known by its import: a recipe or a launcher of upstream, a
    class of configurations.
    """
    imports = _imports(machine, module)
    if not imports and CONTAINER not in _names(machine, module):
        return False
    for inner in _own(node):
        if isinstance(inner, ast.Call) and _is_telling(machine, module, imports, inner.func):
            return True
        if imports and _changes(inner):
            return True
    return False


def leads_to_configuration(machine: Machine, function: Function) -> bool:
    """Whether a function of the files at hand configures something, or calls another one that does, by the text."""
    key = ("leads to a configuration", function)
    if key not in machine.memo:
        machine.memo[key] = False  # while it is being asked: a function that calls itself adds nothing
        machine.memo[key] = configures(machine, function.module, function.node) or any(
            isinstance(called, Function) and called.module.asked_for and leads_to_configuration(machine, called)
            for called in (
                resolve_global(machine, function.module, node.func.id)
                for node in _own(function.node)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            )
        )
    found: bool = machine.memo[key]
    return found


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What belongs to a function itself: not its head, nor what stands in functions inside it."""
    body = getattr(node, "body", ())
    pending: list[ast.AST] = [body] if isinstance(body, ast.expr) else list(body)  # a lambda's is an expression
    while pending:
        here = pending.pop()
        yield here
        if isinstance(here, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        pending.extend(ast.iter_child_nodes(here))


def _imports(machine: Machine, module: Module) -> Mapping[str, str]:
    """What the names of a file stand for that it imports from upstream, wherever it does."""
    key = ("imports from upstream", module)
    if key not in machine.memo:
        found: dict[str, str] = {}
        pending: list[ast.AST] = [module.tree]
        while pending:
            node = pending.pop()
            pending.extend(_statements_in(node))
            match node:
                case ast.Import(names=names):
                    found.update(
                        (alias.asname or alias.name, alias.name)
                        for alias in names
                        if f"{alias.name}.".startswith(UPSTREAM)
                    )
                case ast.ImportFrom(module=str(source), names=names, level=0) if f"{source}.".startswith(UPSTREAM):
                    found.update((alias.asname or alias.name, f"{source}.{alias.name}") for alias in names)
        machine.memo[key] = found
    imports: Mapping[str, str] = machine.memo[key]
    return imports


def _names(machine: Machine, module: Module) -> frozenset[str]:
    key = ("names of the text", module)
    if key not in machine.memo:
        machine.memo[key] = frozenset(getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(module.tree))
    names: frozenset[str] = machine.memo[key]
    return names


def _is_telling(machine: Machine, module: Module, imports: Mapping[str, str], function: ast.expr) -> bool:
    """Whether a call makes or launches a configuration, by what it calls."""
    written = ast.unparse(function) if isinstance(function, (ast.Name, ast.Attribute)) else ""
    head, dot, rest = written.partition(".")
    names = [imports.get(written) or f"{imports.get(head, head)}{dot}{rest}"]
    if isinstance(function, ast.Name) and function.id not in imports:
        names = _meant(machine, resolve_global(machine, module, function.id))
    return any(name.rpartition(".")[2] == CONTAINER or _is_upstream_entry(name) for name in names)


def _meant(machine: Machine, value: Object) -> list[str]:
    """The dotted names of a function, or of a class and its bases."""
    if isinstance(value, ClassObject):
        return class_names(machine, value)
    if isinstance(value, Function):
        return [f"{value.module.name}.{value.name}"]
    return [value.name] if isinstance(value, External) else []


def _is_upstream_entry(name: str) -> bool:
    """Whether this is the name of one of upstream's recipes or launchers."""
    last = name.rpartition(".")[2]
    is_recipe = ".recipes." in name and last.islower() and "config" in last
    return name in LAUNCHERS or (name.startswith(UPSTREAM) and is_recipe)


_WRITING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)


def _changes(node: ast.AST) -> bool:
    """Whether a statement writes a setting that the rules ask for, of a section of a configuration."""
    if not isinstance(node, _WRITING):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(
        isinstance(target, ast.Attribute)
        and target.attr in NAMES
        and isinstance(target.value, ast.Attribute)
        and target.value.attr in SECTIONS
        for target in targets
    )
