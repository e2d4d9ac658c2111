#!/usr/bin/env python3
"""Prints upstream's launchers, for src/mfsdp_lint/megatron/vocabulary/__init__.py (LAUNCHERS).

    python scripts/find_launchers.py TREE …

Each TREE is the source of a Megatron-Bridge release (see unpack_release.py). A launcher is a function that takes the
configuration and comes, by the names that functions use, to one of STARTS. Nothing of the tree is imported or run.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "megatron.bridge"
HOLDERS = ("ConfigContainer", "GlobalState")
"""What a launcher is handed: the configuration, or the state that holds it."""
STARTS = frozenset(
    {
        "torch.distributed.init_process_group",
        "megatron.core.pipeline_parallel.get_forward_backward_func",
        "megatron.core.pipeline_parallel.schedules.get_forward_backward_func",
    }
)
"""Where training begins: the ranks find each other, or the model's schedule runs."""


def launchers(tree: Path) -> set[str]:
    """Return the dotted names of a release's launchers."""
    root = tree / "src"
    functions: dict[str, ast.FunctionDef] = {}
    uses: dict[str, set[str]] = {}
    for path in sorted(root.joinpath(*PACKAGE.split(".")).rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        parsed = ast.parse(path.read_text(encoding="utf-8"))
        own = {node.name: node for node in parsed.body if isinstance(node, ast.FunctionDef)}
        names = {**dict(_imported(parsed)), **{name: f"{module}.{name}" for name in own}}
        functions.update({f"{module}.{name}": node for name, node in own.items()})
        uses.update({f"{module}.{name}": set(_used(node, names)) for name, node in own.items()})
    leading = set(STARTS)
    while more := {name for name, used in uses.items() if name not in leading and used & leading}:
        leading |= more
    return {name for name in leading - STARTS if _takes_configuration(functions[name])}


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a file imports, anywhere in it, with their dotted names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (top, top)


def _used(function: ast.FunctionDef, names: dict[str, str]) -> Iterator[str]:
    """Yield the dotted names that a function uses."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Name, ast.Attribute)):
            first, dot, rest = ast.unparse(node).partition(".")
            if first in names:
                yield f"{names[first]}{dot}{rest}"


def _takes_configuration(function: ast.FunctionDef) -> bool:
    parameters = function.args
    annotations = [each.annotation for each in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)]
    return any(holder in ast.unparse(each) for each in annotations if each is not None for holder in HOLDERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    for name in sorted(set().union(*map(launchers, parser.parse_args().trees))):
        print(name)


if __name__ == "__main__":
    main()
