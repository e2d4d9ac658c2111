"""Small changes of a module, each of which some test should notice.

    python benchmarks/mutants.py MODULE [MODULE ...] --tests PATH [PATH ...] [--mutants 50] [--seed S]

changes one operator, constant, comparison or branch of a module in a copy of the tree, runs the tests up to the first
that fails, and prints every change that none noticed. `MODULE` is a path below `src/mfsdp_lint/`.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.And: ast.Or, ast.Or: ast.And, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip


def changes(text: str) -> Iterator[tuple[str, str]]:
    """Yield every change of a module: its description, and the changed text."""
    whole = ast.parse(text)
    without_effect = set(_without_effect(whole))
    for number, node in enumerate(ast.walk(whole)):
        if node in without_effect or _change(node) is None:
            continue
        tree = ast.parse(text)
        changed = next(each for count, each in enumerate(ast.walk(tree)) if count == number)
        told = _change(changed)
        yield f"line {getattr(node, 'lineno', _line(text, number))}: {told}", ast.unparse(tree)


def _without_effect(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield nodes that no test can notice: annotations, which are not evaluated, and how a class keeps its fields."""
    for node in ast.walk(tree):
        pieces = [
            *getattr(node, "decorator_list", ()),
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
        ]
        for piece in filter(None, pieces):
            yield from ast.walk(piece)


def _line(text: str, number: int) -> int:
    """Return the line of a node that has none of its own: that of the last one above it that has."""
    tree = ast.parse(text)
    wanted = next(each for count, each in enumerate(ast.walk(tree)) if count == number)
    holders = (node for node in ast.walk(tree) if any(child is wanted for child in ast.iter_child_nodes(node)))
    return next((getattr(node, "lineno", 0) for node in holders), 0)


def _change(node: ast.AST) -> str | None:
    """Change a node in place and describe the change; None for one that stays."""
    match node:
        case ast.Constant(value=bool() as value):
            node.value = not value
            return f"{value} -> {not value}"
        case ast.Constant(value=int() as number):
            node.value = number + 1
            return f"{number} -> {number + 1}"
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.Constant):
            if getattr(test, "id", "") == "TYPE_CHECKING":
                return None
            node.test = ast.UnaryOp(ast.Not(), test)
            return f"if {ast.unparse(test)[:60]} -> if not"
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            node.value = ast.Constant(None)
            return f"return {ast.unparse(value)[:60]} -> return None"
        case ast.Not():
            return None
    for field, value in ast.iter_fields(node):
        for place, each in enumerate(value if isinstance(value, list) else [value]):
            other = _SWAPS.get(type(each))
            if other is not None:
                if isinstance(value, list):
                    value[place] = other()
                else:
                    setattr(node, field, other())
                return f"{type(each).__name__} -> {other.__name__}"
    return None


def main() -> int:
    """Try them; exit code 0 however many survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--mutants", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began, killed, survived = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for folder in ("src", "tests", "rules", "examples", "docs", "benchmarks"):
            shutil.copytree(ROOT / folder, copy / folder)
        shutil.copy(ROOT / "pyproject.toml", copy)
        for link in (".cache",):
            if (ROOT / link).exists():
                (copy / link).symlink_to((ROOT / link).resolve())
        every = [
            (module, told, text)
            for module in options.modules
            for told, text in changes((ROOT / "src" / "mfsdp_lint" / module).read_text(encoding="utf-8"))
        ]
        sample = random.Random(options.seed).sample(every, min(options.mutants, len(every)))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options.tests]
        for module, told, text in sample:
            if time.monotonic() - began > options.seconds:
                break
            place = copy / "src" / "mfsdp_lint" / module
            whole = place.read_text(encoding="utf-8")
            place.write_text(text, encoding="utf-8")
            environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
            try:
                code = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=300).returncode
            except subprocess.TimeoutExpired:
                code = 1
            place.write_text(whole, encoding="utf-8")
            killed, survived = killed + (code != 0), survived + (code == 0)
            if code == 0:
                print(f"{module}: {told}: nobody noticed", flush=True)
    print(f"{killed} of {killed + survived} mutants killed (of {len(every)} there are)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
