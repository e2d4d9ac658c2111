"""Process of one rank: it imports everything once, then answers each question of a job in a process forked for it.

Every question so begins in a process that has never wrapped a model or opened a group, and costs no imports; the first
rank of a machine forks for its other ranks too, so that imports are paid for once. A process that has used a GPU cannot
fork: there each question of each rank has a process that begins anew. Whatever a question leaves behind
(helpers of a save, a hanging collective) ends with its process group.
"""

import contextlib
import faulthandler
import gc
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from . import stand_ins, start
from .build import apply_variables, failure

_GRACE = 5.0
"""How many seconds a rank has to end by itself once another one has failed."""


def main(arguments: Sequence[str]) -> None:
    """Run one rank. `arguments`: the job's file, the answers' folder, and, for a question's own process, its number."""
    with open(arguments[0], encoding="utf-8") as stream:
        job = json.load(stream)
    answers, rank = arguments[1], int(os.environ["RANK"])
    if len(arguments) > 2:
        if ready(job, answers, rank):
            be(job["questions"][int(arguments[2])], rank, answers, int(arguments[2]))
        return
    os.environ[start.PARENT] = str(os.getpid())  # of the processes started here
    forks = job["forks"]
    first = rank - int(os.environ["LOCAL_RANK"])
    ranks = range(first, first + int(os.environ["LOCAL_WORLD_SIZE"])) if forks else range(rank, rank + 1)
    if rank != ranks[0] or (forks and not ready(job, answers, *ranks)):
        return
    for number, question in enumerate(job["questions"]):
        print(f"== {question['id']}", flush=True)
        sys.stderr.flush()
        limit = question["timeout"] + (0 if forks else job["imports"])
        if forks:
            children = [_forked(question, each, each - first, answers, number) for each in ranks]
        else:  # it imports everything anew, with the environment variables of its settings
            environment = dict(os.environ)
            apply_variables(question["settings"], environment)
            program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
            command = [sys.executable, program, "rank", *arguments, str(number)]
            children = [os.posix_spawn(sys.executable, command, environment, setpgroup=0)]
        waits = [
            threading.Thread(target=_await, args=(child, question, each, answers, limit))
            for child, each in zip(children, ranks, strict=True)
        ]
        for wait in waits:
            wait.start()
        for wait in waits:  # none is alive at the next fork
            wait.join()


def _forked(question: Mapping[str, Any], rank: int, local: int, answers: str, number: int) -> int:
    """Fork the process of a rank for a question; return its number."""
    child = os.fork()
    if child == 0:
        if local:
            os.environ |= {"RANK": str(rank), "ROLE_RANK": str(rank), "LOCAL_RANK": str(local)}
            with contextlib.suppress(OSError):  # what it prints goes where torch's launcher has what that rank prints
                logs = os.path.dirname(os.path.dirname(os.readlink("/proc/self/fd/1")))
                for descriptor, name in ((1, "stdout.log"), (2, "stderr.log")):
                    os.dup2(os.open(os.path.join(logs, str(local), name), os.O_WRONLY | os.O_APPEND), descriptor)
        be(question, rank, answers, number)
    return child


def ready(job: Mapping[str, Any], answers: str, *ranks: int) -> bool:
    """Import everything for these ranks, and write down how that went."""
    answer: dict[str, Any] = {"stage": "import", "error": None, "stood_in": []}
    gc.disable()  # nearly all that importing makes stays
    try:
        import torch

        torch.set_num_threads(1)
        stand_ins.single_threaded_groups(torch)
        if job["device"] == "cpu":
            stand_ins.replace_cuda()
        else:
            if 0 < job["gpus"] < job["ranks"]:
                # NCCL refuses two ranks of one host on one GPU: each is on a host of its own, reached by a socket.
                os.environ["NCCL_HOSTID"] = f"rank-{ranks[0]}"
            # A cluster may show each of its tasks one GPU alone.
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        stood_in = stand_ins.import_upstream()
        from . import training

        training.import_bridge()
        answer["stood_in"] = list(stood_in)
    except Exception as error:
        traceback.print_exc()
        answer["error"] = failure(error)
    gc.freeze()  # else each question would look through it for garbage, and so copy it
    gc.enable()
    for rank in ranks:
        _write(answers, "start", rank, answer)
    return answer["error"] is None


def _await(child: int, question: Mapping[str, Any], rank: int, answers: str, limit: float) -> None:
    name = question["id"]
    started = time.monotonic()
    failed_elsewhere = None
    why = ""
    status = 0
    while not why:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        now = time.monotonic()
        if now - started > limit:
            why = f"stopped after {limit:g} s"
        if failed_elsewhere is None and _another_failed(answers, name, rank):
            failed_elsewhere = now
        if failed_elsewhere is not None and now - failed_elsewhere > _GRACE:
            why = "stopped, for another rank had failed"
        time.sleep(0.02)
    # The process group outlives its leader where a save left helpers behind.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if why:
        os.waitpid(child, 0)
    if not os.path.exists(_path(answers, name, rank)):
        stage = "start"
        with contextlib.suppress(OSError), open(f"{_path(answers, name, rank)}.stage", encoding="utf-8") as stream:
            stage = stream.read()
        code = os.waitstatus_to_exitcode(status)
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        died = {"type": "Ended", "text": why or f"the process of rank {rank} {how}, without an answer", "where": []}
        _write(answers, name, rank, {"stage": stage, "error": died})


def be(question: Mapping[str, Any], rank: int, answers: str, number: int) -> NoReturn:
    """Run the process for one question. It never returns."""
    os.setpgid(0, 0)
    faulthandler.enable()
    start.die_with_parent()
    start.shorten_sockets()
    name = question["id"]
    started = time.monotonic()
    answer: dict[str, Any] = {"stage": "start", "error": None}

    def at(stage: str) -> None:
        answer["stage"] = stage
        with open(f"{_path(answers, name, rank)}.stage", "w", encoding="utf-8") as stream:
            stream.write(stage)

    code = 1
    import torch

    from . import training

    try:
        training.run(question, rank, f"{answers}/store.{number}", answer, at)
        code = 0
    except BaseException as error:
        traceback.print_exc()
        answer["error"] = failure(error)
    answer["seconds"] = round(time.monotonic() - started, 3)
    try:
        _write(answers, name, rank, answer)
        if code == 0:
            # Who leaves first would break the connections of those that are still at work.
            with contextlib.suppress(Exception):  # where one is gone
                torch.distributed.barrier()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


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


def _write(answers: str, name: str, rank: int, answer: Mapping[str, Any]) -> None:
    """Write an answer at once and whole: others look for it while it is made."""
    path = _path(answers, name, rank)
    with open(f"{path}.part", "w", encoding="utf-8") as stream:
        json.dump(answer, stream, default=str)
    os.replace(f"{path}.part", path)
