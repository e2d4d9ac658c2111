#!/usr/bin/env python3
"""Inject pitfalls into users' recipes, fix them, and look at what that comes to for everybody.

    python benchmarks/injections.py --version 0.3.1 --tree BRIDGE [--search-path CORE] [--sample 300] [--seed 0]

Each injection is a bad example of a rule that has a safe fix, written in one of eight shapes into a small project on
top of a recipe of the tree. After `--fix` the finding has to be gone, the files have to parse and keep their comments,
every setting of every caller, for either value of what a caller decides, has to be what it was unless a fix of that
very caller names it, nothing new may be wrong, and a second run may change nothing.

With --search-path the recipes are read from their source, without from the tool's built-in knowledge. --keep writes the
files of whatever went wrong, before and after. Exit code 1: less than 99 % fixed, or any fault.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.injected.draw import Injection, drawn, judged  # noqa: E402
from benchmarks.injected.shapes import SHAPES  # noqa: E402
from benchmarks.injected.trial import State, Verdict  # noqa: E402

GOAL = 0.99
_STATES: tuple[State, ...] = ("no effect", "not found", "held back", "refused", "fixed", "not fixed")


def told(injections: Sequence[Injection], verdicts: Iterator[Verdict], options: argparse.Namespace) -> int:
    """Print failures as they occur, then the table; return the exit code."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    by_code: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    faults = faulty = 0
    for injection, verdict in zip(injections, verdicts, strict=True):
        counts[injection.shape][verdict.state] += 1
        by_code[injection.pitfall.code][verdict.state] += 1
        if verdict.state in ("held back", "refused"):
            reasons[f"{verdict.state}: {injection.pitfall.code}: {verdict.reason}"] += 1
        faults += len(verdict.faults)
        faulty += bool(verdict.faults)
        counts[injection.shape]["faults"] += bool(verdict.faults)
        if verdict.faults or verdict.state in ("not found", "not fixed"):
            because = f" ({verdict.reason})" if verdict.reason else ""
            lines = (f"{verdict.state}: {injection}{because}", *(f"  {fault}" for fault in verdict.faults))
            print(*lines, sep="\n", flush=True)
            if options.keep:
                _keep(Path(options.keep), injection, verdict)
    for title, rows in (("shape", counts), ("rule", by_code)):
        print(f"\n{title:16}" + "".join(f"{state:>11}" for state in (*_STATES, "faults")))
        for name, row in sorted(rows.items()):
            print(f"{name:16}" + "".join(f"{row[state]:>11}" for state in (*_STATES, "faults")))
    if options.reasons:
        for reason, count in reasons.most_common():
            print(f"{count:4} {reason}")
    total = sum(counts.values(), Counter())
    due = total["fixed"] + total["not fixed"] + total["not found"]
    share = total["fixed"] / due if due else 1.0
    print(
        f"\n{len(injections)} injections, {total['no effect']} without effect, {total['held back']} held back, "
        f"{total['refused']} refused, "
        f"{total['fixed']} of {due} fixed ({share:.2%}), {faults} faults in {faulty}"
    )
    return int(share < GOAL or bool(faults))


def _keep(folder: Path, injection: Injection, verdict: Verdict) -> None:
    place = folder / str(injection).replace("/", ".").replace(" · ", "-").replace(" ", "_")
    for name, files in (("before", verdict.before), ("after", verdict.after)):
        for path, text in (files or {}).items():
            (place / name / path).parent.mkdir(parents=True, exist_ok=True)
            (place / name / path).write_text(text)
    place.mkdir(parents=True, exist_ok=True)
    (place / "why.txt").write_text("\n".join([verdict.state, verdict.reason, *verdict.faults]) + "\n")


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True, help="of Megatron-Bridge")
    parser.add_argument("--tree", required=True, help="its source, which names the recipes")
    parser.add_argument("--search-path", action="append", help="Megatron-Core's source: recipes are read from source")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--code", action="append", help="only pitfalls of this rule; repeatable")
    parser.add_argument("--shape", action="append", choices=tuple(SHAPES), help="only this shape; repeatable")
    parser.add_argument("--keep", metavar="DIR", help="write the files of what went wrong")
    parser.add_argument("--reasons", action="store_true", help="list why fixes were held back")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    search_path: tuple[str, ...] = ()
    if options.search_path:
        source = Path(options.tree) / "src"
        search_path = (str(source if source.is_dir() else options.tree), *options.search_path)
    injections = drawn(
        options.version, Path(options.tree), options.sample, options.seed, options.code or (), options.shape or ()
    )
    judge = partial(judged, version=options.version, search_path=search_path)
    if options.jobs == 1:
        result = told(injections, map(judge, injections), options)
    else:
        with ProcessPoolExecutor(options.jobs) as pool:
            result = told(injections, pool.map(judge, injections, chunksize=4), options)
    print(f"{time.monotonic() - began:.0f} s")
    return result


if __name__ == "__main__":
    sys.exit(main())
