"""Cost of a command: a process of its own, several times over, and the median of that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Python keeps what it has compiled, as it does wherever the tool is installed."""


@dataclass(frozen=True)
class Cost:
    """Processor and wall-clock time in seconds, and the most memory in MiB."""

    processor: float
    wall: float
    memory: float


_RUN = """
import os, sys, time
quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
begun = time.perf_counter()
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(process, 0)
wall = time.perf_counter() - begun
print(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))
"""
"""Runs a command from a small process: the memory of whoever starts one counts as its own until it is replaced."""


def cost(command: Sequence[str], folder: str, environment: Mapping[str, str] | None = None) -> Cost:
    """Measure one run, and throw its output away."""
    said = subprocess.run(
        [sys.executable, "-S", "-c", _RUN, *command],
        cwd=folder,
        env={**ENVIRONMENT, **(environment or {})},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    processor, wall, memory, code = map(float, said.stdout.split())
    if code not in (0, 1):  # 1: there were findings
        raise SystemExit(f"{' '.join(command)}: exit code {code:.0f}")
    return Cost(processor, wall, memory)


def typical(runs: int, once: Callable[[], Cost]) -> Cost:
    """Return the median of several runs, each figure by itself."""
    found = [once() for _ in range(runs)]
    return Cost(
        median(each.processor for each in found),
        median(each.wall for each in found),
        median(each.memory for each in found),
    )
