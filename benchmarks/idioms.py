#!/usr/bin/env python3
"""Results of the linter, with nothing but its built-in knowledge, on the users' idioms of tests/idioms.

    python benchmarks/idioms.py [--list] [--version V …] [--write-misses] [IDIOM …]

--list shows every miss with its idiom; --write-misses writes
tests/idioms/known_misses.txt, which the tests compare with.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from mfsdp_lint import process
from tests.idioms.compare import Outcome, compared
from tests.idioms.known import write
from tests.idioms.suite import VERSIONS, idioms

_COLLECTED_AFTER = 50


def outcomes(version: str, names: tuple[str, ...]) -> list[Outcome]:
    """Compare every idiom that can occur in a version with its truth."""
    asked = [idiom for idiom in idioms() if idiom.occurs(version) and (not names or idiom.name in names)]
    process.own()
    gc.disable()  # nothing of an idiom is left for the next one, and looking for cycles takes longer than reading
    found = []
    for number, idiom in enumerate(asked):
        found.append(compared(idiom, version))
        if number % _COLLECTED_AFTER == 0:
            gc.collect()
    return found


def row(name: str, found: Iterable[Outcome]) -> str:
    """Write one line of figures."""

    def share(part: str, whole: str) -> str:
        some, every = (sum(getattr(each, attribute) for each in found) for attribute in (part, whole))
        return f"{some}/{every} {some / every:6.1%}" if every else "-"

    found = list(found)
    pairs = (("found", "recipes"), ("decided", "settings"), ("reported", "headlines"), ("placed", "marked"))
    shares = "".join(f"{share(*pair):>20}" for pair in pairs)
    wrong = f"{sum(each.wrong for each in found)} in {sum(each.wrong > 0 for each in found)}"
    return f"{name:8}{len(found):6}{shares}{wrong:>12}{sum(each.false_alarms for each in found):>9}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="IDIOM")
    parser.add_argument("--version", action="append", choices=VERSIONS)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--write-misses", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    began = time.monotonic()
    versions = options.version or VERSIONS
    with ProcessPoolExecutor(options.jobs) as pool:
        every = dict(zip(versions, pool.map(outcomes, versions, [tuple(options.names)] * len(versions)), strict=True))
    titles = ("recipes found", "settings decided", "findings reported", "at deciding text")
    print(f"{'version':8}{'runs':>6}{''.join(f'{title:>20}' for title in titles)}{'wrong':>12}{'false':>9}")
    for version, found in every.items():
        print(row(version, found))
    together = [each for found in every.values() for each in found]
    print(row("all", together))
    kinds = Counter(miss.partition(":")[0] for each in together for miss in each.misses)
    print("misses:", ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "none")
    print(f"{len({each.idiom for each in together})} idioms, {time.monotonic() - began:.0f} s")
    if options.list:
        for each in sorted(together, key=lambda each: each.idiom):
            for miss in each.misses:
                print(f"{each.idiom}  {each.version}  {miss}")
    if options.write_misses:
        write(together)
    return 0


if __name__ == "__main__":
    sys.exit(main())
