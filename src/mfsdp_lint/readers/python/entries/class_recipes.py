"""Class-based recipes: methods that hand back a configuration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.core.records import replace
from mfsdp_lint.megatron.vocabulary import SECTIONS
from mfsdp_lint.readers.python.entries.entries import Entry, says_container
from mfsdp_lint.readers.python.entries.evidence import configures, leads_to_configuration
from mfsdp_lint.readers.python.entries.testing import is_test
from mfsdp_lint.readers.python.eval.classes import ENUM_BASES, has_base, mro, namespace
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.eval.meaning import functions_of
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Descriptor, Function


def methods(machine: Machine, module: Module) -> Iterator[Entry]:
    """Yield methods that return a configuration when called on an object made without arguments: class-based recipes.

    A class also has its bases' methods: the configuration depends on the class's own overrides.
    """
    for node in module.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        cls = resolve_global(machine, module, node.name)
        if not isinstance(cls, ClassObject) or cls.node is not node or has_base(machine, cls, *ENUM_BASES):
            continue
        seen: set[str] = set()
        for base in mro(machine, cls):
            if not isinstance(base, ClassObject) or base.node is None or not base.module.is_own:
                continue
            for name in _recipe_methods(machine, base):
                entry = method(machine, cls, base, name) if name not in seen else None
                seen.add(name)
                if entry is None or (entry.cls is None and base is not cls):
                    continue  # a static method of a base does what it does there
                # An inherited method is a recipe of the file whose class inherits it.
                yield entry if base.module is module else replace(entry, module=module, line=node.lineno)


def _recipe_methods(machine: Machine, cls: ClassObject) -> Iterator[str]:
    """Yield the methods that return a configuration (and need no argument for it), or launch or change one."""
    assert cls.node is not None
    for each in cls.node.body:
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) or each.name.startswith("_"):
            continue
        hands_back = says_container(each.returns) or (each.returns is None and _builds(each))
        if (hands_back and not _needs_arguments(each)) or _leads(machine, cls, each.name):
            yield each.name


def _leads(machine: Machine, cls: ClassObject, name: str) -> bool:
    """Tell whether a method configures something, or calls code that does, by the text.

    A test has to configure something itself: it calls much code for other reasons.
    """
    return any(
        configures(machine, each.module, each.node)
        if is_test(each)
        else leads_to_configuration(machine, each, named=True)
        for each in functions_of(machine, namespace(machine, cls).get(name))
    )


def _needs_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    parameters = node.args
    return len(parameters.args) - len(parameters.defaults) > 1 or None in parameters.kw_defaults


def _builds(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether an unannotated method's text gives reason to run it: it returns something and names sections."""
    returns = parts = False
    for each in ast.walk(node):
        returns = returns or (isinstance(each, ast.Return) and each.value is not None)
        parts = parts or (
            isinstance(each, ast.Attribute) and each.attr in SECTIONS and isinstance(each.value, ast.Name)
        )
    return returns and parts


def method(machine: Machine, cls: ClassObject, base: ClassObject, name: str) -> Entry | None:
    """Return the entry point for a method of `cls` that `base`, the class itself or a base of it, defines."""
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
