"""Launches written as jobs for other machines: a folder each that has all that it takes, and the answers that come back
in it. The answers that a folder holds are used again (`--resume`).
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.dryrun.containment import MEMORY_LIMIT, NODES, WORKER, settings_for
from mfsdp_lint.dryrun.inventory import BRIDGE, PACKAGES, Device, Installed
from mfsdp_lint.dryrun.outcome import ENDED, Failure, RunOutcome
from mfsdp_lint.dryrun.ranks import AGENT, ALONE, JOB, Answers, By, RunRequest, Tell, job, read, with_loads
from mfsdp_lint.inputs.options import UsageError

_CHECKPOINTS, _LOGS = "checkpoints", "ranks"


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Options of jobs, as sbatch and pyxis know them. `minutes` is the time limit, None for what the runs may take.

    `max_jobs` limits the jobs that are submitted; `setup` are lines of shell before each. `memory` is the most bytes of
    data of a rank, 0 for no limit. The ranks of a job are spread evenly over `nodes`, unless it saves and the nodes do
    not share the folder.
    """

    partition: str | None = None
    account: str | None = None
    minutes: int | None = None
    gpus: int | None = None
    image: str | None = None
    mounts: str | None = None
    max_jobs: int | None = None
    setup: tuple[str, ...] = ()
    memory: int = 0
    nodes: int = 1
    share_folder: bool = True


@dataclass(frozen=True, slots=True)
class LaunchJob:
    """A folder with the questions of one launch, what it runs on, and the seconds after which it ends itself.

    `memory` is the most bytes of data of a rank, 0 for no limit. The ranks are spread evenly over `nodes`.
    """

    directory: Path
    questions: tuple[RunRequest, ...]
    device: Device
    seconds: float
    memory: int = 0
    nodes: int = 1

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self.questions[0].ranks

    @property
    def recipes(self) -> tuple[str, ...]:
        """The recipes that the runs are for, each once."""
        return tuple(dict.fromkeys(question.recipe for question in self.questions))

    @property
    def label(self) -> str:
        """`recipe.py::llama and 2 more`."""
        first, *more = self.recipes
        return f"{first} and {len(more)} more" if more else first

    @property
    def ranks_per_node(self) -> int:
        """The number of ranks on each node."""
        return self.ranks // self.nodes

    @property
    def gpus_per_node(self) -> int:
        """The number of GPUs on each node, by default one for each rank."""
        return math.ceil((self.device.gpus or self.ranks) / self.nodes) if self.device.is_gpu else 0

    def command(self, python: str, node: str = "0", host: str = "HOST", port: str = "29500") -> list[str]:
        """Return the command that starts the ranks of a node there; `host` is the first node, `port` is free there."""
        start = str(self.directory / "worker" / "start.py")
        several = ("--nnodes", str(self.nodes), "--node-rank", node, "--master-addr", host, "--master-port", port)
        options = (*(ALONE if self.nodes == 1 else several), *AGENT, "--nproc-per-node", str(self.ranks_per_node))
        environment = [f"{MEMORY_LIMIT}={self.memory}"] if self.memory else []
        environment += [f"{NODES}={self.nodes}"] if self.nodes > 1 else []
        begin = ["env", *environment] if environment else []
        launcher = [*begin, python, start, "torch.distributed.run", *options, "--log-dir", str(self.directory / _LOGS)]
        return [*launcher, start, "elsewhere", str(self.directory)]

    def shell(self, python: str, *of_node: str) -> str:
        """Return the command for a shell, which knows the node, the host and the port by these expressions."""
        words = (word if word in of_node else shlex.quote(word) for word in self.command(python, *of_node))
        return f"exec {' '.join(words)}"

    @property
    def answered(self) -> bool:
        """Tell whether every rank has answered every question."""
        answers = self.directory / "answers"
        names = [f"{question.name}.{rank}.json" for question in self.questions for rank in range(self.ranks)]
        return all((answers / name).exists() for name in names)

    def collect(self, installed: Installed, why: str) -> Answers:
        """Read the answers; `why` is the reason given for a question without one, or that was cut off."""
        names = [question.name for question in self.questions]
        if other := _other_versions(self.directory, installed):
            return dict.fromkeys(names, nothing(other)), ()
        outcomes, stood_in = read(self.directory / "answers", names, self.ranks, why)
        cut_off = {name for name, each in outcomes.items() if why and each.failure and each.failure.type == ENDED}
        return outcomes | dict.fromkeys(cut_off, nothing(why)), stood_in


def empty(into: str) -> Path:
    """Return a folder that has nothing in it yet. Raises UsageError where it is not empty, or cannot be made."""
    directory = Path(os.path.abspath(into))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise UsageError(
                f"--keep {into}: there is something in it; name a folder that is empty, or go on there with --resume"
            )
    except OSError as error:
        raise UsageError(f"--keep {into}: {error.strerror or error}") from None
    return directory


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep others from the folder meanwhile. Raises UsageError where it is somebody else's, or in use."""
    with ExitStack() as stack:
        try:
            lock = stack.enter_context(files.written(folder / "lock", "a"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"--keep {folder}: another dry run is at work in it") from None
        except PermissionError:
            raise UsageError(f"--keep {folder}: it belongs to another user; name a folder of your own") from None
        except OSError:  # a file system without locks
            pass
        yield


def divided(questions: Sequence[RunRequest], most: int | None) -> list[list[RunRequest]]:
    """Divide questions among jobs: one for each recipe, or `most` that share the recipes evenly.

    The ranks of a job are as many for each of its questions, so there is at least one job for each number of ranks.
    """
    by_ranks: dict[int, dict[str, list[RunRequest]]] = {}
    for group in with_loads(questions):
        by_ranks.setdefault(group[0].ranks, {}).setdefault(group[0].recipe, []).extend(group)
    total = sum(map(len, by_ranks.values()))
    jobs = []
    for recipes in by_ranks.values():
        groups = list(recipes.values())
        count = len(groups) if most is None else max(1, min(len(groups), most * len(groups) // total))
        jobs += [[question for group in groups[number::count] for question in group] for number in range(count)]
    return jobs


def write(
    into: Path,
    questions: Sequence[RunRequest],
    options: JobOptions,
    timeout: float,
    device: Device,
    installed: Installed,
) -> list[LaunchJob]:
    """Write a job for each launch, beside those that are there. Raises UsageError."""
    number, written = 0, []
    try:
        for launch in divided(questions, options.max_jobs):
            while (directory := into / f"job-{(number := number + 1)}").exists():
                pass
            (directory / "answers").mkdir(parents=True)
            shutil.copytree(WORKER, directory / "worker", ignore=shutil.ignore_patterns("__pycache__"))
            spread = options.share_folder or not any(question.save or question.load for question in launch)
            nodes = math.gcd(launch[0].ranks, options.nodes) if spread else 1
            environment = settings_for(device.is_gpu, nodes)
            more = {"environment": environment, "packages": PACKAGES, "versions": versions_of(installed)}
            document = job(launch, timeout, device, _CHECKPOINTS, **more)
            files.put(str(directory / JOB), json.dumps(document, indent=1).encode())
            written.append(LaunchJob(directory, tuple(launch), device, document["limit"], options.memory, nodes))
    except OSError as error:
        raise UsageError(f"{error.filename or into}: {error.strerror or error}") from None
    return written


def resuming(by: By, folder: Path, device: Device, installed: Installed) -> By:
    """Use the answers that the folder holds, and have the others made by `by`.

    A run that gave no conclusive answer is made again, and so is a save whose load is.
    """

    def the_rest(questions: Sequence[RunRequest], tell: Tell) -> Answers:
        found, stood_in = collected([(each, "") for each in below(folder, questions, device, installed)], installed)
        known = {name: outcome for name, outcome in found.items() if outcome.conclusive}
        again = {each.load for each in questions if each.load and each.name not in known}
        rest = [each for each in questions if each.name not in known or each.name in again]
        tell(f"{len(questions) - len(rest)} of {len(questions)} runs of the small model have ended before")
        if not rest:
            return known, stood_in
        outcomes, missing = by(rest, tell)
        return {**known, **outcomes}, missing or stood_in

    return the_rest


def collected(ended: Iterable[tuple[LaunchJob, str]], installed: Installed) -> Answers:
    """Return the answers of launches, each given with the reason why it may have none."""
    outcomes: dict[str, RunOutcome] = {}
    stood_in: tuple[str, ...] = ()
    for launch, why in ended:
        found, missing = launch.collect(installed, why)
        outcomes |= found
        stood_in = stood_in or missing
    return outcomes, stood_in


def left_by_others(
    folder: Path, number: str, questions: Sequence[RunRequest], device: Device, installed: Installed
) -> Iterator[tuple[LaunchJob, str]]:
    """Find the launches of an interrupted run, each with the job that its file `number` names."""
    for launch in below(folder, questions, device, installed):
        try:
            named = files.read(launch.directory / number).decode()
        except OSError:
            continue
        yield launch, named


def below(folder: Path, questions: Sequence[RunRequest], device: Device, installed: Installed) -> list[LaunchJob]:
    """Find the launches in a folder that were asked any of the questions, with these. Raises UsageError."""
    asked = {question.name: question for question in questions}
    found = []
    for path in sorted(folder.glob(f"*/{JOB}")):
        try:
            document: Mapping[str, Any] = json.loads(files.read(path))
            theirs = tuple(asked[each["id"]] for each in document["questions"] if each["id"] in asked)
            if theirs and document.get("versions") == versions_of(installed):
                found.append(LaunchJob(path.parent, theirs, device, document["limit"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}: {error}") from None
    return found


def versions_of(installed: Installed) -> dict[str, str | None]:
    """Return the versions that start-up validation was asked with."""
    return {name: installed.packages.get(name) for name in (BRIDGE, "megatron-core")}


def _other_versions(directory: Path, installed: Installed) -> str:
    """Explain why the answers of that folder do not apply here; "" where they do."""
    try:
        there = json.loads(files.read(directory / "answers" / "inventory.json"))["versions"]
    except (OSError, ValueError):
        return ""  # nobody has run it, or a launch here that has the versions of this machine
    for name, here in versions_of(installed).items():
        if there.get(name) != here:
            return f"it was run with {name} {there.get(name)}, and validated here with {here}"
    return ""


def nothing(why: str) -> RunOutcome:
    """Return the outcome of a run that was not made."""
    return RunOutcome("start", Failure(ENDED, why))
