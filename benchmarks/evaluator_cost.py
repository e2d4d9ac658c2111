#!/usr/bin/env python3
"""Cost of evaluating recipe files, in units of what `ast.parse` needs for the same files.

    python benchmarks/evaluator_cost.py [--search-path DIR] [--copies 1 2 4] FOLDER [FOLDER …]

Cold, on one core, in processor seconds (a fresh process for every measurement, the best of three). With --copies N the
folders are linted N times over (as separate trees that share nothing), which shows whether the cost is linear.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3


def python_files(folders: list[str]) -> list[str]:
    return sorted(str(path) for folder in folders for path in Path(folder).rglob("*.py"))


def parse_seconds(files: list[str]) -> float:
    texts = [Path(file).read_text() for file in files]
    start = time.process_time()
    for text in texts:
        ast.parse(text)
    return time.process_time() - start


def evaluate_seconds(files: list[str], search_path: list[str]) -> tuple[float, int]:
    from mfsdp_lint import process
    from mfsdp_lint.inputs.sources import Sources
    from mfsdp_lint.readers.python.read import read_python

    process.own()  # as the command line does
    start = time.process_time()
    read = read_python(files, Sources(), search_path=search_path)
    return time.process_time() - start, len(read.recipes)


def measured(what: str, folders: list[str], search_path: list[str]) -> tuple[float, str]:
    command = [sys.executable, __file__, "--only", what, *(f"--search-path={path}" for path in search_path), *folders]
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(RUNS)]
    best = min(outputs, key=lambda output: float(output[0]))
    return float(best[0]), best[1]


def copied(tree: Path, folders: list[str], copies: int, scratch: Path) -> list[str]:
    """Return the folders of `copies` copies of the whole tree."""
    found = []
    for number in range(copies):
        target = scratch / f"copy{number}"
        if not target.exists():
            shutil.copytree(tree, target)
        found += [str(target / Path(folder).resolve().relative_to(tree)) for folder in folders]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--search-path", action="append", default=[])
    parser.add_argument(
        "--root", help="the tree that the folders belong to (copied with --copies); default: their parent"
    )
    parser.add_argument("--copies", nargs="+", type=int, default=[1])
    parser.add_argument("--only", choices=["parse", "evaluate"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        files = python_files(options.folders)
        seconds, count = (
            (parse_seconds(files), len(files))
            if options.only == "parse"
            else evaluate_seconds(files, options.search_path)
        )
        print(seconds, count)
        return 0
    tree = Path(options.root or Path(options.folders[0]).resolve().parent).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        for copies in options.copies:
            folders = options.folders if copies == 1 else copied(tree, options.folders, copies, Path(scratch))
            parsing, files = measured("parse", folders, options.search_path)
            evaluating, recipes = measured("evaluate", folders, options.search_path)
            print(
                f"{copies} x the tree: {files} files, {recipes} recipes; ast.parse {parsing:.2f} s, "
                f"evaluation {evaluating:.2f} s ({evaluating / parsing:.1f} times)"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
