"""Compares a snapshot with the source it was made from, recipe by recipe.

    python -m scripts.compare_snapshot SNAPSHOT BRIDGE_TREE CORE_TREE [--audit FILE]

For every recipe function of the tree: a user's file that imports and calls it is evaluated with the snapshot alone,
and the result compared with that of evaluating the source: every setting that either knows, its value and the line that
wrote it. Recipes that need arguments are left out. Then every name of every class is assigned to, with either
(compare_assignments.py).
`--audit` writes what the snapshot gives as `mfsdp-lint audit` would. Exit 1 when anything differs.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from mfsdp_lint import process
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Unknown, describe
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import SnapshotKnowledge
from scripts import compare_assignments

FOLDERS = ("recipes", "perf_recipes", "diffusion/recipes")


def main() -> int:
    """Compare, print the differences, and return the exit code."""
    process.own()
    parser = argparse.ArgumentParser()
    parser.add_argument("snapshot")
    parser.add_argument("bridge")
    parser.add_argument("core")
    parser.add_argument("--audit")
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    root = options.bridge if os.path.isdir(f"{options.bridge}/megatron") else f"{options.bridge}/src"
    with open(options.snapshot, "rb") as stream:
        snapshot = Snapshot(stream.read())
    real = {_dotted(recipe, root): recipe for recipe in _from_source(root, options.core)}
    found, seconds = _from_snapshot(snapshot, list(real))
    differences = Counter[str]()
    places = Counter[tuple[str, str]]()
    compared = 0
    for name, recipe in real.items():
        mine = found.get(name)
        if mine is None:
            differences["recipes not found"] += 1
            print(f"not found: {name}")
            continue
        for path in sorted({*recipe.paths(), *mine.paths()}):
            compared += 1
            kind = _difference(recipe, mine, path, root)
            if kind:
                differences[kind] += 1
                places[kind, path] += 1
                if differences[kind] <= options.show:
                    print(f"{kind}: {name} {path}: {_told(mine, path, '')}, from source {_told(recipe, path, root)}")
    assignments, assigned = compare_assignments.differences(snapshot, [root, options.core])
    for each in assignments[: options.show]:
        print(f"assignment: {each.cls}.{each.name} = {each.value!r}: {each.snapshot}, from source {each.source}")
    if assignments:
        differences["assignments"] = len(assignments)
    if options.audit:
        _write_audit(options.audit, found)
    print(f"{assigned} assignments compared")
    print(f"{len(real)} recipes, {compared} settings compared, {seconds * 1000 / max(len(found), 1):.1f} ms a recipe")
    for (kind, path), count in places.most_common(options.show):
        print(f"{count} times {kind}: {path}")
    print(dict(differences) or "no difference")
    return 1 if differences else 0


def _from_source(root: str, core: str) -> list[Recipe]:
    paths = [
        os.path.join(above, file)
        for folder in FOLDERS
        for above, _, files in os.walk(os.path.join(root, "megatron", "bridge", folder))
        for file in sorted(files)
        if file.endswith(".py")
    ]
    recipes = read_python(sorted(paths), Sources(), search_path=[root, core]).recipes
    return [
        recipe
        for recipe in recipes
        if recipe.kind == "function" and not recipe.partial and "." not in recipe.name and not _needs_arguments(recipe)
    ]


def _needs_arguments(recipe: Recipe) -> bool:
    with open(recipe.path, encoding="utf-8") as stream:
        tree = ast.parse(stream.read())
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.lineno == recipe.line)
    return len(function.args.args) > len(function.args.defaults) or None in function.args.kw_defaults


def _dotted(recipe: Recipe, root: str) -> str:
    module = os.path.relpath(recipe.path, root)[: -len(".py")].replace(os.sep, ".")
    return f"{module}.{recipe.name}"


def _from_snapshot(snapshot: Snapshot, names: list[str]) -> tuple[dict[str, Recipe], float]:
    found = {}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recipes.py")
        with open(path, "w", encoding="utf-8") as stream:
            for number, name in enumerate(names):
                module, _, function = name.rpartition(".")
                stream.write(f"def r{number}():\n    from {module} import {function}\n    return {function}()\n")
        for recipe in read_python([path], Sources(), SnapshotKnowledge(lambda: snapshot)).recipes:
            found[names[int(recipe.name[1:])]] = recipe
    return found, time.perf_counter() - start


def _difference(real: Recipe, mine: Recipe, path: str, root: str) -> str | None:
    expected, given = real.setting(path), mine.setting(path)
    if expected.value != given.value or type(getattr(expected.value, "value", 0)) is not type(
        getattr(given.value, "value", 0)
    ):
        return "unknown to the snapshot" if isinstance(given.value, Unknown) else "different value"
    if _place(expected.origin, root) != _place(given.origin, ""):
        return "different origin"
    return None


def _place(origin: Any, root: str) -> Any:
    if origin is None:
        return None
    path = origin.span.path
    return (
        path.partition("/megatron/")[2] or path.partition("megatron/")[2],
        origin.span.line,
        origin.span.end_line,
        origin.function,
    )


def _told(recipe: Recipe, path: str, root: str) -> str:
    setting = recipe.setting(path)
    return f"{describe(setting.value)} {_place(setting.origin, root)}"


def _write_audit(path: str, found: Mapping[str, Recipe]) -> None:
    recipes = []
    for name, recipe in found.items():
        settings: dict[str, Any] = {}
        for setting_path in recipe.paths():
            setting = recipe.setting(setting_path)
            described: dict[str, Any] = {"state": setting.value.state}
            if setting.value.state == "known":
                described["value"] = setting.value.value  # type: ignore[union-attr]
            elif setting.value.state == "one-of":
                described["values"] = list(setting.value.values)  # type: ignore[union-attr]
            if setting.origin:
                span = setting.origin.span
                described["origin"] = {"path": span.path, "line": span.line, "end_line": span.end_line}
            settings[setting_path] = described
        file = name.rpartition(".")[0].replace(".", "/") + ".py"
        recipes.append(
            {
                "name": name.rpartition(".")[2],
                "qualified_name": name,
                "path": file,
                "line": 1,
                "kind": "function",
                "settings": settings,
            }
        )
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"version": 1, "recipes": recipes}, stream)


if __name__ == "__main__":
    sys.exit(main())
