"""One rank: imports everything once, then answers each question of a job in a process forked for it.

Every question so begins in a process that has never wrapped a model or opened a group, and costs no imports. Whatever a
question leaves behind (helpers of a save, a hanging collective) ends with its process group.
"""

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from . import contained, stubs
from .failure import failure

_GRACE = 5.0
"""How many seconds a rank has to end by itself once another one has failed."""

_PAUSE = 0.02


def main(arguments: Sequence[str]) -> None:
    """`arguments`: the file with the job, and the folder for the answers."""
    with open(arguments[0], encoding="utf-8") as stream:
        job = json.load(stream)
    answers, rank = arguments[1], int(os.environ["RANK"])
    os.environ["MFSDP_LINT_DRY_RUN_PARENT"] = str(os.getpid())  # of the processes forked here
    try:
        stood_in = _prepare(job["device"])
    except Exception as error:
        traceback.print_exc()
        _write(answers, "start", rank, {"stage": "import", "error": failure(error), "stood_in": []})
        return
    _write(answers, "start", rank, {"stage": "import", "error": None, "stood_in": list(stood_in)})
    for number, question in enumerate(job["questions"]):
        _ask(question, rank, answers, f"{arguments[1]}/store.{number}")


def _prepare(device: str) -> tuple[str, ...]:
    import torch

    torch.set_num_threads(1)
    if device == "cpu":
        from . import shim

        shim.install()
    stood_in = stubs.import_upstream()
    from . import training

    training.import_bridge()
    return stood_in


def _ask(question: Mapping[str, Any], rank: int, answers: str, store: str) -> None:
    name = question["id"]
    print(f"== {name}", flush=True)
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _be(question, rank, answers, store)
    started = time.monotonic()
    failed_elsewhere = None
    why = ""
    status = 0
    while not why:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        now = time.monotonic()
        if now - started > question["timeout"]:
            why = f"stopped after {question['timeout']:g} s"
        if failed_elsewhere is None and _another_failed(answers, name, rank):
            failed_elsewhere = now
        if failed_elsewhere is not None and now - failed_elsewhere > _GRACE:
            why = "stopped, for another rank had failed"
        time.sleep(_PAUSE)
    _end(child, reap=bool(why))
    if not os.path.exists(_path(answers, name, rank)):
        stage = _read_stage(answers, name, rank)
        code = os.waitstatus_to_exitcode(status)
        died = {"type": "Ended", "text": why or f"the process ended with {code}, without an answer", "where": []}
        _write(answers, name, rank, {"stage": stage, "error": died})


def _be(question: Mapping[str, Any], rank: int, answers: str, store: str) -> None:
    """The forked process. It never returns."""
    os.setpgid(0, 0)
    contained.die_with_parent()
    name = question["id"]
    started = time.monotonic()
    answer: dict[str, Any] = {"stage": "start", "error": None}

    def at(stage: str) -> None:
        answer["stage"] = stage
        with open(f"{_path(answers, name, rank)}.stage", "w", encoding="utf-8") as stream:
            stream.write(stage)

    code = 1
    from . import training

    try:
        training.run(question, rank, store, answer, at)
        code = 0
    except BaseException as error:
        traceback.print_exc()
        answer["error"] = failure(error)
    answer["seconds"] = round(time.monotonic() - started, 3)
    try:
        _write(answers, name, rank, answer)
        if code == 0:
            # Who leaves first would break the connections of those that are still at work.
            training.wait_for_all()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _end(child: int, *, reap: bool) -> None:
    """Ends the process group of a question, which outlives its leader where a save left helpers behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if reap:
        os.waitpid(child, 0)


def _another_failed(answers: str, name: str, rank: int) -> bool:
    for other in range(int(os.environ["WORLD_SIZE"])):
        path = _path(answers, name, other)
        if other != rank and os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                if json.load(stream)["error"] is not None:
                    return True
    return False


def _path(answers: str, name: str, rank: int) -> str:
    return f"{answers}/{name}.{rank}.json"


def _read_stage(answers: str, name: str, rank: int) -> str:
    try:
        with open(f"{_path(answers, name, rank)}.stage", encoding="utf-8") as stream:
            return stream.read()
    except OSError:
        return "start"


def _write(answers: str, name: str, rank: int, answer: Mapping[str, Any]) -> None:
    """At once and whole: others look for it while it is made."""
    path = _path(answers, name, rank)
    with open(f"{path}.part", "w", encoding="utf-8") as stream:
        json.dump(answer, stream, default=str)
    os.replace(f"{path}.part", path)
