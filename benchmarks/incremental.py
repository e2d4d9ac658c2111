"""Edit files at random, ask again with the results of before, and compare with an answer from nothing.

    python benchmarks/incremental.py [--edits 500] [--seed 1] FOLDER …

Each edit changes a constant or removes a line in a function of a Python file of the folders: what fixes and people do
all the time. The recipes, their variants, settings and places have to be those of a new reading, whatever was taken
over.

Prints every difference, and how many recipes were taken over; exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mfsdp_lint import process
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.engine.read import Read, question, read
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources

PROJECT = 12
"""Files that are read together."""

_OTHERS = {bool: (True, False), int: (0, 1, 2, 7), str: ("torch_dist", "fsdp_dtensor", "small"), float: (0.5, 1.5)}


def answers(found: Read) -> dict[str, list[Any]]:
    """Return all that a reading says of its recipes."""
    return {
        f"{recipe.path} {recipe.qualified_name} {recipe.label}": [
            (each.when, [(path, each.value(path), _places(each.origin(path))) for path in each.settings])
            for each in (*recipe.variants, *recipe.exposed)
        ]
        for recipe in found.recipes
    }


def _places(origin: Origin | None) -> list[Span]:
    return [] if origin is None else [origin.span, *_places(origin.earlier)]


def edited(text: str, chance: random.Random, *, anywhere: bool = False) -> str | None:
    """Change a constant within a function, or `anywhere`, or drop a line of one; None where there is none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    pieces = tree.body if anywhere else [each for function in functions for each in function.body]
    places = [node for each in pieces for node in _editable(each)]
    if not places:
        return None
    lines = text.encode().splitlines(keepends=True)
    node = chance.choice(places)
    if isinstance(node, ast.Constant):
        line = lines[node.lineno - 1]
        value = repr(chance.choice(_OTHERS[type(node.value)])).encode()
        assert node.end_col_offset is not None
        lines[node.lineno - 1] = line[: node.col_offset] + value + line[node.end_col_offset :]
    else:
        del lines[node.lineno - 1 : node.end_lineno]
    changed = b"".join(lines).decode()
    try:
        ast.parse(changed)
    except SyntaxError:
        return None
    return changed


def _editable(statement: ast.stmt) -> Iterator[ast.Constant | ast.stmt]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Constant) and type(node.value) in _OTHERS and node.lineno == node.end_lineno:
            yield node
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
            yield node


def main() -> int:
    """Run the campaign; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    process.own()
    chance = random.Random(arguments.seed)
    files = sorted(
        str(path)
        for folder in arguments.folders
        for path in Path(folder).rglob("*")
        if path.suffix in (".py", ".sh") and path.is_file()
    )
    edits = different = recipes = kept = 0
    while edits < arguments.edits:
        start = chance.randrange(len(files))
        asked, _ = question(Options(paths=tuple(files[start : start + PROJECT]), target_bridge="0.3.1"))
        sources = Sources()
        known = read(asked, sources)
        texts: dict[str, str] = {}
        for _ in range(6):
            path = chance.choice(files[start : start + PROJECT])
            text = edited(texts.get(path) or sources.text_or_none(path) or "", chance) if path.endswith(".py") else None
            if text is None:
                continue
            edits += 1
            texts[path] = text
            now = read(asked, sources.with_texts(texts), before=known)
            old = {id(variant.settings) for recipe in known.recipes for variant in recipe.variants}
            recipes += len(now.recipes)
            kept += sum(all(id(each.settings) in old for each in recipe.variants) for recipe in now.recipes)
            found, anew = answers(now), answers(read(asked, Sources(texts)))
            if found != anew:
                different += 1
                names = [name for name in {**found, **anew} if found.get(name) != anew.get(name)]
                print(f"{path}, edit {edits}: {', '.join(names)}", file=sys.stderr)
            known = now
    print(f"{edits} edits, {recipes} recipes, {kept} taken over, {different} answers differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
