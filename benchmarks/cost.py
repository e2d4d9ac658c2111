#!/usr/bin/env python3
"""Costs of a run beside evaluating recipes: start-up, the rules, and judging configurations without files.

    python benchmarks/cost.py [--recipes FOLDER …] [--target VERSION] [--configurations FILE]

Processor time (user and system), so that a busy machine matters less than it does to a clock: the least and the median
of several runs. Without folders and files only start-up is measured. FILE has lines as `mfsdp-lint judge` reads them.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

RUNS = 9
GOALS = {"--version": 40, "a clean file": 120, "a clean recipe": 120, "the rules, for a recipe": 1}
"""Milliseconds, at most."""
CONFIGURATIONS_A_SECOND = 2000

TOOL = "import os\n\nprint(os.name)\n"
RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
def mine():
    return llama3_8b_pretrain_config()
"""
FINDING = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def llama3_8b_fsdp_{number}():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.save = "/checkpoints"
    return cfg
"""


def of_a_process(*arguments: str, cwd: Path) -> Callable[[], float]:
    """Measure milliseconds that the command line takes in a process of its own, with its modules compiled."""
    command = [sys.executable, "-m", "mfsdp_lint", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def measured() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000

    measured()
    return measured


def start_up(folder: Path) -> None:
    (folder / "tool.py").write_text(TOOL)
    (folder / "recipe.py").write_text(RECIPE)
    (folder / "three").mkdir()
    for number in range(3):
        (folder / "three" / f"recipe_{number}.py").write_text(FINDING.format(number=number))
    tell("--version", of_a_process("--version", cwd=folder))
    tell("a clean file", of_a_process("--no-cache", "tool.py", cwd=folder))
    tell("a clean recipe", of_a_process("--no-cache", "recipe.py", cwd=folder))
    concise = ("--no-cache", "--output-format=concise", "three")
    tell("three files with findings, concise", of_a_process(*concise, cwd=folder))


def rules(folders: list[str], target: str | None) -> None:
    """Measure judging once the recipes are read; their settings are only computed with the first question."""
    from mfsdp_lint.engine.read import question, read
    from mfsdp_lint.engine.run import prepare
    from mfsdp_lint.inputs.options import Options
    from mfsdp_lint.inputs.sources import Sources
    from mfsdp_lint.rules.check import hits, violations_of
    from mfsdp_lint.rules.findings import causes

    options = Options(paths=tuple(folders), target_bridge=target)
    asked, _ = question(options)
    judge, _, _ = prepare(options, asked)
    count = 0

    def once() -> float:
        nonlocal count
        sources = Sources()
        recipes = read(asked, sources).recipes
        count = len(recipes)
        gc.collect()
        gc.disable()  # as the command line has it
        start = time.process_time()
        found = hits(recipes, asked.target, judge.rules, judge.is_told_of, sources=sources)
        causes(violations_of(found))
        taken = time.process_time() - start
        gc.enable()
        return taken * 1000 / count

    tell("the rules, for a recipe", once, runs=3)
    print(f"  ({count} recipes)")


def judging(file: str, target: str | None) -> None:
    """Measure reading, judging and answering lines, in one process."""
    import json

    from mfsdp_lint.commands import judge
    from mfsdp_lint.megatron.versions import resolve_target
    from mfsdp_lint.rules.judging import bench

    judged = bench(resolve_target(target))
    lines = Path(file).read_text(encoding="utf-8").splitlines()

    def once() -> float:
        start = time.process_time()
        for line in lines:
            identity, variant = judge._question(line, False)
            json.dumps({"id": identity, **judge._document(judged(variant))})
        return len(lines) / (time.process_time() - start)

    found = [once() for _ in range(5)]
    told(f"configurations a second (goal: {CONFIGURATIONS_A_SECOND})", max(found), statistics.median(found))


def tell(what: str, measured: Callable[[], float], runs: int = RUNS) -> None:
    found = [measured() for _ in range(runs)]
    goal = f" (goal: {GOALS[what]})" if what in GOALS else ""
    told(f"{what}, ms{goal}", min(found), statistics.median(found))


def told(what: str, best: float, median: float) -> None:
    print(f"{what:48} best {best:8.2f}   median {median:8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipes", nargs="+", default=[], metavar="FOLDER")
    parser.add_argument("--target", metavar="VERSION")
    parser.add_argument("--configurations", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        start_up(Path(scratch))
    if options.recipes:
        rules(options.recipes, options.target)
    if options.configurations:
        judging(options.configurations, options.target)


if __name__ == "__main__":
    main()
