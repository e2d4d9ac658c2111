"""Index of public names by release of Megatron-Bridge: makes src/mfsdp_lint/megatron/data/modules.json, and of those of
the megatron-core that each release pins, src/mfsdp_lint/upgrade/core_names.json.

    python scripts/index_modules.py CLONE CORE_CLONE

They are clones of Megatron-Bridge and Megatron-LM. Nothing in them is imported or run. Of megatron-core the index has
only what some release lacks.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mfsdp_lint.megatron.versions.releases import RELEASES

BRIDGE, CORE = "src/megatron/bridge/", "megatron/core/"
PACKAGE = Path(__file__).parents[1] / "src/mfsdp_lint"
OUTPUT = PACKAGE / "megatron/data/modules.json"
CORE_OUTPUT = PACKAGE / "upgrade/core_names.json"

Index = dict[str, tuple[int, dict[str, int], str | None]]
"""By module: the mask of the releases that have it, those of the names that not all have, and all other names."""


def main(clone: str, core_clone: str) -> None:
    """Write the indexes."""
    write(OUTPUT, index(clone, BRIDGE, [release.commit for release in RELEASES]))
    core = index(core_clone, CORE, [release.core_commit for release in RELEASES])
    every = (1 << len(RELEASES)) - 1
    write(CORE_OUTPUT, {module: entry[:2] for module, entry in core.items() if entry[0] != every or entry[1]})


def write(path: Path, found: Mapping[str, object]) -> None:
    """Write an index to a file."""
    releases = [release.bridge for release in RELEASES]
    text = ",\n".join(f"{json.dumps(module)}: {json.dumps(entry)}" for module, entry in found.items())
    path.write_text(f'{{"releases": {json.dumps(releases)},\n"modules": {{\n{text}\n}}}}\n', encoding="utf-8")
    print(f"{path}: {len(found)} modules, {path.stat().st_size // 1024} KiB")


def index(clone: str, root: str, commits: Sequence[str]) -> Index:
    """Return the public names of a package at some commits."""
    masks: dict[str, int] = {}
    names: dict[str, dict[str, int]] = {}
    others: dict[str, set[str]] = {}
    open_ended: set[str] = set()
    for bit, commit in enumerate(commits):
        for module, (public, bound) in modules(clone, root, commit).items():
            masks[module] = masks.get(module, 0) | 1 << bit
            others.setdefault(module, set()).update(bound)
            if public is None:
                open_ended.add(module)
            for name in public or ():
                having = names.setdefault(module, {})
                having[name] = having.get(name, 0) | 1 << bit
    found = {}
    for module, mask in sorted(masks.items()):
        known = sorted(names.get(module, {}).items())
        differing = {} if module in open_ended else {name: has for name, has in known if has != mask}
        further = None if module in open_ended else " ".join(sorted(others[module] - differing.keys()))
        found[module] = mask, differing, further
    return found


def modules(clone: str, root: str, commit: str) -> dict[str, tuple[set[str] | None, set[str]]]:
    """Return the public modules of one commit: their public names, with those that `*` imports, and all names that
    their top level binds (imports from elsewhere as well).

    None for the names of a module that may have others: it has a `__getattr__`, or takes all names from an unread
    module.
    """
    trees = {}
    for path, blob in _files(clone, root, commit):
        name = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if not any(part.startswith("_") for part in name.split(".")):
            trees[name] = ast.parse(blob)
    found = {name: set(_names(tree.body)) for name, tree in trees.items()}
    bound = {name: set(_bound(tree)) for name, tree in trees.items()}
    for _ in range(4):  # a package that takes everything from a package that does so
        for name, tree in trees.items():
            for source in _stars(tree):
                found[name] |= found.get(source, set())
                bound[name] |= bound.get(source, set())
    return {
        name: (
            _public(found[name]) if found.keys() >= set(_stars(tree)) and "globals" not in bound[name] else None,
            _public(bound[name]) or set(),
        )
        for name, tree in trees.items()
    }


def _public(names: set[str]) -> set[str] | None:
    return None if "__getattr__" in names else {name for name in names if not name.startswith("_")}


def _files(clone: str, root: str, commit: str) -> Iterator[tuple[str, bytes]]:
    listed = subprocess.run(
        ["git", "-C", clone, "ls-tree", "-r", commit, "--", root], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    entries = [(line.split()[2], line.split("\t")[1]) for line in listed if line.endswith(".py")]
    contents = subprocess.run(
        ["git", "-C", clone, "cat-file", "--batch"],
        input="".join(f"{blob}\n" for blob, _ in entries).encode(),
        capture_output=True,
        check=True,
    ).stdout
    for _, path in entries:
        header, _, contents = contents.partition(b"\n")
        size = int(header.split()[2])
        yield path, contents[:size]
        contents = contents[size + 1 :]


def _names(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ImportFrom(names=names) if statement.level or (statement.module or "").startswith("megatron"):
                yield from (alias.asname or alias.name for alias in names)
            case ast.Assign(targets=targets):
                yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If(body=inner, orelse=other):
                yield from _names([*inner, *other])
            case ast.Try(body=inner, handlers=handlers, orelse=other):
                yield from _names([*inner, *other, *(each for handler in handlers for each in handler.body)])


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield all names that the top level of a module may bind, under conditions and in loops as well.

    "globals" is among them if its code may bind others.
    """
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                yield from (each for inner in ast.walk(node) if isinstance(inner, ast.Global) for each in inner.names)
                continue
            case ast.Import(names=names):
                yield from ((alias.asname or alias.name).partition(".")[0] for alias in names)
            case ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
            case ast.Name(id=name) if isinstance(node.ctx, ast.Store) or name in ("globals", "exec"):
                yield "globals" if name == "exec" else name
        pending.extend(ast.iter_child_nodes(node))


def _stars(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            yield "" if statement.level else statement.module or ""


if __name__ == "__main__":
    main(*sys.argv[1:])
