"""Determinism in many environments: the long version of tests/engine/test_determinism.py.

    python benchmarks/determinism.py [--seeds 5] PATH ...

runs each of the formats with different hash seeds, locales, time zones, orders of the arguments and states of the
cache, and compares the bytes. Exit code 1 where any differ.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

QUESTIONS = (
    "--output-format json",
    "--output-format full",
    "--output-format github",
    "--diff",
    "audit --output-format csv",
)


def surroundings(seeds: int) -> Iterator[Mapping[str, str]]:
    """Yield environments, no two of which are alike."""
    for seed in range(seeds):
        locale = ("C", "C.UTF-8", "tr_TR.UTF-8", "tr_TR.ISO-8859-9", "POSIX")[seed % 5]
        zone = ("UTC", "Pacific/Kiritimati", "America/New_York")[seed % 3]
        yield {"PYTHONHASHSEED": str(seed), "LC_ALL": locale, "TZ": zone, "COLUMNS": str(60 + seed)}


def main() -> int:
    """Ask, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    different = asked = 0
    for question in QUESTIONS:
        answers: dict[bytes, Mapping[str, str]] = {}
        with tempfile.TemporaryDirectory() as kept:
            for number, environment in enumerate(surroundings(options.seeds)):
                paths = random.Random(number).sample(options.paths, len(options.paths))
                # Nothing kept, then something, then that again.
                cache = {} if number == 0 else {"MFSDP_LINT_CACHE_DIR": kept}
                done = subprocess.run(
                    [sys.executable, "-m", "mfsdp_lint", *question.split(), "--target-bridge", "0.3.1", *paths],
                    env={
                        **os.environ,
                        "MFSDP_LINT_CACHE_DIR": "",
                        "PYTHONPATH": str(ROOT / "src"),
                        **environment,
                        **cache,
                    },
                    capture_output=True,
                    check=False,
                )
                asked += 1
                assert done.returncode in (0, 1), done.stderr
                answers.setdefault(done.stdout, environment)
        if len(answers) > 1:
            different += 1
            print(f"{question}: {len(answers)} answers: {list(answers.values())}")
    print(f"{asked} runs: {different} of {len(QUESTIONS)} questions had more than one answer")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
