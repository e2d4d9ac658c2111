"""Run random programs, read them, and compare: the long version of tests/readers/python/test_programs.py.

    python benchmarks/property_campaign.py --programs 20000

prints one line: how many programs and settings were compared, how much of them was decided, and how many
disagreements there were (each is printed before, with its seed and program). `--first` continues a campaign.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint import process  # noqa: E402
from tests.readers.python.agreement import examine  # noqa: E402
from tests.readers.python.programs import Program, write  # noqa: E402


def main() -> int:
    """Run the campaign; exit code 1 where a program disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first program")
    options = parser.parse_args()
    compared: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    runs = disagreements = 0
    # A reading sets aside what there is, and counts that: too much work where one process reads so often.
    process.own()
    gc.disable()
    for seed in range(options.first, options.first + options.programs):
        program = write(random.Random(seed).randrange)
        verdict = examine(program)
        if seed % 25 == 0:
            gc.collect()
        kind = "with configurations handed in" if program.handed else "with unknowns"
        kind = "without unknowns" if program.decided else kind
        compared[kind] += verdict.compared
        decided[kind] += verdict.decided
        runs += verdict.runs
        if verdict.disagreements:
            disagreements += 1
            _show(seed, program, verdict.disagreements)
    shares = ", ".join(f"{100 * decided[kind] / compared[kind]:.2f} % decided {kind}" for kind in sorted(compared))
    print(
        f"{options.programs} programs, {runs} runs, {sum(compared.values())} settings compared, {shares}, "
        f"{disagreements} disagreements"
    )
    return 1 if disagreements else 0


def _show(seed: int, program: Program, disagreements: list[str]) -> None:
    print(f"program {seed}:")
    for one in disagreements:
        print(f"  {one}")
    print(program.text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
