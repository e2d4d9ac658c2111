"""Evidence in a function's text that it makes, changes or launches a configuration and has to be followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mfsdp_lint.megatron.vocabulary import LAUNCHERS, NAMES, SECTIONS
from mfsdp_lint.readers.python.eval.classes import class_names
from mfsdp_lint.readers.python.eval.configurations import CONTAINER
from mfsdp_lint.readers.python.eval.meaning import functions_of, meant
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import External, Function, Object

UPSTREAM = "megatron.bridge."

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def definitions(module: Module) -> Iterator[tuple[str, Definition | ast.Module]]:
    """Yield the functions of a file, methods and inner ones too, by their dotted names; its top level has no name."""
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
    """Yield the statements (and handlers and cases) right inside a statement; nothing is defined in an expression."""
    if isinstance(node, _SIMPLE):
        return
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, block, ())


def configures(machine: Machine, module: Module, node: ast.AST) -> bool:
    """Tell whether a function or a top level makes, changes or launches a configuration itself, by its text.

    Functions inside it are not looked at. A called name is known by its import: a recipe or a launcher of upstream, a
    class of configurations.
    """
    if not machine.finder.relevance.reaches(module.path, _names_upstream):
        return False
    imports = _imports(machine, module)
    return any(
        _is_telling(machine, module, imports, inner.func) if isinstance(inner, ast.Call) else _changes(inner)
        for inner in _own(node)
    )


def _names_upstream(text: str) -> bool:
    return UPSTREAM in text or CONTAINER in text


def leads_to_configuration(machine: Machine, function: Function, *, named: bool = False) -> bool:
    """Tell whether a function of the files at hand configures something, or calls another that does, by the text.

    With `named`, a function that it only names, and may hand on to be called, counts as well.
    """
    key = ("leads to a configuration", function, named)
    if key not in machine.memo:
        machine.memo[key] = False  # while it is being asked: a function that calls itself adds nothing
        machine.memo[key] = configures(machine, function.module, function.node) or any(
            other.module.is_own and leads_to_configuration(machine, other, named=named)
            for node in _own(function.node)
            if isinstance(node, (ast.Name, ast.Attribute) if named else ast.Call)
            for other in functions_of(machine, meant(machine, function.module, node, function))
        )
    found: bool = machine.memo[key]
    return found


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function itself: not its head, nor the content of functions inside it."""
    body = getattr(node, "body", ())
    pending: list[ast.AST] = [body] if isinstance(body, ast.expr) else list(body)  # a lambda's is an expression
    while pending:
        here = pending.pop()
        yield here
        if isinstance(here, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        pending.extend(ast.iter_child_nodes(here))


def _imports(machine: Machine, module: Module) -> Mapping[str, str]:
    """Return the names that a file imports from upstream, anywhere in it, each with its full dotted name."""
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


def _is_telling(machine: Machine, module: Module, imports: Mapping[str, str], function: ast.expr) -> bool:
    """Tell whether a call makes or launches a configuration, by what it calls."""
    if isinstance(function, ast.Call):
        return False  # that call is asked itself
    written = ast.unparse(function) if isinstance(function, (ast.Name, ast.Attribute)) else ""
    head, dot, rest = written.partition(".")
    names = [imports.get(written) or f"{imports.get(head, head)}{dot}{rest}"]
    if head not in imports and written not in imports:
        names = _meant(machine, meant(machine, module, function))
    return any(name.rpartition(".")[2] == CONTAINER or _is_upstream_entry(name) for name in names)


def _meant(machine: Machine, value: Object) -> list[str]:
    """Return the dotted names of a function, or of a class and its bases."""
    if isinstance(value, ClassObject):
        return class_names(machine, value)
    if isinstance(value, Function):
        return [f"{value.module.name}.{value.name}"]
    return [value.name] if isinstance(value, External) else []


def _is_upstream_entry(name: str) -> bool:
    """Tell whether a name is that of an upstream recipe or launcher."""
    last = name.rpartition(".")[2]
    is_recipe = ".recipes." in name and last.islower() and "config" in last
    return name in LAUNCHERS or (name.startswith(UPSTREAM) and is_recipe)


_WRITING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)


def _changes(node: ast.AST) -> bool:
    """Tell whether a statement writes a setting that the rules ask for, of a section of a configuration."""
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
