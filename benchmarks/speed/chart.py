"""The README's picture: what a check of the recipes costs beside what people run already.

It is drawn by the Python of the peers' environment, which has matplotlib: `python chart.py TARGET < FIGURES`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

OURS, OTHERS = "#2f6fdb", "#b8bec9"


def draw(peers: Mapping[str, float], ours: Mapping[str, float], target: Path) -> None:
    """Let another process draw bars on a logarithmic scale, since the figures range from a third to a hundred."""
    from speed.peers import ENVIRONMENT

    figures = [*((name, figure, OTHERS) for name, figure in peers.items()), *((*each, OURS) for each in ours.items())]
    python = str(ENVIRONMENT / "bin" / "python")
    subprocess.run([python, __file__, str(target)], input=json.dumps(figures), text=True, check=True)


def main() -> None:
    """Draw the figures from standard input, the cheapest on top."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "mfsdp-lint", "font.size": 9})
    from matplotlib import pyplot

    names, figures, colors = zip(*sorted(json.load(sys.stdin), key=lambda each: -each[1]), strict=True)
    figure, axes = pyplot.subplots(figsize=(7.2, 0.32 * len(names) + 0.7))
    bars = axes.barh(names, figures, color=colors)
    axes.bar_label(bars, labels=[f"{each:.3g} ×" for each in figures], padding=4)
    axes.set_xscale("log")
    axes.set_xlabel("processor time, as a multiple of ast.parse of the same files")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.15)
    figure.tight_layout()
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
