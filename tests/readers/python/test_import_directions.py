"""Which modules of the evaluator may import which: no circle, not even one hidden in a function, or for types alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import mfsdp_lint
from mfsdp_lint.inputs.imports import closure

SOURCE = Path(mfsdp_lint.__path__[0]).parent
EVALUATOR = "mfsdp_lint.readers.python"

PACKAGES = ("values", "knowledge", "state", "eval", "library", "export", "entries", "read")
"""Each may import only itself and those before it; what lies above is reached through tables (docs/evaluator.md)."""

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (SOURCE / EVALUATOR.replace(".", "/")).rglob("*.py")
}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def named(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement may mean."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(source), names=names, level=0):
            yield source
            yield from (f"{source}.{alias.name}" for alias in names)


@cache
def imported(module: str) -> frozenset[str]:
    """The evaluator's modules that a module imports anywhere."""
    found = {name for node in ast.walk(tree(module)) for name in named(node)}
    # `from package import module` means the module; a package's own `__init__` only fills tables.
    return frozenset((found & MODULES.keys()) - {module, EVALUATOR})


def test_no_module_imports_itself_through_others() -> None:
    assert not [module for module in sorted(MODULES) if module in closure(imported(module), imported)]


LATE = {f"{EVALUATOR}.library.yaml_data", f"{EVALUATOR}.library.jinja_values"}
"""What parses YAML or templates is imported with the first of them: few recipes have one, and it takes long."""


def test_no_function_imports_a_module_of_the_project() -> None:
    for module in MODULES:
        functions = (node for node in ast.walk(tree(module)) if isinstance(node, (ast.FunctionDef, ast.Lambda)))
        inside = {name for function in functions for node in ast.walk(function) for name in named(node)}
        own = {name for name in inside if name.startswith("mfsdp_lint")}
        assert not {name for name in own - LATE if name.rpartition(".")[0] not in LATE}, module


def test_a_package_imports_only_those_below_it() -> None:
    def place(name: str) -> int:
        return PACKAGES.index(name.removeprefix(f"{EVALUATOR}.").partition(".")[0])

    for module in MODULES.keys() - {EVALUATOR}:
        assert not {name for name in imported(module) if place(name) > place(module)}, module
