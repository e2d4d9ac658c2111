"""Read trees and random packages with and without the filter: the long tests/readers/python/test_relevance.py.

    python benchmarks/relevance.py --packages 2000 [--version 0.3.1] TREE ...

prints how many trees and packages were read in both ways, and each that gives another answer (exit code 1).
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint import process  # noqa: E402
from mfsdp_lint.inputs.discover import discover  # noqa: E402
from mfsdp_lint.readers.registry import file_types  # noqa: E402
from tests.readers.python.relevance import answers, everything_is_parsed, put, write  # noqa: E402


def main() -> int:
    """Read everything in both ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first package")
    parser.add_argument("--version", default="0.3.1")
    parser.add_argument("trees", nargs="*")
    options = parser.parse_args()
    process.own()
    different = 0
    for tree in options.trees:
        os.chdir(ROOT / tree)
        paths = [file.path for file in discover(["."], file_types(), gitignore=False).files]
        started = time.process_time()
        equal, recipes = _compared(paths, options.version)
        different += not equal
        took = f"{time.process_time() - started:.0f} s"
        print(f"{tree}: {len(paths)} files, {recipes} recipes, {'equal' if equal else 'DIFFERENT'} ({took} for both)")
    every = 0
    for seed in range(options.first, options.first + options.packages):
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            paths = put(write(draw.randrange), Path(folder))
            for asked in (paths, draw.sample(paths, 1)):
                equal, recipes = _compared(asked, options.version)
                every += recipes
                if not equal:
                    different += 1
                    print(f"package {seed}: {asked}")
            os.chdir(ROOT)
    print(f"{len(options.trees)} trees, {options.packages} packages ({every} recipes): {different} different answers")
    return int(different > 0)


def _compared(paths: Sequence[str], version: str) -> tuple[bool, int]:
    filtered = answers(paths, version)
    with everything_is_parsed():
        return answers(paths, version) == filtered, len(filtered["recipes"])


if __name__ == "__main__":
    sys.exit(main())
