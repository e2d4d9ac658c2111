"""Run the property tests with other random inputs than those of `make test`, which are always the same.

    python benchmarks/random_tests.py --rounds 10 [--first SEED] [TEST …]

Each round runs every test that uses hypothesis with the round's seed. For an input that fails, the patch that adds it
to its test as an `@example` is printed. Exit code 1 if a test failed in any round.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run the rounds; the exit code says whether all passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help="files of tests (all that use hypothesis)")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first round")
    options = parser.parse_args()
    tests = options.tests or property_tests()
    seeds = range(options.first, options.first + options.rounds)
    failed = [seed for seed in seeds if not passes(seed, tests)]
    print(f"{len(tests)} files, {options.rounds} rounds, {len(failed)} with a failure {failed or ''}")
    return 1 if failed else 0


def property_tests() -> list[str]:
    """List the files below tests/ that use hypothesis."""
    files = (ROOT / "tests").rglob("test_*.py")
    return sorted(str(each) for each in files if re.search(r"^@given", each.read_text(encoding="utf-8"), re.MULTILINE))


def passes(seed: int, tests: list[str]) -> bool:
    """Run one round; print what pytest says of its failures, and the patches that keep the inputs."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "-p", "no:cacheprovider"]
    chance = ["--hypothesis-profile=random", f"--hypothesis-seed={seed}"]
    with tempfile.TemporaryDirectory() as kept:
        ran = subprocess.run(
            [*pytest, *chance, *tests],
            env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": kept},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"seed {seed}: {ran.stdout.splitlines()[-1] if ran.stdout else ran.stderr}", flush=True)
        if ran.returncode:
            print(ran.stdout)
        for patch in Path(kept, "patches").glob("*.patch"):
            print(patch.read_text(encoding="utf-8"))
    return ran.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
