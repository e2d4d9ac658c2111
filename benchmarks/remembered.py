"""Edit a project at random, run with the memory of the run before, and compare with a run that remembers nothing.

    python benchmarks/remembered.py [--edits 200] [--seed 1] [--fixes] FOLDER …

Some files of the folders are copied into a project of their own. Each edit changes a constant, drops or doubles a
statement or a function, renames, removes or adds a file, or drops a line of a script or a YAML file. The findings, the
counts, the code that was not followed and the remarks have to be those of a run without a cache; with `--fixes`, also
the proved fixes. Prints every difference, how often a memory was used, and how often it had to be given up; exits with
1 if anything differs.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incremental import edited

from mfsdp_lint import process
from mfsdp_lint.engine import cache, memory
from mfsdp_lint.inputs.options import Options

PROJECT = 10
"""Files of a project."""

EDITS = 8
"""Edits of one project."""

ENDINGS = (".py", ".sh", ".yaml", ".yml", ".ipynb")


def structurally(text: str, chance: random.Random) -> str | None:
    """Drop or double a statement anywhere, or a whole function; None where that is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    if not nodes:
        return None
    node = chance.choice([*nodes, *(each for each in tree.body)])
    lines = text.splitlines(keepends=True)
    piece = lines[node.lineno - 1 : node.end_lineno]
    match chance.randrange(4):
        case 0:
            piece = []
        case 1:
            piece = [*piece, *piece]
        case 2:
            piece = ["# a comment\n", *piece]
        case 3:
            piece = [line.replace("_config", "_configuration", 1) for line in piece]
    changed = "".join((*lines[: node.lineno - 1], *piece, *lines[node.end_lineno :]))
    try:
        ast.parse(changed)
    except SyntaxError:
        return None
    return changed


def edit(project: Path, spare: list[Path], chance: random.Random) -> str:
    """Edit the project; return what was done, "" for nothing."""
    files = sorted(path for path in project.rglob("*") if path.suffix in ENDINGS and ".mfsdp_cache" not in path.parts)
    if not files:
        return ""
    path = chance.choice(files)
    how = chance.random()
    if how < 0.06:
        path.unlink()
        return f"removed {path.name}"
    if how < 0.12:
        path.rename(path.with_name(f"other_{path.name}"))
        return f"renamed {path.name}"
    if how < 0.2 and spare:
        new = chance.choice(spare)
        shutil.copy(new, path.parent / new.name)
        return f"added {new.name}"
    text = path.read_text(errors="replace")
    if path.suffix == ".py":
        changed = (edited if how < 0.65 else structurally)(text, chance)
    else:
        lines = text.splitlines(keepends=True)
        if lines:
            del lines[chance.randrange(len(lines))]
        changed = "".join(lines)
    if changed is None or changed == text:
        return ""
    path.write_text(changed)
    return f"changed {path.name}"


def told(options: Options) -> dict[str, Any]:
    """Run the linter; return all that the run tells."""
    found = cache.run(options)
    summary = found.summary
    return {
        "findings": found.findings,
        "summary": summary,
        "unfollowed": found.unfollowed,
        "problems": found.problems,
        "remarks": found.remarks,
        "recipes": found.recipes,
    }


def projects(folders: list[str], chance: random.Random) -> Iterator[tuple[list[Path], list[Path]]]:
    """Yield neighbouring files for a project, and others that may be added to it."""
    files = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.suffix in ENDINGS)
    while True:
        start = chance.randrange(len(files))
        yield files[start : start + PROJECT], files[start + PROJECT : start + 2 * PROJECT]


def main() -> int:
    """Run the campaign; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fixes", action="store_true")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    process.own()
    chance = random.Random(arguments.seed)
    used = given_up = edits = different = 0

    original_earlier, original_recorded = memory._earlier, cache._recorded

    def earlier(*given: Any) -> Any:
        nonlocal used
        found = original_earlier(*given)
        used += found is not None
        return found

    def recorded(*given: Any) -> Any:
        nonlocal given_up
        try:
            return original_recorded(*given)
        except cache.NotKept:
            given_up += 1
            raise

    memory._earlier = earlier
    cache._recorded = recorded
    home = os.getcwd()
    for files, spare in projects([os.path.abspath(each) for each in arguments.folders], chance):
        if edits >= arguments.edits:
            break
        with tempfile.TemporaryDirectory() as folder:
            common = Path(os.path.commonpath([each.parent for each in files]))
            project = Path(folder) / "project"
            for path in files:
                there = project / path.relative_to(common)
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, there)
            (project / "pyproject.toml").write_text("")
            os.chdir(project)
            try:
                target = chance.choice([None, "0.3.1", "head"])  # None: findings tell the versions they hold for
                asked = Options(paths=(".",), target_bridge=target, group_by="recipe", show_fixes=arguments.fixes)
                told(asked)
                for _ in range(EDITS):
                    done = edit(project, spare, chance)
                    if not done:
                        continue
                    edits += 1
                    warm = told(asked)
                    anew = told(Options(**{**_fields(asked), "cache": False}))
                    for name in warm:
                        if warm[name] != anew[name]:
                            different += 1
                            print(f"edit {edits}, {done}, of {files[0]}: {name}", file=sys.stderr)
                            print(f"  remembered: {warm[name]}\n  anew:       {anew[name]}"[:3000], file=sys.stderr)
            finally:
                os.chdir(home)
    print(f"{edits} edits, {used} runs with a memory, {given_up} given up, {different} answers differ")
    return int(different > 0)


def _fields(options: Options) -> dict[str, Any]:
    from mfsdp_lint.core.records import fields

    return {each.name: getattr(options, each.name) for each in fields(options)}


if __name__ == "__main__":
    sys.exit(main())
