#!/usr/bin/env python3
"""Growth of the cost of reading: with the files, with the recipes of one file, and with the depth of helpers.

    python benchmarks/scaling.py [--runs N] [--most EXPONENT]

Made-up projects of one, two and four times a size are read in processes of their own, in processor seconds (the best
of several, without the fixed cost of a process's first reading). The exponent is that of the growth from one to four
times: 1 is linear. Exit 1 where one is larger than `--most`.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TIMES = (1, 2, 4)

HEAD = """\
from dataclasses import dataclass, field


@dataclass
class Model:
    tensor_model_parallel_size: int = 1


@dataclass
class Train:
    train_iters: int = 100


@dataclass
class DDP:
    use_megatron_fsdp: bool = False
    overlap_param_gather: bool = True


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)
    model: Model = field(default_factory=Model)
    train: Train = field(default_factory=Train)
"""

RECIPE = """

def recipe_{number}_config() -> ConfigContainer:
    cfg = ConfigContainer(ddp=DDP(use_megatron_fsdp=True, overlap_param_gather=False))
    cfg.train.train_iters = 10 * {number}
    cfg.model.tensor_model_parallel_size = 2 if {number} % 3 else 4
    return cfg
"""

HELPER = """
def _level_{level}(cfg):
    cfg.train.train_iters = {level}
    _level_{next}(cfg)
    return cfg
"""

LAST = """
def _level_{level}(cfg):
    cfg.ddp.overlap_param_gather = False
    return cfg


def deep_config() -> ConfigContainer:
    return _level_0(ConfigContainer(ddp=DDP(use_megatron_fsdp=True)))
"""


def files(times: int) -> list[str]:
    """Make a project of files with two recipes each."""
    recipes = "".join(RECIPE.format(number=number) for number in range(2))
    return [HEAD + recipes] * (60 * times)


def recipes_of_a_file(times: int) -> list[str]:
    """Make one file with ever more recipes."""
    return [HEAD + "".join(RECIPE.format(number=number) for number in range(120 * times))]


def depth(times: int) -> list[str]:
    """Make files whose recipe goes through ever more helpers."""
    levels = 12 * times
    helpers = "".join(HELPER.format(level=level, next=level + 1) for level in range(levels))
    return [HEAD + helpers + LAST.format(level=levels)] * 40


PROJECTS: dict[str, Callable[[int], list[str]]] = {
    "files": files,
    "recipes of one file": recipes_of_a_file,
    "depth of helpers": depth,
}


def seconds(texts: list[str]) -> float:
    """Measure reading a project, once the process has read another one."""
    from mfsdp_lint import process
    from mfsdp_lint.inputs.sources import Sources
    from mfsdp_lint.readers.python.read import read_python

    def cost(texts: list[str], folder: str) -> float:
        paths = []
        for number, text in enumerate(texts):
            path = Path(folder) / f"recipe_{number:04}.py"
            path.write_text(text)
            paths.append(str(path))
        start = time.process_time()
        read = read_python(paths, Sources())
        spent = time.process_time() - start
        assert len(read.recipes) == "".join(texts).count("-> ConfigContainer")
        return spent

    process.own()  # as the command line does
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as folder:
        cost(texts[:1], first)
        return cost(texts, folder)


def measured(name: str, times: int, runs: int) -> float:
    """Return the best of several processes."""
    command = [sys.executable, __file__, "--one", name, str(times)]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(runs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="processes for each measurement (default: 5)")
    parser.add_argument("--most", type=float, default=1.1, help="the largest exponent that passes (default: 1.1)")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "TIMES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(seconds(PROJECTS[options.one[0]](int(options.one[1]))))
        return 0
    worst = 0.0
    for name in PROJECTS:
        costs = [measured(name, times, options.runs) for times in TIMES]
        exponent = math.log(costs[-1] / costs[0]) / math.log(TIMES[-1])
        worst = max(worst, exponent)
        print(f"{name:22} {', '.join(f'{cost:.3f}' for cost in costs)} s, exponent {exponent:.2f}", flush=True)
    return 1 if worst > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
