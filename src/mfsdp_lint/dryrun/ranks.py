"""The tiers that train: ranks started by torch's own launcher, which answer a list of questions one after the other."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfsdp_lint.dryrun.containment import WORKER, Contained
from mfsdp_lint.dryrun.outcome import Failure, Outcome, Settings, failure_from, together

STEPS = 3

_PAUSE = 0.05
IMPORTS = 180.0
"""How many seconds all imports may take, on top of what the questions take."""


@dataclass(frozen=True, slots=True)
class Question:
    """One run: what to train with, what of a proxy model lies below that, and whether to save or load.

    `save` and `load` name a checkpoint of this launch; a load begins in a process that has not trained what it loads.
    """

    name: str
    settings: Settings
    base: Settings
    save: str | None = None
    load: str | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """What it runs on: `backend` is that of torch.distributed."""

    kind: str
    backend: str


CPU = Device("cpu", "gloo")


def launch_line(launch: Contained, ranks: int) -> list[str]:
    """The command that starts the ranks."""
    return launch.command(
        "agent",
        *("--standalone", "--local-addr", "127.0.0.1", "--max-restarts", "0", "--nproc-per-node", str(ranks)),
        *("--log-dir", str(launch.directory / "ranks"), "--redirects", "3"),
        *(str(WORKER / "start.py"), "rank", str(launch.directory / "job.json"), str(launch.directory / "answers")),
    )


def ask(
    launch: Contained,
    questions: Sequence[Question],
    *,
    ranks: int,
    timeout: float,
    device: Device = CPU,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Outcome], tuple[str, ...]]:
    """The outcome of every question by its name, and the packages that are stood in for.

    `timeout` is for each question; `tell` hears of each that was answered.
    """
    job = {
        "device": device.kind,
        "questions": [_document(question, launch, ranks, timeout, device) for question in questions],
    }
    (launch.directory / "job.json").write_text(json.dumps(job, indent=1), encoding="utf-8")
    process = launch.start(launch_line(launch, ranks), output="launcher.log")
    why = _wait(process, launch.directory / "answers", questions, IMPORTS + timeout * len(questions), ranks, tell)
    starts = [_read(launch.directory / "answers", "start", rank) for rank in range(ranks)]
    broken = next((failure for start in starts if start and (failure := failure_from(start["error"]))), None)
    outcomes = {}
    for question in questions:
        answers = [_read(launch.directory / "answers", question.name, rank) for rank in range(ranks)]
        if broken or not any(answers):
            text = why or "the launch ended without an answer"
            outcomes[question.name] = Outcome("import", broken or Failure("Ended", text))
        else:
            outcomes[question.name] = together(answers)
    stood_in = tuple(next((start["stood_in"] for start in starts if start), ()))
    return outcomes, stood_in


def _document(question: Question, launch: Contained, ranks: int, timeout: float, device: Device) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": question.name,
        "settings": dict(question.settings),
        "base": dict(question.base),
        "world_size": ranks,
        "timeout": timeout,
        "backend": device.backend,
        "steps": 1 if question.load else STEPS,
    }
    for name in ("save", "load"):
        checkpoint = getattr(question, name)
        if checkpoint:
            document[name] = str(launch.directory / "tmp" / checkpoint)
    return document


def _wait(
    process: subprocess.Popen[bytes],
    answers: Path,
    questions: Sequence[Question],
    timeout: float,
    ranks: int,
    tell: Callable[[str], None],
) -> str:
    """Waits for the launcher's end; says why it had to be stopped, "" where it had not."""
    deadline = time.monotonic() + timeout
    waiting = [question.name for question in questions]
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            return f"stopped after {timeout:g} s"
        while waiting and all((answers / f"{waiting[0]}.{rank}.json").exists() for rank in range(ranks)):
            tell(waiting.pop(0))
        time.sleep(_PAUSE)
    return ""


def _read(answers: Path, name: str, rank: int) -> Mapping[str, Any] | None:
    try:
        found: Mapping[str, Any] = json.loads((answers / f"{name}.{rank}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found
