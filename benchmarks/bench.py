#!/usr/bin/env python3
"""`make bench`: every figure of speed beside its goal, measured in one run on one machine.

    python benchmarks/bench.py --tree DIR [RECIPES …] [--tree …] [--runs N] [--only WORD] [--write]

Each tree is a repository, with the folders in it that have recipes alone, if it has any. A figure is the median of N
runs (three) of a fresh process each. With --write the table goes into benchmarks/RESULTS.md and the chart, which is of
the first tree, into docs/speed.svg. Exit code 1 where a goal is missed.
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


Figures = dict[str, float]
"""Measured figures by their names."""


def table(found: list[tuple[Place, Figures]], peers: Figures) -> str:
    """Write the figures as Markdown, a column for each tree."""
    names = [here.repository.name for here, _ in found]
    lines = [
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, the median of "
        f"{found[0][0].runs} runs; figures in brackets miss the goal.",
        "",
        f"| figure | goal | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
        _row("recipe files", "", [str(len(here.recipe_files) or "–") for here, _ in found]),
        _row("`ast.parse` of them", "s", [f"{here.parsing_recipes:.2f}" if here.recipes else "–" for here, _ in found]),
        _row("`ast.parse` of the repository", "s", [f"{here.parsing_repository:.2f}" for here, _ in found]),
    ]
    for measure in measures():
        cells = [_cell(measure, figures.get(measure.name)) for _, figures in found]
        if any(measure.name in figures for _, figures in found):
            lines.append(_row(measure.name, f"{'≥' if measure.more else '≤'} {measure.goal:g} {measure.unit}", cells))
    if peers:
        lines += ["", f"| the recipes of {names[0]}, by others | × ast.parse |", "|---|---|"]
        lines += [f"| {name} | {figure:.3g} |" for name, figure in peers.items()]
    return "\n".join(lines)


def _row(name: str, goal: str, cells: list[str]) -> str:
    return f"| {name} | {goal} | {' | '.join(cells)} |"


def _cell(measure: Measure, figure: float | None) -> str:
    if figure is None:
        return "–"
    said = f"{figure:.0f}" if figure >= 1000 else f"{figure:.3g}"
    return said if measure.is_reached(figure) else f"({said})"


def written(told: str) -> None:
    """Replace the earlier table by this one."""
    text = RESULTS.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    RESULTS.write_text(f"{before}{BEGIN}\n{told}\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Measure, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, nargs="+", action="append", required=True, metavar=("DIR", "RECIPES"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="figures with this word in their name")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found: list[tuple[Place, Figures]] = []
    missed = False
    for tree in arguments.tree:
        repository, *recipes = (path.absolute() for path in tree)
        here, figures = Place(repository, tuple(recipes), arguments.runs), Figures()
        found.append((here, figures))
        for measure in measures():
            if arguments.only in measure.name and (measure.anywhere or recipes):
                figures[measure.name] = figure = measure.of(here)
                missed = missed or not measure.is_reached(figure)
                told = f"{measure.name:34} {figure:9.3g} {measure.unit:17} (goal {measure.goal:g})"
                print(f"{repository.name:12} {told}{'' if measure.is_reached(figure) else '  MISSED'}", flush=True)
    first, figures = found[0]
    peers = {} if arguments.only else against_peers(first)
    told = table(found, peers)
    if arguments.write:
        written(told)
        ours = {
            f"mfsdp-lint, {name.removeprefix(COLD)}": each for name, each in figures.items() if name.startswith(COLD)
        }
        if peers:
            draw(peers, ours, CHART)
    print(told)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
