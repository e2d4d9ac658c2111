"""Class-based recipes: methods that hand back a configuration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.readers.python.entries.entries import Entry, says_container
from mfsdp_lint.readers.python.entries.evidence import configures
from mfsdp_lint.readers.python.eval.classes import ENUM_BASES, has_base, mro, namespace
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Descriptor, Function
from mfsdp_lint.vocabulary.sections import SECTIONS


def methods(machine: Machine, module: Module) -> Iterator[Entry]:
    """Methods that hand back a configuration when called on an object made without arguments: class-based recipes.

    A class has those of its bases too: what they yield depends on what it overrides.
    """
    for node in module.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        cls = resolve_global(machine, module, node.name)
        if not isinstance(cls, ClassObject) or cls.node is not node or has_base(machine, cls, *ENUM_BASES):
            continue
        seen: set[str] = set()
        for base in mro(machine, cls):
            if not isinstance(base, ClassObject) or base.node is None or not base.module.asked_for:
                continue
            for name in _recipe_methods(machine, base):
                entry = method(machine, cls, base, name) if name not in seen else None
                seen.add(name)
                if entry is not None:
                    yield entry


def _recipe_methods(machine: Machine, cls: ClassObject) -> Iterator[str]:
    """The methods that hand back a configuration (without needing anything for it), or launch or change one."""
    assert cls.node is not None
    for each in cls.node.body:
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) or each.name.startswith("_"):
            continue
        hands_back = says_container(each) or (each.returns is None and _builds(each))
        if (hands_back and not _needs_arguments(each)) or configures(machine, cls.module, each):
            yield each.name


def _needs_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    parameters = node.args
    return len(parameters.args) - len(parameters.defaults) > 1 or None in parameters.kw_defaults


def _builds(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether an unannotated method's text gives reason to run it: it hands something back and names sections."""
    returns = parts = False
    for each in ast.walk(node):
        returns = returns or (isinstance(each, ast.Return) and each.value is not None)
        parts = parts or (
            isinstance(each, ast.Attribute) and each.attr in SECTIONS and isinstance(each.value, ast.Name)
        )
    return returns and parts


def method(machine: Machine, cls: ClassObject, base: ClassObject, name: str) -> Entry | None:
    """The entry point for a method of `cls` that `base`, the class itself or one that it derives from, defines."""
    value = namespace(machine, base).get(name)
    kind = value.kind if isinstance(value, Descriptor) else ""
    function = value.function if isinstance(value, Descriptor) else value
    wrapper = None
    if isinstance(function, Function) and function.name != name:
        wrapper = function
        function = next((each for node, each in base.module.defined.items() if _is_method(base, node, name)), function)
    if (
        not isinstance(function, Function)
        or not isinstance(function.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        or kind == "property"
    ):
        return None
    receiver = None if kind == "staticmethod" else cls
    line = function.node.lineno
    return Entry(f"{cls.name}.{name}", base.module, "function", line, function, cls=receiver, wrapper=wrapper)


def _is_method(cls: ClassObject, node: ast.AST, name: str) -> bool:
    return cls.node is not None and node in cls.node.body and getattr(node, "name", "") == name
