"""Launches in a job of Ray, each with a placement group; the answers are in the log of the job.

The job brings its files along, so the nodes need not see the folder. This module needs the extra `ray`.
"""

from __future__ import annotations

import json
import logging
import secrets
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ray.job_submission import JobStatus, JobSubmissionClient

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.dryrun import jobs
from mfsdp_lint.dryrun.containment import WORKER
from mfsdp_lint.dryrun.inventory import Device, Installed
from mfsdp_lint.dryrun.jobs import JobOptions, LaunchJob
from mfsdp_lint.dryrun.ranks import JOB, Answers, RunRequest, Tell
from mfsdp_lint.dryrun.worker.on_ray import MARK
from mfsdp_lint.inputs.options import UsageError

_NUMBER = "ray-job"
"""The file of a launch's folder that has the submission id of its Ray job."""

_PLAN, _DRIVER = "launches.json", "on_ray.py"
_ENTRY = f"python3 {_DRIVER} {_PLAN}"

_OF_A_NODE = ("$NODE", "$HOST", "$PORT")
"""Variables that worker/on_ray.py sets for the shell of a node."""

_REFUSED = (RuntimeError, OSError, ValueError)
"""Errors of Ray's client: the cluster refuses something, or does not answer."""

_EVERY = (1.0, 30.0)
"""Seconds between two looks at the log, in the beginning and after some minutes."""

_BEFORE_THE_END = 30
"""Seconds for the end of a launch that took as long as its runs may."""

_MOST_OF_A_LOG = 20_000

_ENDED_BY = {JobStatus.STOPPED: "was stopped", JobStatus.FAILED: "failed"}

_FAULTS = {
    "NodeDiedError": "its node failed",
    "OutOfMemoryError": "it took more memory than Ray lets it",
    "TaskUnschedulableError": "no node of the cluster can have it",
    "WorkerCrashedError": "its process on the node was killed",
}
"""Errors of Ray (`ray.exceptions`), in words."""


@dataclass(slots=True)
class _SentLaunch:
    """A launch, the Ray job that has it, and how far it is; `why` it gave no answer, once it has ended."""

    job: LaunchJob
    number: str
    state: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class RayCluster:
    """Ray's cluster, which RAY_API_SERVER_ADDRESS or RAY_ADDRESS names. `timeout` is for each question.

    `installed` is what validated the recipes here. `note` hears what stays of interest.
    """

    folder: Path
    options: JobOptions
    timeout: float
    device: Device
    installed: Installed
    note: Callable[[str], None]

    def answer(self, questions: Sequence[RunRequest], tell: Tell) -> Answers:
        """Have questions answered by a job. Raises UsageError where it cannot be submitted.

        A job that an interrupted run left is waited for. Whatever ends this, but for a kill, stops the jobs.
        """
        try:
            client = JobSubmissionClient()
        except _REFUSED as error:
            raise UsageError(
                f"--executor ray: {_first_line(error)}; RAY_ADDRESS names the cluster, as in http://localhost:8265"
            ) from None
        logging.getLogger("ray").setLevel(logging.ERROR)
        sent: list[_SentLaunch] = []
        with jobs.alone(self.folder):
            try:
                sent += self._left_by_others(questions, client)
                theirs = {question.name for each in sent for question in each.job.questions}
                if rest := [question for question in questions if question.name not in theirs]:
                    sent += self._submit(rest, client)
                self._wait(sent, client, tell)
            except BaseException:
                self._stop(client)
                raise
        ended = [(each.job, each.why and f"{each.job.directory.name} {each.why}") for each in sent]
        return jobs.collected(ended, self.installed)

    def scripts(self, written: Sequence[LaunchJob]) -> list[str]:
        """Return the command that would submit the launches."""
        number = self._pack(written)
        options = ["--submission-id", number, "--working-dir", str(self.folder / number), "--no-wait"]
        return [f"{shlex.join(['ray', 'job', 'submit', *options])} -- {_ENTRY}"]

    def _pack(self, written: Sequence[LaunchJob]) -> str:
        """Write the folder that a job brings along; return its name, which is the job's submission id."""
        number = f"mfsdp-dry-run-{secrets.token_hex(4)}"
        launches = []
        for each in written:
            there = replace(each, directory=Path())
            needs = {"CPU": each.ranks_per_node, **({"GPU": each.gpus_per_node} if each.gpus_per_node else {})}
            launches.append(
                {
                    "name": each.directory.name,
                    "job": files.text(str(each.directory / JOB)),
                    "nodes": each.nodes,
                    "needs": needs,
                    "script": "\n".join([*self.options.setup, there.shell("python3", *_OF_A_NODE)]),
                    "seconds": (self.options.minutes or 0) * 60 or each.seconds + _BEFORE_THE_END,
                    "most": _MOST_OF_A_LOG,
                }
            )
            files.put(str(each.directory / _NUMBER), number.encode())
        worker = {f"{WORKER.name}/{path.name}": files.text(str(path)) for path in WORKER.glob("*.py")}
        (self.folder / number).mkdir()
        for name, text in ((_PLAN, json.dumps([launches, worker])), (_DRIVER, files.text(str(WORKER / _DRIVER)))):
            files.put(str(self.folder / number / name), text.encode())
        return number

    def _submit(self, questions: Sequence[RunRequest], client: JobSubmissionClient) -> list[_SentLaunch]:
        written = jobs.write(self.folder, questions, self.options, self.timeout, self.device, self.installed)
        number = self._pack(written)
        environment = {"working_dir": str(self.folder / number)}
        try:
            client.submit_job(entrypoint=_ENTRY, submission_id=number, runtime_env=environment)
        except _REFUSED as error:
            raise UsageError(f"--executor ray: the job was refused: {_first_line(error)}") from None
        launches = f"{len(written)} launches" if len(written) > 1 else "a launch"
        self.note(f"submitted to Ray: job {number} with {launches}, in {self.folder}")
        return [_SentLaunch(each, number) for each in written]

    def _left_by_others(self, questions: Sequence[RunRequest], client: JobSubmissionClient) -> Iterator[_SentLaunch]:
        """Find the launches of an interrupted run whose job Ray still knows, and whose end nobody has read."""
        known = {each.submission_id for each in client.list_jobs()}
        for job, number in jobs.left_by_others(self.folder, _NUMBER, questions, self.device, self.installed):
            if number in known:
                yield _SentLaunch(job, number)

    def _wait(self, sent: Sequence[_SentLaunch], client: JobSubmissionClient, tell: Tell) -> None:
        """Wait for the end of the launches, and tell it."""
        waiting, begun = list(sent), time.monotonic()
        while waiting:
            silent = ""
            for number in dict.fromkeys(each.number for each in waiting):
                try:
                    status, log = client.get_job_info(number).status, client.get_job_logs(number)
                except _REFUSED as error:
                    if "does not exist" not in str(error):
                        silent = ", and the cluster does not answer"
                        continue
                    status, log = None, ""
                self._read(log, [each for each in waiting if each.number == number])
                for each in waiting:
                    if each.number == number and each.state != "ended" and (status is None or status.is_terminal()):
                        each.state, each.why = "ended", f"ended without an answer: {_why(status, number, log)}"
            for each in [each for each in waiting if each.state == "ended"]:
                waiting.remove(each)
                (each.job.directory / _NUMBER).unlink()
                launch = f"{each.job.directory.name} ({each.job.label})"
                self.note(f"{len(sent) - len(waiting)} of {len(sent)}: {launch} {each.why or 'has answered'}")
            running = sum(each.state == "runs" for each in waiting)
            room = ", others wait for room on the cluster" if running < len(waiting) else ""
            tell(f"{len(sent) - len(waiting)} of {len(sent)} launches have ended, {running} running{room}{silent}")
            if waiting:
                time.sleep(min(max(_EVERY[0], (time.monotonic() - begun) / 10), _EVERY[1]))

    def _read(self, log: str, waiting: Sequence[_SentLaunch]) -> None:
        """Read how far the launches are from the log of their job, and write their answers down."""
        by_name = {each.job.directory.name: each for each in waiting}
        for line in log.split("\n"):
            if not line.startswith(MARK):
                continue
            said: dict[str, Any] = json.loads(line.removeprefix(MARK))
            if (each := by_name.get(said["launch"])) is None:
                continue
            for name, text in said.get("files", {}).items():
                folder = "answers" if name.endswith(".json") else "."
                files.put(str(each.job.directory / folder / Path(name).name), text.encode())
            kind, _, rest = said.get("why", "").partition(": ")
            why = _FAULTS.get(kind, f"{kind}: {_first_line(rest)}" if rest else kind)
            each.why = each.why or (why and f"ended: {why}")
            each.state = "ended" if said.get("ended") else "runs"
            if each.state == "ended" and not each.why and not each.job.answered:
                log = "\n".join(text for name, text in said.get("files", {}).items() if name.endswith(".log"))
                last = [line.strip() for line in log.split("\n") if line.strip()]
                each.why = f"ended without an answer{f': {last[-1]}' if last else ''}"

    def _stop(self, client: JobSubmissionClient) -> None:
        """Stop the jobs of the folder, also one that is just being submitted, and forget them."""
        numbers = {path: files.read(path).decode() for path in self.folder.glob(f"*/{_NUMBER}")}
        try:
            for job in client.list_jobs():
                if job.submission_id in numbers.values() and not job.status.is_terminal():
                    client.stop_job(job.submission_id)
                    self.note(f"stopped job {job.submission_id}; --resume goes on in {self.folder}")
        except _REFUSED as error:
            self.note(f"the job could not be stopped: {_first_line(error)}")
        for path in numbers:
            path.unlink()


def _why(status: JobStatus | None, number: str, log: str) -> str:
    """Explain why a Ray job that has ended left a launch without an answer."""
    if status is None:
        return f"Ray has forgotten job {number}"
    last = [line.strip() for line in log.split("\n") if line.strip() and not line.startswith(MARK)]
    why = _ENDED_BY.get(status, "ended")
    said = f": {last[-1]}" if last and status is JobStatus.FAILED else ""
    return f"job {number} {why}{said}"


def _first_line(error: object) -> str:
    return next((line.strip() for line in str(error).split("\n") if line.strip()), type(error).__name__)
