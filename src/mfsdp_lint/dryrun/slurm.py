"""Jobs that submitit submits to Slurm, their progress, and the reason why one gave no answer.

The states of jobs are squeue's: sacct, which submitit asks, needs a database that not every cluster has. This module
needs the extra `slurm`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import math
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import submitit

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.dryrun import jobs
from mfsdp_lint.dryrun.inventory import Device, Installed
from mfsdp_lint.dryrun.jobs import JobOptions, LaunchJob
from mfsdp_lint.dryrun.ranks import Answers, RunRequest, Tell
from mfsdp_lint.inputs.options import UsageError

_LIBRARIES = ("submitit", "cloudpickle", "typing_extensions")
"""The packages that start a job. They are copied, because the Python of torch and Megatron need not have them."""

_RUN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from submitit.core import submission; submission.submitit_main()"
)

_BEFORE_THE_END = 30
"""Seconds before its time limit at which a job gets a signal, and ends with a word."""

_MOST_IN_AN_ARRAY = 1000
"""Slurm's default: MaxArraySize is 1001."""

_OF_A_NODE = ("$SLURM_NODEID", "$SLURM_LAUNCH_NODE_IPADDR", "$((20000+SLURM_JOB_ID%20000))")
"""The number of a task's node, the address of the first node, and a port there that no other job of Slurm takes."""

_NUMBER = "slurm-job"
"""The file of a job's folder that has its number in Slurm."""

_GRACE = 5.0
"""Seconds in which the answers of a job that has ended may still appear on this machine."""

_EVERY = (1.0, 30.0)
"""Seconds between two questions to squeue, in the beginning and after some minutes."""

_GOING_ON = (
    *("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"),
    *("REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"),
)
"""The states of a job that has not ended (`squeue`, JOB STATE CODES)."""

_ENDED_BY = {
    "BOOT_FAIL": "its node did not boot",
    "CANCELLED": "it was cancelled",
    "DEADLINE": "its deadline passed",
    "NODE_FAIL": "its node failed",
    "OUT_OF_MEMORY": "it took more memory than Slurm lets it",
    "PREEMPTED": "another job took its place",
    "TIMEOUT": "it reached its time limit",
}


States = Mapping[str, tuple[str, str]]
"""The state of each job by its number, and the reason why it waits."""


class _Executor(submitit.SlurmExecutor):
    """submitit's executor; it writes a script also where there is no Slurm, and the job brings its libraries along."""

    @classmethod
    def affinity(cls) -> int:
        return 1

    @property
    def _submitit_command_str(self) -> str:
        return shlex.join([self.python, "-u", "-c", _RUN, str(self.folder / "lib"), str(self.folder)])

    def script(self, jobs: int) -> str:
        """Return the script for so many jobs."""
        self.parameters |= {"map_count": jobs} if jobs > 1 else {}
        return self._make_submission_file_text(self._submitit_command_str, "")


@dataclass(slots=True)
class _Sent:
    """A job that was submitted, or that Slurm refused to take; `why` it gave no answer, once it has ended."""

    job: LaunchJob
    slurm: submitit.Job[int] | None
    why: str = ""
    ended: float | None = None

    @property
    def label(self) -> str:
        """`job 12_3 (recipe.py::llama and 2 more)`."""
        return f"{self._name} ({self.job.label})"

    @property
    def reason(self) -> str:
        """The reason for runs without an answer: `job 12_3 ended: it was cancelled`."""
        return f"{self._name} {self.why}" if self.why else ""

    @property
    def _name(self) -> str:
        return f"job {self.slurm.job_id}" if self.slurm else "the job"


@dataclass(frozen=True, slots=True)
class SlurmCluster:
    """Slurm's cluster, for the jobs of one folder that all nodes see. `timeout` is for each question.

    `python` is the one of the jobs, `installed` what validated the recipes here. `note` hears what stays of interest.
    """

    folder: Path
    options: JobOptions
    python: str
    timeout: float
    device: Device
    installed: Installed
    note: Callable[[str], None]

    def answer(self, questions: Sequence[RunRequest], tell: Tell) -> Answers:
        """Have questions answered by jobs. Raises UsageError where none can be submitted.

        Jobs of the folder that an interrupted run left in the queue are waited for. Whatever ends this, but for a kill,
        cancels the jobs that have not ended.
        """
        logging.getLogger("submitit").setLevel(logging.ERROR)
        with jobs.alone(self.folder):
            try:
                sent = list(self._left_in_the_queue(questions))
                theirs = {question.name for each in sent for question in each.job.questions}
                sent += self._submit([question for question in questions if question.name not in theirs])
                self._wait(sent, tell)
            except BaseException:
                self._cancel()
                raise
        return jobs.collected([(each.job, each.reason) for each in sent], self.installed)

    def scripts(self, written: Sequence[LaunchJob]) -> list[str]:
        """Return the scripts that would be submitted for the jobs."""
        return [self._executor(array).script(len(array)) for array in _arrays(written)]

    @property
    def name(self) -> str:
        """The name in the queue that all jobs of this folder have, and no others."""
        return f"mfsdp-dry-run-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:8]}"

    def _executor(self, array: Sequence[LaunchJob]) -> _Executor:
        options, ranks = self.options, array[0].ranks_per_node
        step = [f"--cpus-per-task={ranks}"]  # which srun does not take from sbatch, from Slurm 22.05 on
        if options.image:
            mounts = [*([options.mounts] if options.mounts else []), f"{self.folder}:{self.folder}"]
            step += [f"--container-image={options.image}", f"--container-mounts={','.join(mounts)}"]
        seconds = max(each.seconds for each in array) + 2 * _BEFORE_THE_END
        executor = _Executor(self.folder / "slurm", python=self.python)
        executor.update_parameters(
            job_name=self.name,
            time=options.minutes or math.ceil(seconds / 60),
            nodes=array[0].nodes,
            ntasks_per_node=1,  # torch's launcher, which starts the ranks
            cpus_per_task=ranks,
            signal_delay_s=_BEFORE_THE_END,
            array_parallelism=len(array),
            srun_args=step,
            additional_parameters={"no-requeue": True},  # the reason of an end is told, and --resume goes on
            gpus_per_node=array[0].gpus_per_node or None,
            partition=options.partition,
            account=options.account,
            setup=list(options.setup) or None,
        )
        return executor

    def _submit(self, questions: Sequence[RunRequest]) -> list[_Sent]:
        """Submit jobs for the questions. Those that Slurm refuses have the reason."""
        if not questions:
            return []
        if shutil.which("sbatch") is None:
            raise UsageError(
                "--executor slurm: there is no sbatch on the PATH; --print-job shows what would be submitted"
            )
        _copy_libraries(self.folder / "slurm" / "lib")
        written = jobs.write(self.folder, questions, self.options, self.timeout, self.device, self.installed)
        sent: list[_Sent] = []
        for array in _arrays(written):
            calls = [partial(subprocess.call, ["bash", "-c", each.shell(self.python, *_OF_A_NODE)]) for each in array]
            try:
                submitted = self._executor(array).submit_array(calls)
            except (RuntimeError, OSError) as error:
                sent += [_Sent(each, None, f"was refused: {_said_by_sbatch(error)}") for each in array]
                continue
            for each, slurm in zip(array, submitted, strict=True):
                files.put(str(each.directory / _NUMBER), slurm.job_id.encode())
                sent.append(_Sent(each, slurm))
        taken = [each.slurm.job_id for each in sent if each.slurm]
        if not taken:
            raise UsageError(f"--executor slurm: {sent[0].reason}")
        jobs_taken = f"{len(taken)} jobs, {taken[0]} to {taken[-1]}" if len(taken) > 1 else f"job {taken[0]}"
        self.note(f"submitted to Slurm: {jobs_taken}, in {self.folder}")
        return sent

    def _left_in_the_queue(self, questions: Sequence[RunRequest]) -> Iterator[_Sent]:
        """Find the jobs of an interrupted run that have not ended."""
        states = self._states() or {}
        for job, number in jobs.left_by_others(self.folder, _NUMBER, questions, self.device, self.installed):
            if states.get(number, ("", ""))[0] in _GOING_ON:
                yield _Sent(job, submitit.SlurmJob(self.folder / "slurm", number))

    def _wait(self, sent: Sequence[_Sent], tell: Tell) -> None:
        """Wait for the end of the jobs, and tell it."""
        waiting = [each for each in sent if each.slurm]
        number, asked, states = len(waiting), -math.inf, None
        begun = time.monotonic()
        for each in sent:
            if each.why:
                self.note(f"{each.label} {each.why}")
        while waiting:
            now = time.monotonic()
            if now - asked >= min(max(_EVERY[0], (now - begun) / 10), _EVERY[1]):
                states, asked = self._states(), now
            for each in list(waiting):
                if self._has_ended(each, states, now):
                    waiting.remove(each)
                    self.note(f"{number - len(waiting)} of {number}: {each.label} {each.why or 'has answered'}")
            tell(f"{number - len(waiting)} of {number} jobs have ended{_others(waiting, states)}")
            if waiting:
                time.sleep(_EVERY[0])

    def _has_ended(self, sent: _Sent, states: States | None, now: float) -> bool:
        """Tell whether a job has ended; then write down why it gave no answer, if it gave none."""
        assert sent.slurm is not None
        state = "squeue does not answer" if states is None else states.get(sent.slurm.job_id, ("", ""))[0]
        if state == "PENDING":  # nothing of it can be in the folder
            return False
        if sent.job.answered:
            return True
        if state in _GOING_ON or (states is None and not sent.slurm.paths.result_pickle.exists()):
            return False
        sent.ended = sent.ended or now
        if now - sent.ended < _GRACE and state not in _ENDED_BY:
            return False
        sent.why = _why(sent.slurm, state)
        return True

    def _states(self) -> States | None:
        """Return the states of the folder's jobs; None where Slurm does not answer.

        Slurm forgets a job some minutes after its end.
        """
        line = ["squeue", "--noheader", "--all", "--array", "--states=all", f"--name={self.name}", "--format=%i|%T|%r"]
        try:
            said = subprocess.run(line, capture_output=True, check=True, timeout=60, text=True).stdout
        except (OSError, subprocess.SubprocessError):
            return None
        rows = (line.strip().split("|") for line in said.splitlines() if line.count("|") == 2)
        return {number: (state, reason) for number, state, reason in rows}

    def _cancel(self) -> None:
        """Cancel the jobs that have not ended: by their name, which those have too whose number is not known yet."""
        if going_on := [state for state, _ in (self._states() or {}).values() if state in _GOING_ON]:
            subprocess.run(["scancel", f"--name={self.name}"], capture_output=True, check=False)
            self.note(f"cancelled what had not ended: {len(going_on)} of the jobs; --resume goes on in {self.folder}")


def _arrays(written: Sequence[LaunchJob]) -> list[list[LaunchJob]]:
    """Put jobs that ask for equal machines together."""
    by_ranks: dict[int, list[LaunchJob]] = {}
    for each in written:
        by_ranks.setdefault(each.ranks, []).append(each)
    return [
        same[first : first + _MOST_IN_AN_ARRAY]
        for same in by_ranks.values()
        for first in range(0, len(same), _MOST_IN_AN_ARRAY)
    ]


def _copy_libraries(into: Path) -> None:
    for name in _LIBRARIES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        file = Path(spec.origin)
        into.mkdir(parents=True, exist_ok=True)
        if file.name == "__init__.py":
            ignored = shutil.ignore_patterns("__pycache__", "test_*", "*.so")
            shutil.copytree(file.parent, into / name, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy(file, into)


def _others(waiting: Sequence[_Sent], states: States | None) -> str:
    """Say how many jobs run, and why the others wait."""
    if states is None:
        return ", and squeue does not answer"
    found = [states.get(each.slurm.job_id, ("", "")) for each in waiting if each.slurm]
    running = sum(state == "RUNNING" for state, _ in found)
    reasons = sorted({reason for state, reason in found if state == "PENDING" and reason not in ("None", "")})
    return f", {running} running" + (f", others wait ({', '.join(reasons)})" if reasons else "")


def _why(slurm: submitit.Job[int], state: str) -> str:
    """Explain why a job gave no answer."""
    if state in _ENDED_BY:
        return f"ended: {_ENDED_BY[state]}"
    said = slurm.stderr()
    if said is None:
        return f"ended without an answer and without a log ({state}): does the node see the folder?"
    if "timed-out" in said:
        return f"ended: {_ENDED_BY['TIMEOUT']}"
    last = next((line.strip() for line in reversed(said.split("\n")) if line.strip()), "")
    how = f" ({state})" if state else ", and Slurm has forgotten it"
    return f"ended without an answer{how}{last and f': {last}'}"


def _said_by_sbatch(error: Exception) -> str:
    lines = [line.strip().removeprefix("sbatch: error: ") for line in str(error).split("\n")]
    said = next((line for line in reversed(lines) if line), type(error).__name__)
    return f"the queue is full ({said})" if "temporarily unavailable" in said else said  # MaxJobCount is reached
