"""The tiers that train: ranks started by torch's launcher, which answer a list of questions one after the other.

Many runs share few launches: each run is asked for once, and all that need as many ranks are in one launch.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.version import __version__
from mfsdp_lint.dryrun.containment import MEMORY, WORKER, contained
from mfsdp_lint.dryrun.inventory import CPU, Device
from mfsdp_lint.dryrun.outcome import ENDED, Failure, PlainSettings, RunOutcome, failure_from, together
from mfsdp_lint.dryrun.proxy import base_of

STEPS = 4
"""A run that saves does so before the last of them, which is the one that a run trains that loads."""

JOB = "job.json"
"""The file of a launch's directory that holds its questions; the answers are beside it, in the folder `answers`."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run: the settings to train with, the base of a proxy model below them, and whether to save or load.

    The name is made of all that decides the run's outcome but the installed versions. `recipe` is the first recipe that
    wants it. `save` and `load` name a checkpoint of this launch; a load begins in a process that has not trained the
    checkpoint that it loads, which may be the base of its adapters. The run reports whether the `watched` settings were
    read.
    """

    name: str
    settings: PlainSettings
    base: PlainSettings
    ranks: int = 2
    recipe: str = ""
    save: str | None = None
    load: str | None = None
    is_base: bool = False
    watched: tuple[str, ...] = ()


Tell = Callable[[str], None]
"""Hears how far the runs have come."""

Answers = tuple[dict[str, RunOutcome], tuple[str, ...]]
"""The outcome of every question by its name, and the packages that are stood in for."""

By = Callable[[Sequence[RunRequest], Tell], Answers]
"""Has questions answered. Raises UsageError where no directory can be made."""

AGENT = ("--max-restarts", "0")
"""An option of torch's launcher: it gives up where a rank fails."""

ALONE = ("--standalone", "--local-addr", "127.0.0.1")
"""Options of torch's launcher on one machine."""


def launched(
    python: str,
    *,
    timeout: float,
    keep: str | None = None,
    memory: int = MEMORY,
    device: Device = CPU,
    versions: Mapping[str, str | None] | None = None,
) -> By:
    """Answer questions by launches on this machine. `timeout` is for each question.

    `versions` are those of the packages here, for whoever reads the kept answers.
    """

    def launch(questions: Sequence[RunRequest], ended: Callable[[], None]) -> Answers:
        ranks = questions[0].ranks
        with contained(python, keep=keep, memory=memory, devices=device.is_gpu) as launch:
            document = job(questions, timeout, device, str(launch.directory / "tmp"), versions=versions)
            files.put(str(launch.directory / JOB), json.dumps(document, indent=1).encode())
            line = launch.command(
                *("torch.distributed.run", *ALONE, *AGENT, "--nproc-per-node", str(ranks)),
                *("--log-dir", str(launch.directory / "ranks"), "--redirects", "3"),
                *(str(WORKER / "start.py"), "rank", *(str(launch.directory / name) for name in (JOB, "answers"))),
            )
            process = launch.start(line, output="launcher.log")
            try:
                why = _wait(process, launch.directory / "answers", document, ended)
            finally:
                if process.poll() is None:  # processes of torch's own launcher end with it anyway
                    process.kill()
                    process.wait()
            return read(launch.directory / "answers", [question.name for question in questions], ranks, why)

    def by(questions: Sequence[RunRequest], tell: Tell) -> Answers:
        outcomes: dict[str, RunOutcome] = {}
        stood_in: tuple[str, ...] = ()
        number = 0

        def ended() -> None:
            nonlocal number
            number += 1
            tell(f"{number} of {len(questions)} runs of the small model have ended")

        for chunk in in_chunks(questions):
            found, missing = launch(chunk, ended)
            outcomes |= found
            stood_in = stood_in or missing
        return outcomes, stood_in

    return by


def job(
    questions: Sequence[RunRequest], timeout: float, device: Device, checkpoints: str, **more: Any
) -> dict[str, Any]:
    """Make the job for the ranks: `checkpoints` is the folder for their saves, `timeout` is for each question."""
    return {
        "device": device.kind,
        "gpus": device.gpus,
        "forks": not device.is_gpu,
        "ranks": questions[0].ranks,
        "limit": limit(questions, timeout, device),
        "imports": timeout,
        **more,
        "questions": [
            {
                "id": question.name,
                "settings": dict(question.settings),
                "base": dict(question.base),
                "world_size": question.ranks,
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
    nothing = RunOutcome(
        "import", broken or Failure(ENDED, why or "the ranks ended without an answer; --keep keeps their logs")
    )
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


def _wait(
    process: subprocess.Popen[bytes], answers: Path, document: Mapping[str, Any], ended: Callable[[], None]
) -> str:
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
            waiting.pop(0)
            ended()
        time.sleep(0.05)
    return ""


Key = str
"""A run, by its name."""

_MOST_IN_A_LAUNCH = 100


@dataclass(slots=True)
class Batch:
    """Runs that are wanted, and after `run` what came of them.

    `by` does them, on `device`; `most` is how many ranks there can be, None for any number. `recipe` is the one that
    runs are asked for at the moment.
    """

    by: By
    device: Device = CPU
    most: int | None = None
    stood_in: tuple[str, ...] = ()
    recipe: str = ""
    _wanted: dict[Key, RunRequest] = field(default_factory=dict)
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
        base = base_of(self.device)
        asked = [sorted(settings.items()), ranks, save, load, is_base, sorted(watched)]
        same = json.dumps([__version__, STEPS, self.device.kind, sorted(base.items()), *asked], default=str)
        name = f"run-{hashlib.sha256(same.encode()).hexdigest()[:12]}"
        saved = name if save else None
        if name not in self._wanted:
            self._wanted[name] = RunRequest(
                name, settings, base, ranks, self.recipe, saved, load, is_base, tuple(watched)
            )
        return name

    def __len__(self) -> int:
        return len(self._wanted)

    def run(self, tell: Tell) -> None:
        """Run everything that is wanted. Raises UsageError where no directory can be made."""
        self._outcomes, self.stood_in = self.by(list(self._wanted.values()), tell)
        self._wanted.clear()

    def outcome(self, key: Key) -> RunOutcome:
        """Return the outcome of a run."""
        return self._outcomes[key]


def with_loads(questions: Sequence[RunRequest]) -> list[list[RunRequest]]:
    """Group the questions that one launch has to answer: a load stays with the save that it needs."""
    together: dict[str, list[RunRequest]] = {}
    for question in questions:
        together.setdefault(question.load or question.name, []).append(question)
    return list(together.values())


def in_chunks(questions: Sequence[RunRequest]) -> list[list[RunRequest]]:
    """Split questions into launches of limited size, each for one number of ranks."""
    chunks: list[list[RunRequest]] = []
    for group in sorted(with_loads(questions), key=lambda group: group[0].ranks):
        full = not chunks or len(chunks[-1]) + len(group) > _MOST_IN_A_LAUNCH
        if full or chunks[-1][0].ranks != group[0].ranks:
            chunks.append([])
        chunks[-1] += group
    return chunks
