"""Rank of a job on another machine, where torch's launcher has started it: nothing here is its parent.

Every rank so ends by itself once the launch has taken as long as it may.
"""

import json
import os
import signal
from collections.abc import Sequence
from contextlib import redirect_stdout

from . import inventory, rank

_OF_SLURM = ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID")
"""Numbers of the one task that has started the launcher, which are not those of a rank."""


def main(arguments: Sequence[str]) -> None:
    """Run one rank. `arguments`: the job's folder, which all ranks see. Raises SystemExit without a rank."""
    folder = os.path.abspath(arguments[0])
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as stream:
        job = json.load(stream)
    if "RANK" not in os.environ:
        raise SystemExit("RANK is not set: start this with torch's launcher (torchrun)")
    for name in _OF_SLURM:
        os.environ.pop(name, None)
    os.environ |= {**job.get("environment", {}), "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "ranks")}
    os.chdir(folder)  # what is saved goes there
    answers = os.path.join(folder, "answers")
    starts = os.environ["LOCAL_RANK"] == "0" or not job["forks"]  # else another rank may have answered for it already
    if starts and os.path.exists(os.path.join(answers, f"start.{os.environ['RANK']}.json")):
        raise SystemExit(f"it was run already: what came of it is in {answers}, which has to be empty to run it again")
    signal.alarm(int(job["limit"]))
    if os.environ["RANK"] == "0":
        part = os.path.join(answers, "inventory.part")
        with open(part, "w", encoding="utf-8") as stream, redirect_stdout(stream):
            inventory.main(job.get("packages", []))
        os.replace(part, os.path.join(answers, "inventory.json"))
    rank.main([os.path.join(folder, "job.json"), answers])
