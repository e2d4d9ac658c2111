"""Place where ranks run: its device, the most ranks there, and the launcher.

For another machine a launch is written as a job: a folder that has all that it takes, and the answers that come back
in it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.dryrun.containment import MEMORY, WORKER, settings_for
from mfsdp_lint.dryrun.inventory import A_CLUSTER, BRIDGE, CPU, PACKAGES, Device, Installed
from mfsdp_lint.dryrun.outcome import Failure, RunOutcome
from mfsdp_lint.dryrun.ranks import Answers, By, RunRequest, Tell, job, launched, limit, read, srun_line, torchrun_line
from mfsdp_lint.inputs.options import UsageError


@dataclass(frozen=True, slots=True)
class LaunchPlace:
    """`most` ranks can be there, None for any number; `memory` is for each process, 0 for no limit.

    `by` launches, where that is not torch here; then `jobs` are those that it has only written.
    """

    device: Device
    most: int | None
    memory: int
    by: By | None = None
    jobs: list[LaunchJob] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Request for a dry run: `memory` is None where nobody sets it, `answers` the folder of jobs that have been run."""

    tier: Literal["auto", "introspect", "cpu", "gpu"]
    ranks: int
    launcher: Literal["torchrun", "srun", "print"]
    timeout: float
    memory: int | None
    keep: str | None
    answers: str | None

    def limit(self, device: Device) -> int:
        """Return the memory limit of a process there; none on a GPU, whose driver maps more than anybody uses."""
        if self.memory is not None:
            return self.memory
        return 0 if device.is_gpu else MEMORY


def place(wanted: Wanted, installed: Installed) -> LaunchPlace:
    """Choose the place for a request. Raises UsageError where it cannot run."""
    most = 1 if wanted.ranks == 1 else None
    if wanted.tier == "introspect" and (wanted.answers or wanted.launcher != "torchrun"):
        raise UsageError("--tier introspect has no ranks that anybody could launch")
    if wanted.answers:
        by, device = answered(wanted.answers, installed)
        return LaunchPlace(device, most, wanted.limit(device), by)
    if wanted.launcher == "print":
        if not wanted.keep:
            raise UsageError("--launcher print: say with --keep which folder to write the jobs to")
        device = CPU if wanted.tier == "cpu" else A_CLUSTER
        jobs: list[LaunchJob] = []
        by = writing(empty(wanted.keep), wanted.timeout, device, jobs)
        return LaunchPlace(device, most, wanted.limit(device), by, jobs)
    if wanted.launcher == "srun":
        return _under_slurm(wanted, installed, most)
    device = installed.device(wanted.tier, wanted.ranks)
    return LaunchPlace(device, len(installed.gpus) if device.is_gpu else most, wanted.limit(device))


def _under_slurm(wanted: Wanted, installed: Installed, most: int | None) -> LaunchPlace:
    if shutil.which("srun") is None:
        raise UsageError("--launcher srun: there is no srun on the PATH; with print it can be run where there is")
    device = installed.on_the_nodes(wanted.tier, wanted.ranks)
    memory = wanted.limit(device)
    by = launched(
        installed.python, timeout=wanted.timeout, keep=wanted.keep, memory=memory, device=device, launcher="srun"
    )
    return LaunchPlace(device, most, memory, by)


_CHECKPOINTS = "checkpoints"
_JOB = "job.json"
_SAME = (BRIDGE, "megatron-core")
"""The packages whose versions have to be those that start-up validation was asked of."""


@dataclass(frozen=True, slots=True)
class LaunchJob:
    """A folder, how many runs with how many ranks it holds, on what, and the seconds after which it ends itself."""

    directory: Path
    runs: int
    ranks: int
    device: Device
    seconds: float

    @property
    def lines(self) -> dict[str, list[str]]:
        """Return the commands that start the job on the machine that is to run it, by the launcher's name. Either is
        enough.
        """
        start = [str(self.directory / "worker" / "start.py"), "elsewhere", str(self.directory)]
        return {
            "srun": srun_line(["python3", *start], self.ranks, self.device, self.seconds),
            "torchrun": torchrun_line(start, self.ranks),
        }


def empty(into: str) -> Path:
    """Return a folder that has nothing in it yet. Raises UsageError where it is not empty, or cannot be made."""
    directory = Path(into).absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise UsageError(f"--keep {into}: there is something in it; name a folder that is empty, or not there yet")
    except OSError as error:
        raise UsageError(f"--keep {into}: {error.strerror or error}") from None
    return directory


def writing(into: Path, timeout: float, device: Device, written: list[LaunchJob]) -> By:
    """Write a job for each launch that there would be, add it to `written`, and answer nothing."""

    def by(questions: Sequence[RunRequest], ranks: int, tell: Tell) -> Answers:
        directory = into / f"job-{len(written) + 1}"
        (directory / "answers").mkdir(parents=True)
        shutil.copytree(WORKER, directory / "worker", ignore=shutil.ignore_patterns("__pycache__"))
        document = job(
            questions,
            ranks,
            timeout,
            device,
            _CHECKPOINTS,
            on=asdict(device),
            environment=settings_for(device.is_gpu),
            packages=PACKAGES,
        )
        files.put(str(directory / _JOB), json.dumps(document, indent=1).encode())
        written.append(LaunchJob(directory, len(questions), ranks, device, limit(questions, timeout, device)))
        return {question.name: _nothing("it is to be run elsewhere") for question in questions}, ()

    return by


def answered(below: str, installed: Installed) -> tuple[By, Device]:
    """Look the answers up in the folder that jobs were written to; return the device that they are for, too. Raises
    UsageError.
    """
    jobs = list(_jobs(below))
    if not jobs:
        raise UsageError(f"--answers {below}: there are no jobs in it, as --launcher print writes them")
    on = jobs[0][1]["on"]
    device = Device(on["kind"], on["backend"], on["transformer_engine"], tuple(on["capability"]))

    def by(questions: Sequence[RunRequest], ranks: int, tell: Tell) -> Answers:
        asked = {each["id"]: each for each in job(questions, ranks, 0, device, _CHECKPOINTS)["questions"]}
        nothing = _nothing(f"no job in {below} is for it: it was written for other settings, or other options")
        outcomes = dict.fromkeys(asked, nothing)
        stood_in: tuple[str, ...] = ()
        for directory, document in jobs:
            if document["ranks"] != ranks:
                continue
            names = [each["id"] for each in document["questions"] if {**each, "timeout": 0} == asked.get(each["id"])]
            if why := _of_other_versions(directory, installed):
                outcomes |= dict.fromkeys(names, _nothing(why))
                continue
            found, missing = read(directory / "answers", names, ranks, f"{directory} has no answer to it")
            outcomes |= found
            stood_in = stood_in or missing
        return outcomes, stood_in

    return by, device


def _jobs(below: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for path in sorted(Path(below).absolute().glob(f"job-*/{_JOB}")):
        try:
            document = json.loads(files.read(path))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {error}") from None
        yield path.parent, document


def _of_other_versions(directory: Path, installed: Installed) -> str:
    """Explain why the answers of that folder do not apply here; "" where they do."""
    try:
        there = json.loads(files.read(directory / "answers" / "inventory.json"))["versions"]
    except (OSError, ValueError):
        return ""  # nobody has run it: there are no answers
    for name in _SAME:
        if there.get(name) != installed.packages.get(name):
            return f"it was run with {name} {there.get(name)}, and validated here with {installed.packages.get(name)}"
    return ""


def _nothing(why: str) -> RunOutcome:
    return RunOutcome("start", Failure("Ended", why))
