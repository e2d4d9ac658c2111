"""Simulate a cluster's queue under the dry runs of a library: `python benchmarks/queue_of_jobs.py`.

Each job takes two GPUs of a node with eight. A share of the nodes belongs to other people, and stays theirs. The
scheduler looks at the queue at intervals and starts what fits, first come first served.
"""

from __future__ import annotations

import argparse
import heapq
import random
from statistics import median

GPUS_OF_A_NODE = 8
GPUS_OF_A_JOB = 2
SECONDS = (40.0, 58.0, 120.0)
"""The shortest, the usual (measured on an H100) and the longest dry run."""
INTERVAL = 30.0
"""Seconds between two looks at the queue (`bf_interval` of Slurm's backfill scheduler)."""
START = 5.0
"""Seconds from the decision to the first line of the job."""


def minutes(jobs: int, nodes: int, taken: float, chance: random.Random) -> float:
    """Return the minutes until all jobs have ended on the nodes that others leave."""
    free = int(nodes * (1 - taken)) * GPUS_OF_A_NODE // GPUS_OF_A_JOB
    lowest, usual, highest = SECONDS
    waiting = [chance.triangular(lowest, highest, usual) for _ in range(jobs)]
    ends: list[float] = []
    now = 0.0
    while waiting or ends:
        while ends and ends[0] <= now:
            heapq.heappop(ends)
            free += 1
        while waiting and free:
            heapq.heappush(ends, now + START + waiting.pop())
            free -= 1
        if not waiting:
            return max(ends) / 60
        now += INTERVAL
    return now / 60


def main() -> None:
    """Print a row for each share of the nodes that other people have."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=64)
    options = parser.parse_args()
    for taken in (0.0, 0.5, 0.9, 0.97):
        found = [minutes(options.jobs, options.nodes, taken, random.Random(seed)) for seed in range(20)]
        took = median(found)
        print(f"{taken:4.0%} of the nodes taken: {took:6.1f} minutes, {options.jobs / took:6.0f} recipes a minute")


if __name__ == "__main__":
    main()
