"""The tiers that train: ranks started by a launcher, which answer a list of questions one after the other.

Many runs share few launches: each run is asked for once, and all that need as many ranks are in one launch.
"""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.dryrun.containment import MEMORY, WORKER, Contained, contained
from mfsdp_lint.dryrun.inventory import CPU, Device
from mfsdp_lint.dryrun.outcome import Failure, PlainSettings, RunOutcome, failure_from, together
from mfsdp_lint.dryrun.proxy import base_of

STEPS = 4
"""A run that saves does so before the last of them, which is the one that a run trains that loads."""

_PAUSE = 0.05
_TO_TELL_THE_NODES = 10.0


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

    def by(questions: Sequence[RunRequest], ranks: int, tell: Tell) -> Answers:
        with contained(python, keep=keep, memory=memory, devices=device.is_gpu, cluster=launcher == "srun") as launch:
            return ask(launch, questions, ranks, timeout, device, launcher, tell)

    return by


def torch_line(launch: Contained, ranks: int) -> list[str]:
    """Return the command by which torch's own launcher starts the ranks."""
    return launch.command(
        "torch.distributed.run",
        *(*AGENT, "--local-addr", "127.0.0.1", "--nproc-per-node", str(ranks)),
        *("--log-dir", str(launch.directory / "ranks"), "--redirects", "3"),
        *(str(WORKER / "start.py"), "rank", str(launch.directory / "job.json"), str(launch.directory / "answers")),
    )


def job(
    questions: Sequence[RunRequest], ranks: int, timeout: float, device: Device, checkpoints: str, **more: Any
) -> dict[str, Any]:
    """Make the job for the ranks: `checkpoints` is the folder for their saves, `timeout` is for each question."""
    return {
        "device": device.kind,
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


def ask(
    launch: Contained,
    questions: Sequence[RunRequest],
    ranks: int,
    timeout: float,
    device: Device,
    launcher: Launcher,
    tell: Tell,
) -> Answers:
    """Ask questions in a launch, and return the answers."""
    document = job(questions, ranks, timeout, device, str(launch.directory / "tmp"))
    files.put(str(launch.directory / "job.json"), json.dumps(document, indent=1).encode())
    seconds = limit(questions, timeout, device)
    if launcher == "srun":
        line = srun_line(launch.command("elsewhere", str(launch.directory)), ranks, device, seconds)
    else:
        line = torch_line(launch, ranks)
    process = launch.start(line, output="launcher.log")
    try:
        why = _wait(process, launch.directory / "answers", questions, (timeout, seconds), ranks, tell)
    finally:
        _stop(process, gently=launcher == "srun")
    if not why and launcher == "srun":
        why = _last_words(launch.directory / "launcher.log")
    return read(launch.directory / "answers", [question.name for question in questions], ranks, why)


def read(answers: Path, names: Sequence[str], ranks: int, why: str = "") -> Answers:
    """Read the answers of the ranks. `why` is the reason given for a question that none has answered."""
    starts = [_read(answers, "start", rank) for rank in range(ranks)]
    broken = next((failure for start in starts if start and (failure := failure_from(start["error"]))), None)
    outcomes = {}
    for name in names:
        given = [_read(answers, name, rank) for rank in range(ranks)]
        if broken or not any(given):
            text = why or "the launch ended without an answer"
            outcomes[name] = RunOutcome("import", broken or Failure("Ended", text))
        else:
            outcomes[name] = together(given)
    stood_in = tuple(next((start["stood_in"] for start in starts if start), ()))
    return outcomes, stood_in


def _wait(
    process: subprocess.Popen[bytes],
    answers: Path,
    questions: Sequence[RunRequest],
    limits: tuple[float, float],
    ranks: int,
    tell: Tell,
) -> str:
    """Wait for the launcher's end; return why it had to be stopped, "" where it had not.

    `limits` are the seconds that imports may take, and everything.
    """
    started = time.monotonic()
    imports, everything = limits
    waiting = [question.name for question in questions]
    while process.poll() is None:
        passed = time.monotonic() - started
        if passed > imports and not any((answers / f"start.{rank}.json").exists() for rank in range(ranks)):
            return f"importing torch and Megatron took more than {imports:g} s"
        if passed > everything:
            return f"stopped after {everything:g} s"
        while waiting and all((answers / f"{waiting[0]}.{rank}.json").exists() for rank in range(ranks)):
            tell(waiting.pop(0))
        time.sleep(_PAUSE)
    return ""


def _stop(process: subprocess.Popen[bytes], *, gently: bool) -> None:
    """End the launcher: `gently` for srun, which has to tell the nodes; processes of torch's own launcher end with it
    anyway.
    """
    if process.poll() is None and gently:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TO_TELL_THE_NODES)
    if process.poll() is None:
        process.kill()
        process.wait()


def _last_words(log: Path) -> str:
    """Return the last line of a launcher's log: Slurm explains there why it starts nothing."""
    lines = files.read(log).decode("utf-8", "replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"the launch ended without an answer: {said}" if said else ""


def _read(answers: Path, name: str, rank: int) -> Mapping[str, Any] | None:
    try:
        found: Mapping[str, Any] = json.loads(files.read(answers / f"{name}.{rank}.json"))
    except (OSError, ValueError):
        return None
    return found


Launcher = Literal["torchrun", "srun"]

AGENT = ("--standalone", "--max-restarts", "0")
"""Options of torch's launcher: alone on its machine, and giving up where a rank fails."""


def srun_line(command: Sequence[str], ranks: int, device: Device, seconds: float) -> list[str]:
    """Return Slurm's command: it starts every rank itself, as a task; all on one node. After `seconds` it ends them."""
    return [
        "srun",
        "--nodes=1",
        f"--ntasks={ranks}",
        *([f"--gpus-per-node={ranks}"] if device.is_gpu else []),
        f"--time={math.ceil(seconds / 60)}",
        "--kill-on-bad-exit=1",
        *command,
    ]


def torchrun_line(command: Sequence[str], ranks: int) -> list[str]:
    """Return the command of torch's own launcher, where it is on the PATH."""
    return ["torchrun", *AGENT, "--nproc-per-node", str(ranks), *command]


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
    _wanted: dict[tuple[int, str], RunRequest] = field(default_factory=dict)
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

        The loaded checkpoint may be the base of its adapters. The run reports whether the `watched` settings were
        read.
        """
        same = json.dumps([sorted(settings.items()), ranks, save, load, is_base, sorted(watched)], default=str)
        if same not in self._keys:
            name = f"run-{len(self._keys) + 1}"
            key = self._keys[same] = (ranks, name)
            self._wanted[key] = RunRequest(
                name,
                settings,
                base_of(self.device),
                name if save else None,
                load[1] if load else None,
                is_base,
                tuple(watched),
            )
        return self._keys[same]

    def __len__(self) -> int:
        return len(self._wanted)

    def run(self, tell: Callable[[str], None]) -> None:
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
    """Split questions into chunks of limited size; a load stays with the save that it needs, whatever else was asked
    for between them.
    """
    together: dict[str, list[RunRequest]] = {}
    for question in questions:
        together.setdefault(question.load or question.name, []).append(question)
    chunks: list[list[RunRequest]] = [[]]
    for group in together.values():
        if len(chunks[-1]) + len(group) > _MOST_IN_A_LAUNCH:
            chunks.append([])
        chunks[-1] += group
    return [chunk for chunk in chunks if chunk]
