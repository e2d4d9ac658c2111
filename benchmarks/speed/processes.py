"""Cost of a command: a process of its own, several times over, and the median of that."""

from __future__ import annotations

import os
import subprocess
import time
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


def cost(command: Sequence[str], folder: str, environment: Mapping[str, str] | None = None) -> Cost:
    """Measure one run, and throw its output away."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**ENVIRONMENT, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: there were findings
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def typical(runs: int, once: Callable[[], Cost]) -> Cost:
    """Return the median of several runs, each figure by itself."""
    found = [once() for _ in range(runs)]
    return Cost(
        median(each.processor for each in found),
        median(each.wall for each in found),
        median(each.memory for each in found),
    )
