"""Upstream's recipes: public functions that anybody can call without arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("recipes", "perf_recipes")


@dataclass(frozen=True, slots=True, order=True)
class UpstreamRecipe:
    """A function of a module of Megatron-Bridge."""

    module: str
    name: str


def upstream_recipes(tree: Path) -> list[UpstreamRecipe]:
    """List the recipes in a source tree of Megatron-Bridge, by module and name; re-exported functions do not count."""
    source = tree / "src" if (tree / "src").is_dir() else tree
    found: list[UpstreamRecipe] = []
    for package in PACKAGES:
        for path in sorted((source / "megatron" / "bridge" / package).rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            module = ".".join(part for part in parts if part != "__init__")
            body = ast.parse(path.read_text(encoding="utf-8")).body
            functions = [node for node in body if isinstance(node, ast.FunctionDef)]
            found += [UpstreamRecipe(module, node.name) for node in functions if _is_recipe(node)]
    return sorted(found)


def _is_recipe(node: ast.FunctionDef) -> bool:
    taken = node.args
    needed = len(taken.posonlyargs) + len(taken.args) - len(taken.defaults)
    needed += sum(default is None for default in taken.kw_defaults)
    returned = ast.unparse(node.returns) if node.returns else ""
    return not node.name.startswith("_") and not needed and returned.endswith("ConfigContainer")
