"""The answer for a file is the same whatever else is checked: tests/readers/python/test_independence.py at length.

    python benchmarks/independence.py [--version 0.3.1] [--subsets 5] [--alone 40] [--seed 0] PATH ...

reads the Python files of each path together, in random subsets and orders, and one by one, and compares what is said of
every file. `--packages N` does so with N generated packages instead, whose modules change each other. Exit code 1 where
an answer differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint import process  # noqa: E402
from mfsdp_lint.inputs.sources import Sources  # noqa: E402
from tests.readers.python.independence import answers, differences  # noqa: E402
from tests.readers.python.patching_packages import package  # noqa: E402


def main() -> int:
    """Run the campaign; exit code 1 where an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="0.3.1")
    parser.add_argument("--search-path", action="append", default=[])
    parser.add_argument("--subsets", type=int, default=5, help="subsets of a tree, each in an order of its own")
    parser.add_argument("--alone", type=int, default=40, help="files of a tree that are also checked alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", type=int, default=0)
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    process.own()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.packages):
            package(random.Random(seed), Path(folder, str(seed)))
        packages = sorted(map(str, Path(folder).iterdir()))
        return _compare([*options.paths, *packages], options)


def _compare(trees: Sequence[str], options: argparse.Namespace) -> int:
    subsets = compared = different = 0
    for name in trees:
        files, sources = _files(name), Sources()
        if not files:
            sys.exit(f"{name}: no Python files")
        draw = random.Random(f"{options.seed} {len(files)}")
        whole = answers(files, sources, options.version, options.search_path)
        for subset in _subsets(draw, files, options.subsets, options.alone):
            subsets += 1
            found = answers(subset, sources, options.version, options.search_path)
            for path in subset:
                compared += 1
                said = list(differences(found[path], whole[path]))
                different += bool(said)
                if said and len(subset) == 1:
                    print(f"{name}: {path}:", *said[:5], sep="\n  ", flush=True)
                elif said:
                    print(f"{name}: {path}: differs in a subset of {len(subset)}: {said[0]}", flush=True)
    print(f"{len(trees)} trees, {subsets} subsets, {compared} answers compared, {different} differ")
    return int(different > 0)


def _files(path: str) -> list[str]:
    return [path] if path.endswith(".py") else sorted(map(str, Path(path).rglob("*.py")))


def _subsets(draw: random.Random, files: Sequence[str], count: int, alone: int) -> Iterator[list[str]]:
    """Yield all files in another order, some of them, and single ones."""
    yield draw.sample(files, len(files))
    for _ in range(count):
        yield draw.sample(files, draw.randint(1, len(files)))
    yield from ([path] for path in draw.sample(files, min(alone, len(files))))


if __name__ == "__main__":
    sys.exit(main())
