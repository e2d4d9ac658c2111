"""A Slurm cluster in a temporary folder: munge, slurmctld and a slurmd for each node, with nothing of the system's."""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
_PATH = f"{os.environ['PATH']}{os.pathsep}/usr/sbin{os.pathsep}/sbin"
CPUS = 4
"""Those of a node."""

_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n.spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=1,bf_interval=1
SlurmdParameters=config_overrides
EnforcePartLimits=ALL
KillWait=2
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""
_NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} State=UNKNOWN"


def missing() -> list[str]:
    """The programs of slurm-wlm and munge that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]


@contextmanager
def started(nodes: int) -> Iterator[Path]:
    """Start a cluster, all nodes of it on this machine; yields its configuration, which SLURM_CONF has to name.

    Skips the test where the daemons do not run, as in a container that forbids them what they need. The folder is not
    pytest's: the path of a step's socket has at most 107 characters (Linux), and Slurm ends a job where it is longer.
    """
    with TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder:
        yield from _started(Path(folder), nodes)


def _started(folder: Path, nodes: int) -> Iterator[Path]:
    host = socket.gethostname().partition(".")[0]
    names = [f"node{number}" for number in range(nodes)]
    for name in ("state", *(f"{name}.spool" for name in names)):
        (folder / name).mkdir()
    lines = "\n".join(_NODE.format(name=name, host=host, port=_free_port(), cpus=CPUS) for name in names)
    configuration = folder / "slurm.conf"
    text = _CONFIGURATION.format(host=host, folder=folder, user=getpass.getuser(), controller=_free_port(), nodes=lines)
    configuration.write_text(text)
    (folder / "cgroup.conf").touch()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    places = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in ("socket", "pid-file", "log-file")]
    munge = ["munged", "--foreground", "--force", f"--key-file={key}", f"--seed-file={folder}/munge.seed", *places]
    environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(configuration)}
    with ExitStack() as stack:
        for command in (munge, ["slurmctld", "-D"], *(["slurmd", "-D", "-N", name] for name in names)):
            stack.enter_context(_running(command, folder, environment))
            if command is munge and not _soon((folder / "munge.socket").exists):
                pytest.skip(f"munge does not start here: {_last_word(folder / 'munge.log')}")
        sinfo = ("sinfo", "--noheader", "--Node", "--format=%T")
        if not _soon(lambda: said(*sinfo, environment=environment).split() == ["idle"] * nodes):
            words = [_last_word(folder / f"{name}.log") for name in ("slurmctld", *names)]
            pytest.skip(f"Slurm does not start here: {'; '.join(words)}")
        yield configuration
        said("scancel", f"--user={getpass.getuser()}", environment=environment)
        assert _soon(lambda: not said("squeue", "--noheader", environment=environment)), "the queue does not end"


def said(*command: str, environment: dict[str, str] | None = None) -> str:
    """What a command prints, "" where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30, env=environment)
    return done.stdout if done.returncode == 0 else ""


@contextmanager
def _running(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    program = shutil.which(command[0], path=_PATH)
    assert program is not None
    with (folder / f"{command[-1] if '-N' in command else command[0]}.log").open("w") as log:
        process = subprocess.Popen(
            [program, *command[1:]], cwd=folder, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _soon(condition: Callable[[], bool]) -> bool:
    """Tell whether a condition holds within half a minute."""
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.1)
    return False


def _last_word(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return lines[-1] if lines else f"{log.name} is empty"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
