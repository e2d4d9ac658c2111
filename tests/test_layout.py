"""The layout is written down once, in src/mfsdp_lint/layout.txt, and kept: data goes one way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import mfsdp_lint
from mfsdp_lint.inputs.imports import closure

PACKAGE = Path(mfsdp_lint.__file__).parent
LAYOUT = [
    line.split()[0]
    for line in (PACKAGE / "layout.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
WORKER = "dryrun.worker"
"""It runs in other processes, which have nothing of ours."""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run, or count for types, when a module is imported."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from outside_functions(child)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path, nodes: Callable[[ast.AST], Iterator[ast.AST]] = ast.walk) -> Iterator[str]:
    """The modules of ours that a file imports anywhere in it, or in some nodes, without the package's name."""
    for node in nodes(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mfsdp_lint":
            inside = (node.module or "").partition(".")[2]
            for alias in node.names:
                full = f"{inside}.{alias.name}" if inside else alias.name
                yield full if full in MODULES else inside
        elif isinstance(node, ast.Import):
            yield from (each.name.partition(".")[2] for each in node.names if each.name.startswith("mfsdp_lint."))


def room(module: str) -> str:
    return module.partition(".")[0]


def test_every_package_is_in_the_layout_and_every_line_of_it_is_there() -> None:
    outside = {"", "__main__"}
    assert {room(module) for module in MODULES} - outside == set(LAYOUT)


def test_imports_go_upwards_only() -> None:
    wrong = [
        f"{module} imports {other}"
        for module, path in MODULES.items()
        if room(module) in LAYOUT
        for other in imported(path)
        if room(other) in LAYOUT and LAYOUT.index(room(other)) > LAYOUT.index(room(module))
    ]
    assert wrong == []


def test_no_module_imports_itself_through_others_not_even_for_types() -> None:
    """What two modules need of each other lies below both; what only starts late, in a function, is no part of it."""

    @cache
    def leads_to(module: str) -> frozenset[str]:
        return frozenset(imported(MODULES[module], outside_functions)) & MODULES.keys() - {module}

    assert [module for module in MODULES if module in closure(leads_to(module), leads_to)] == []


def test_what_runs_elsewhere_imports_nothing_of_ours() -> None:
    found = {other for module, path in MODULES.items() if module.startswith(f"{WORKER}.") for other in imported(path)}
    assert found == set()


def test_the_front_door_is_imported_by_nobody_inside() -> None:
    """`mfsdp_lint` itself gathers what is public; a stage that used it would see all others."""
    assert [module for module, path in MODULES.items() if module and "" in set(imported(path))] == []
