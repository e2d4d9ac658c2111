"""Whatever a launch starts and writes is gone when it ends, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.dryrun.containment import contained
from mfsdp_lint.dryrun.worker.start import _refuse_network

LEAVES_A_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid, flush=True)
"""

LAUNCHER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run in the background, where it is ignored
from mfsdp_lint.dryrun.containment import contained
with contained(sys.executable) as launch:
    process = launch.start([sys.executable, "-c", {program!r}], output="log")
    process.wait()
    print(launch.directory, (launch.directory / "log").read_text().strip(), flush=True)
    time.sleep(600)
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether it becomes true; the machine may be busy."""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_the_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1")
    with contained(sys.executable) as launch:
        assert "SECRET_TOKEN" not in launch.environment
        assert "CUDA_DEVICE_MAX_CONNECTIONS" not in launch.environment
        assert launch.environment["HOME"] == str(launch.directory / "home")


def test_a_launch_on_gpus_sees_them_and_speaks_to_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    monkeypatch.setenv("NCCL_SOCKET_IFNAME", "eth0")
    with contained(sys.executable) as launch:
        assert launch.environment["CUDA_VISIBLE_DEVICES"] == ""
    with contained(sys.executable, devices=True) as launch:
        assert launch.environment["CUDA_VISIBLE_DEVICES"] == "2,3"
        assert launch.environment["NCCL_SOCKET_IFNAME"] == "lo"


def test_what_a_process_leaves_behind_ends_with_the_launch() -> None:
    with contained(sys.executable) as launch:
        launch.start([sys.executable, "-c", LEAVES_A_CHILD], output="log").wait()
        child = int((launch.directory / "log").read_text())
        assert alive(child)
    assert not alive(child)
    assert not launch.directory.exists()


def test_an_exception_makes_no_difference() -> None:
    with pytest.raises(KeyboardInterrupt), contained(sys.executable) as launch:
        raise KeyboardInterrupt
    assert not launch.directory.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_linter_is_killed(number: signal.Signals) -> None:
    program = LAUNCHER.format(program=LEAVES_A_CHILD)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as linter:
        assert linter.stdout is not None
        directory, child = linter.stdout.readline().decode().split()
        assert alive(int(child))
        os.killpg(linter.pid, number)
        linter.wait()
        assert wait_for(lambda: not alive(int(child)) and not Path(directory).exists())


def test_the_journal_can_be_kept_without_what_is_temporary(tmp_path: Path) -> None:
    with contained(sys.executable, keep=str(tmp_path / "journals")) as launch:
        launch.start([sys.executable, "-c", "print('hello')"], output="log").wait()
    assert (launch.directory / "log").read_text() == "hello\n"
    assert "print('hello')" in (launch.directory / "commands.txt").read_text()
    assert not (launch.directory / "tmp").exists()
    assert not (launch.directory / "home").exists()


def test_several_launches_do_not_disturb_each_other() -> None:
    with contained(sys.executable) as first:
        first.start([sys.executable, "-c", LEAVES_A_CHILD], output="log").wait()
        child = int((first.directory / "log").read_text())
        with contained(sys.executable) as second:
            second.start([sys.executable, "-c", LEAVES_A_CHILD], output="log").wait()
        assert alive(child)
        assert first.directory.exists()
        assert not second.directory.exists()
    assert wait_for(lambda: not alive(child))


@pytest.mark.parametrize("host", ["10.0.0.1", "example.org", "2001:db8::1"])
def test_a_worker_speaks_to_no_other_machine(host: str) -> None:
    with pytest.raises(PermissionError, match="is not this machine"):
        _refuse_network("socket.connect", (None, (host, 443)))
    _refuse_network("socket.connect", (None, ("127.0.0.1", 443)))
    _refuse_network("socket.connect", (None, "/run/socket"))
