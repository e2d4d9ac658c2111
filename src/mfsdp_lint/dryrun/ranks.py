"""The tiers that train: ranks started by a launcher, which answer a list of questions one after the other.

Many runs share few launches: each run is asked for once, and all that need as many ranks are in one launch. For another
machine a launch is written as a job: a folder that has all that it takes, and the answers that come back in it.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.dryrun.containment import MEMORY, WORKER, contained, settings_for
from mfsdp_lint.dryrun.inventory import A_CLUSTER, BRIDGE, CPU, PACKAGES, Device, Installed
from mfsdp_lint.dryrun.outcome import Failure, PlainSettings, RunOutcome, failure_from, together
from mfsdp_lint.dryrun.proxy import base_of
from mfsdp_lint.inputs.options import UsageError

STEPS = 4
"""A run that saves does so before the last of them, which is the one that a run trains that loads."""

_CHECKPOINTS = "checkpoints"
_JOB = "job.json"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run: the settings to train with, the base of a proxy model below them, and whether to save or load.

    `save` and `load` name a checkpoint of this launch; a load begins in a process that has not trained the checkpoint
    that it loads, which may be the base of its adapters. The run reports whether the `watched` settings were read.
    """

    name: str
    settings: PlainSettings
    base: PlainSettings
    save: str | None = None
    load: str | None = None
    is_base: bool = False
    watched: tuple[str, ...] = ()


Tell = Callable[[str], None]
"""Hears of each question that was answered, by its name."""

Answers = tuple[dict[str, RunOutcome], tuple[str, ...]]
"""The outcome of every question by its name, and the packages that are stood in for."""

By = Callable[[Sequence[RunRequest], int, Tell], Answers]
"""Has questions answered, by so many ranks. Raises UsageError where no directory can be made."""

Launcher = Literal["torchrun", "srun"]

AGENT = ("--standalone", "--max-restarts", "0")
"""Options of torch's launcher: alone on its machine, and giving up where a rank fails."""


def launched(
    python: str,
    *,
    timeout: float,
    keep: str | None = None,
    memory: int = MEMORY,
    device: Device = CPU,
    launcher: Launcher = "torchrun",
) -> By:
    """Answer questions by launches of their own, here or from here. `timeout` is for each question."""
    slurm = launcher == "srun"

    def by(questions: Sequence[RunRequest], ranks: int, tell: Tell) -> Answers:
        with contained(python, keep=keep, memory=memory, devices=device.is_gpu, cluster=slurm) as launch:
            document = job(questions, ranks, timeout, device, str(launch.directory / "tmp"))
            files.put(str(launch.directory / _JOB), json.dumps(document, indent=1).encode())
            if slurm:
                line = srun_line(launch.command("elsewhere", str(launch.directory)), ranks, device, document["limit"])
            else:
                line = launch.command(
                    *("torch.distributed.run", *AGENT, "--local-addr", "127.0.0.1", "--nproc-per-node", str(ranks)),
                    *("--log-dir", str(launch.directory / "ranks"), "--redirects", "3"),
                    *(str(WORKER / "start.py"), "rank", *(str(launch.directory / name) for name in (_JOB, "answers"))),
                )
            process = launch.start(line, output="launcher.log")
            try:
                why = _wait(process, launch.directory / "answers", document, tell)
            finally:
                if process.poll() is None and slurm:  # which has to tell the nodes
                    process.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(10)
                if process.poll() is None:  # processes of torch's own launcher end with it anyway
                    process.kill()
                    process.wait()
            if not why and slurm:  # which explains in the last line of its log why it starts nothing
                lines = files.read(launch.directory / "launcher.log").decode("utf-8", "replace").split("\n")
                said = next((line.strip() for line in reversed(lines) if line.strip()), "")
                why = f"the launch ended without an answer: {said}" if said else ""
            return read(launch.directory / "answers", [question.name for question in questions], ranks, why)

    return by


def srun_line(command: Sequence[str], ranks: int, device: Device, seconds: float) -> list[str]:
    """Return Slurm's command: it starts every rank itself, as a task; all on one node. After `seconds` it ends them."""
    gpus = [f"--gpus-per-node={ranks}"] if device.is_gpu else []
    time_limit = f"--time={math.ceil(seconds / 60)}"
    return ["srun", "--nodes=1", f"--ntasks={ranks}", *gpus, time_limit, "--kill-on-bad-exit=1", *command]


def job(
    questions: Sequence[RunRequest], ranks: int, timeout: float, device: Device, checkpoints: str, **more: Any
) -> dict[str, Any]:
    """Make the job for the ranks: `checkpoints` is the folder for their saves, `timeout` is for each question."""
    return {
        "device": device.kind,
        "gpus": device.gpus,
        "forks": not device.is_gpu,
        "ranks": ranks,
        "limit": limit(questions, timeout, device),
        "imports": timeout,
        **more,
        "questions": [
            {
                "id": question.name,
                "settings": dict(question.settings),
                "base": dict(question.base),
                "world_size": ranks,
                "timeout": timeout,
                "backend": device.backend,
                "steps": STEPS,
                "is_base": question.is_base,
                "watched": list(question.watched),
                **({"save": f"{checkpoints}/{question.save}"} if question.save else {}),
                **({"load": f"{checkpoints}/{question.load}"} if question.load else {}),
            }
            for question in questions
        ],
    }


def limit(questions: Sequence[RunRequest], timeout: float, device: Device) -> float:
    """Return the seconds after which the ranks are ended: importing takes at most as long as a question.

    A process that has used a GPU cannot fork: there each question imports anew.
    """
    return timeout * (len(questions) + (len(questions) if device.is_gpu else 1))


def read(answers: Path, names: Sequence[str], ranks: int, why: str = "") -> Answers:
    """Read the answers of the ranks. `why` is the reason given for a question that none has answered."""
    starts = [_read(answers, "start", rank) for rank in range(ranks)]
    broken = next((failure for start in starts if start and (failure := failure_from(start["error"]))), None)
    nothing = RunOutcome("import", broken or Failure("Ended", why or "the launch ended without an answer"))
    outcomes = {}
    for name in names:
        given = [_read(answers, name, rank) for rank in range(ranks)]
        outcomes[name] = nothing if broken or not any(given) else together(given)
    return outcomes, tuple(next((start["stood_in"] for start in starts if start), ()))


def _read(answers: Path, name: str, rank: int) -> Mapping[str, Any] | None:
    try:
        found: Mapping[str, Any] = json.loads(files.read(answers / f"{name}.{rank}.json"))
    except (OSError, ValueError):
        return None
    return found


def _wait(process: subprocess.Popen[bytes], answers: Path, document: Mapping[str, Any], tell: Tell) -> str:
    """Wait for the launcher's end; return why it had to be stopped, "" where it had not."""
    started = time.monotonic()
    imports, everything, ranks = document["imports"], document["limit"], range(document["ranks"])
    waiting = [question["id"] for question in document["questions"]]
    while process.poll() is None:
        passed = time.monotonic() - started
        if passed > imports and not any((answers / f"start.{rank}.json").exists() for rank in ranks):
            return f"importing torch and Megatron took more than {imports:g} s"
        if passed > everything:
            return f"stopped after {everything:g} s"
        while waiting and all((answers / f"{waiting[0]}.{rank}.json").exists() for rank in ranks):
            tell(waiting.pop(0))
        time.sleep(0.05)
    return ""


Key = tuple[int, str]
"""A run: the ranks it takes, and its name."""

_MOST_IN_A_LAUNCH = 100


@dataclass(slots=True)
class Batch:
    """Runs that are wanted, and after `run` what came of them.

    `by` does them, on `device`; `most` is how many ranks there can be, None for any number.
    """

    by: By
    device: Device = CPU
    most: int | None = None
    stood_in: tuple[str, ...] = ()
    _wanted: dict[Key, RunRequest] = field(default_factory=dict)
    _keys: dict[str, Key] = field(default_factory=dict)
    _outcomes: dict[Key, RunOutcome] = field(default_factory=dict)

    def want(
        self,
        settings: PlainSettings,
        ranks: int,
        *,
        save: bool = False,
        load: Key | None = None,
        is_base: bool = False,
        watched: Sequence[str] = (),
    ) -> Key:
        """Ask for a run, with a save, or with a load of another run's save. The same run has the same key.

        The loaded checkpoint may be the base of its adapters. The run reports whether `watched` settings were read.
        """
        same = json.dumps([sorted(settings.items()), ranks, save, load, is_base, sorted(watched)], default=str)
        if same not in self._keys:
            name = f"run-{len(self._keys) + 1}"
            key = self._keys[same] = (ranks, name)
            saved, loaded, base = name if save else None, load[1] if load else None, base_of(self.device)
            self._wanted[key] = RunRequest(name, settings, base, saved, loaded, is_base, tuple(watched))
        return self._keys[same]

    def __len__(self) -> int:
        return len(self._wanted)

    def run(self, tell: Tell) -> None:
        """Run everything that is wanted. Raises UsageError where no directory can be made."""
        for ranks in sorted({key[0] for key in self._wanted}):
            for chunk in _in_chunks([question for key, question in self._wanted.items() if key[0] == ranks]):
                outcomes, stood_in = self.by(chunk, ranks, tell)
                self._outcomes |= {(ranks, name): outcome for name, outcome in outcomes.items()}
                self.stood_in = self.stood_in or stood_in
        self._wanted.clear()

    def outcome(self, key: Key) -> RunOutcome:
        """Return the outcome of a run."""
        return self._outcomes[key]


def _in_chunks(questions: list[RunRequest]) -> list[list[RunRequest]]:
    """Split questions into chunks of limited size; a load stays with the save that it needs."""
    together: dict[str, list[RunRequest]] = {}
    for question in questions:
        together.setdefault(question.load or question.name, []).append(question)
    chunks: list[list[RunRequest]] = [[]]
    for group in together.values():
        if len(chunks[-1]) + len(group) > _MOST_IN_A_LAUNCH:
            chunks.append([])
        chunks[-1] += group
    return [chunk for chunk in chunks if chunk]


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


def place(
    installed: Installed,
    tier: Literal["auto", "introspect", "cpu", "gpu"],
    ranks: int,
    launcher: Literal["torchrun", "srun", "print"],
    timeout: float,
    memory: int | None,
    keep: str | None,
    answers: str | None,
) -> LaunchPlace:
    """Choose the place for a dry run: its device, the most ranks there, and the launcher. Raises UsageError.

    `memory` is None where nobody sets it, `answers` the folder of jobs that have been run.
    """
    most = 1 if ranks == 1 else None
    jobs: list[LaunchJob] = []
    by: By | None = None
    if tier == "introspect" and (answers or launcher != "torchrun"):
        raise UsageError("--tier introspect has no ranks that anybody could launch")
    if answers:
        by, device = answered(answers, installed)
    elif launcher == "print":
        if not keep:
            raise UsageError("--launcher print: say with --keep which folder to write the jobs to")
        device = CPU if tier == "cpu" else A_CLUSTER
        by = writing(empty(keep), timeout, device, jobs)
    elif launcher == "srun":
        if shutil.which("srun") is None:
            raise UsageError("--launcher srun: there is no srun on the PATH; with print it can be run where there is")
        device = installed.on_the_nodes(tier, ranks)
    else:
        device = installed.device(tier, ranks)
    if memory is None:
        memory = device.memory
    if launcher == "srun" and not answers:
        by = launched(installed.python, timeout=timeout, keep=keep, memory=memory, device=device, launcher="srun")
    return LaunchPlace(device, most, memory, by, jobs)


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
        """The commands that start the job on the machine that is to run it, by launcher; either is enough."""
        start = [str(self.directory / "worker" / "start.py"), "elsewhere", str(self.directory)]
        return {
            "srun": srun_line(["python3", *start], self.ranks, self.device, self.seconds),
            "torchrun": ["torchrun", *AGENT, "--nproc-per-node", str(self.ranks), *start],
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
        more = {"on": asdict(device), "environment": settings_for(device.is_gpu), "packages": PACKAGES}
        document = job(questions, ranks, timeout, device, _CHECKPOINTS, **more)
        files.put(str(directory / _JOB), json.dumps(document, indent=1).encode())
        written.append(LaunchJob(directory, len(questions), ranks, device, document["limit"]))
        return {question.name: _nothing("it is to be run elsewhere") for question in questions}, ()

    return by


def answered(below: str, installed: Installed) -> tuple[By, Device]:
    """Look answers up in the folder that jobs were written to; return their device, too. Raises UsageError."""
    jobs: list[tuple[Path, Mapping[str, Any]]] = []
    for path in sorted(Path(below).absolute().glob(f"job-*/{_JOB}")):
        try:
            jobs.append((path.parent, json.loads(files.read(path))))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {error}") from None
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


def _of_other_versions(directory: Path, installed: Installed) -> str:
    """Explain why the answers of that folder do not apply here; "" where they do."""
    try:
        there = json.loads(files.read(directory / "answers" / "inventory.json"))["versions"]
    except (OSError, ValueError):
        return ""  # nobody has run it: there are no answers
    for name in (BRIDGE, "megatron-core"):  # of which start-up validation was asked here
        if there.get(name) != installed.packages.get(name):
            return f"it was run with {name} {there.get(name)}, and validated here with {installed.packages.get(name)}"
    return ""


def _nothing(why: str) -> RunOutcome:
    return RunOutcome("start", Failure("Ended", why))
