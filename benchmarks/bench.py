#!/usr/bin/env python3
"""`make bench`: every figure of speed beside its goal, measured in one run on one machine.

    python benchmarks/bench.py --repository DIR --recipes DIR [DIR …] [--runs N] [--only WORD] [--write]

The median of N runs (three) of a fresh process each. With --write the table goes into benchmarks/RESULTS.md and the
chart into docs/speed.svg. Exit code 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from speed.chart import draw
from speed.measures import Measure, measures
from speed.peers import against_peers
from speed.place import Place

ROOT = Path(__file__).resolve().parents[1]
RESULTS, CHART = ROOT / "benchmarks" / "RESULTS.md", ROOT / "docs" / "speed.svg"
COLD = "recipes, cold, "
BEGIN, END = "<!-- make bench -->", "<!-- /make bench -->"


def table(found: list[tuple[Measure, float]], peers: dict[str, float], here: Place) -> str:
    """Write the figures as Markdown."""
    lines = [
        f"{len(here.recipe_files)} recipe files; `ast.parse` of them takes {here.parsing_recipes:.2f} s. "
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, "
        f"the median of {here.runs} runs.",
        "",
        "| figure | goal | measured | |",
        "|---|---|---|---|",
    ]
    for measure, figure in found:
        goal = f"{'≥' if measure.more else '≤'} {measure.goal:g} {measure.unit}"
        lines.append(
            f"| {measure.name} | {goal} | {figure:.3g} | {'reached' if measure.is_reached(figure) else 'missed'} |"
        )
    if peers:
        lines += ["", "| the same recipes, by others | × ast.parse |", "|---|---|"]
        lines += [f"| {name} | {figure:.3g} |" for name, figure in peers.items()]
    return "\n".join(lines)


def written(told: str) -> None:
    """Replace the earlier table by this one."""
    text = RESULTS.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    RESULTS.write_text(f"{before}{BEGIN}\n{told}\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Measure, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--recipes", type=Path, nargs="+", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="figures with this word in their name")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    here = Place(arguments.repository.absolute(), tuple(path.absolute() for path in arguments.recipes), arguments.runs)
    found = []
    for measure in measures():
        if arguments.only in measure.name:
            figure = measure.of(here)
            found.append((measure, figure))
            reached = "" if measure.is_reached(figure) else "  MISSED"
            print(f"{measure.name:32} {figure:9.3g} {measure.unit:17} (goal {measure.goal:g}){reached}", flush=True)
    peers = {} if arguments.only else against_peers(here)
    told = table(found, peers, here)
    if arguments.write:
        written(told)
        cold = ((measure.name.partition(COLD), figure) for measure, figure in found)
        ours = {f"mfsdp-lint, {name}": figure for (_, is_cold, name), figure in cold if is_cold}
        if peers:
            draw(peers, ours, CHART)
    print(told)
    return int(any(not measure.is_reached(figure) for measure, figure in found))


if __name__ == "__main__":
    sys.exit(main())
