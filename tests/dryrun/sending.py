"""Runs that are sent to a cluster, whose Python is a stand-in that answers at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mfsdp_lint.dryrun.inventory import CPU, Installed
from mfsdp_lint.dryrun.jobs import JobOptions, resuming
from mfsdp_lint.dryrun.ranks import Batch, Key
from tests.dryrun.samples import FSDP

AS_IT_IS = JobOptions()

INSTALLED = Installed("python", "3.11", {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1"})

PYTHON = """\
#!{python}
import json, os, sys, time
if "-c" in sys.argv:  # it starts the job
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
folder = sys.argv[-1]
with open(f"{{folder}}/job.json") as stream:
    job = json.load(stream)
for question in job["questions"]:
    if question["settings"].get("sleeps") and not os.path.exists({awake!r}):
        time.sleep(600)
    for rank in range(job["ranks"]):
        with open(f"{{folder}}/answers/start.{{rank}}.json", "w") as stream:
            json.dump({{"error": None, "stood_in": ["triton"]}}, stream)
        with open(f"{{folder}}/answers/{{question['id']}}.{{rank}}.json", "w") as stream:
            json.dump({{"stage": "done", "error": None, "losses": [4.8]}}, stream)
"""


class Runs:
    """Runs that are sent to the cluster from one folder, and what is said meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "runs"
        self.folder.mkdir()
        self.awake = folder / "awake"
        self.python = folder / "bin" / "python3"
        self.python.parent.mkdir()
        self.python.write_text(PYTHON.format(python=sys.executable, awake=str(self.awake)))
        self.python.chmod(0o755)
        self.notes: list[str] = []
        self.meanwhile: Callable[[str], None] = lambda text: None

    def cluster(self, options: JobOptions = AS_IT_IS) -> Any:
        raise NotImplementedError

    def send(self, *sleeping: bool, ranks: int = 2, options: JobOptions = AS_IT_IS) -> list[str]:
        """Have a run of each recipe made; returns what came of each."""
        batch = Batch(resuming(self.cluster(options).answer, self.folder, CPU, INSTALLED))
        keys = [self.want(batch, number, sleeps, ranks) for number, sleeps in enumerate(sleeping)]
        batch.run(self.meanwhile)
        return told(batch, keys)

    def want(self, batch: Batch, number: int, sleeps: bool, ranks: int) -> Key:
        batch.recipe = f"recipe {number}"
        return batch.want({**FSDP, "ddp.bucket_size": number, "sleeps": sleeps}, ranks)

    def when_running(self, what: Callable[[], object], running: str = ", 1 running") -> None:
        """Do something once, when a job runs."""
        done: list[str] = []

        def meanwhile(text: str) -> None:
            if running in text and not done:
                done.append(text)
                what()

        self.meanwhile = meanwhile


def told(batch: Batch, keys: Sequence[Key]) -> list[str]:
    outcomes = [batch.outcome(key) for key in keys]
    return [each.failure.text if each.failure else each.stage for each in outcomes]
