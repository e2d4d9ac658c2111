"""All traces that one launch may leave behind, in one place: its directory, its environment, its processes.

A process of its own (worker/watch.py) waits for the end of the launch and cleans up, so that it makes no difference
whether the launch ends by itself, by a time-out, by Ctrl-C, or because the linter is killed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.options import UsageError

WORKER = Path(__file__).with_name("worker")

MEMORY = 4 << 30
"""How many bytes of data one process may hold, unless somebody says otherwise."""

MEMORY_LIMIT = "MFSDP_LINT_DRY_RUN_MEMORY"
"""The environment variable that limits the bytes of data of a process (worker/start.py)."""

NODES = "MFSDP_LINT_DRY_RUN_NODES"
"""The environment variable for the number of machines of a launch, if there are several (worker/start.py)."""

_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
"""The environment variables of the user that a launch gets; of these it needs some to find what is installed."""

_OF_THE_DEVICES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_PATH")
"""Those of a launch that sees the GPUs: which these are, and where extensions find the compiler."""

_LOOPBACK = "lo" if sys.platform == "linux" else "lo0"

_SET = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"), "1"),
    **dict.fromkeys(("TORCHDYNAMO_DISABLE", "TORCHINDUCTOR_COMPILE_THREADS"), "1"),
    **dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"), "1"),
}


@dataclass(frozen=True, slots=True)
class Contained:
    """A launch: its directory, which is its journal as well, and what its processes get."""

    directory: Path
    python: str
    environment: Mapping[str, str]

    def command(self, module: str, *arguments: str) -> list[str]:
        """Return the command that runs a module of the worker."""
        return [self.python, str(WORKER / "start.py"), module, *arguments]

    def start(self, command: Sequence[str], *, output: str, talk: bool = False) -> subprocess.Popen[bytes]:
        """Start a command in a session of its own. Its output goes to `output`, a file of the directory.

        With `talk` its standard input and output are pipes.
        """
        with files.written(self.directory / "commands.txt", "a") as journal:
            journal.write(f"{' '.join(command)}\n".encode("utf-8", "surrogateescape"))
        with files.written(self.directory / output, "a") as log:
            return subprocess.Popen(
                command,
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.PIPE if talk else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talk else log,
                stderr=log,
                start_new_session=True,
            )


@contextmanager
def contained(
    python: str, *, keep: str | None = None, memory: int = MEMORY, devices: bool = False
) -> Iterator[Contained]:
    """Open a launch. When the block ends, its processes are gone, and its directory, unless `keep` names its place.

    `devices` lets it see the GPUs; `memory` 0 is no limit. Raises UsageError where the directory cannot be made or
    written to.
    """
    mark = secrets.token_hex(16)
    directory = _directory(keep)
    environment = {
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        **settings_for(devices),
        # The home directory is another one; what the user installed below the real one stays within reach.
        "PYTHONUSERBASE": os.environ.get("PYTHONUSERBASE", os.path.expanduser("~/.local")),
        "HOME": str(directory / "home"),
        "TMPDIR": str(directory / "tmp"),
        "TORCHINDUCTOR_CACHE_DIR": str(directory / "tmp"),
        "MFSDP_LINT_DRY_RUN": mark,
        "MFSDP_LINT_DRY_RUN_PARENT": str(os.getpid()),
        MEMORY_LIMIT: str(memory),
    }
    if devices:
        environment |= {name: os.environ[name] for name in _OF_THE_DEVICES if name in os.environ}
    watch = subprocess.Popen(
        [sys.executable, "-I", "-S", str(WORKER / "watch.py"), mark, str(directory), *(["keep"] if keep else [])],
        stdin=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
    )
    try:
        yield Contained(directory, python, environment)
    except OSError as error:  # a disk that is full by now
        raise UsageError(f"{error.filename or directory}: {error.strerror or error}") from None
    finally:
        assert watch.stdin is not None
        watch.stdin.close()
        watch.wait()


def _directory(keep: str | None) -> Path:
    try:
        if keep is not None:
            os.makedirs(keep, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix="mfsdp-dry-run-", dir=keep)).resolve()
        try:
            for name in ("home", "tmp", "answers"):
                (directory / name).mkdir()
        except OSError:
            shutil.rmtree(directory, ignore_errors=True)
            raise
    except OSError as error:
        raise UsageError(f"{keep or tempfile.gettempdir()}: {error.strerror or error}") from None
    return directory


def settings_for(devices: bool, nodes: int = 1) -> dict[str, str]:
    """Return the variables that every launch sets, whoever starts it; devices are hidden unless `devices`.

    Ranks keep to their machine unless there are several.
    """
    found = dict(_SET)
    if nodes == 1:
        found["GLOO_SOCKET_IFNAME"] = _LOOPBACK
        found |= {"NCCL_SOCKET_IFNAME": _LOOPBACK, "NCCL_IB_DISABLE": "1"} if devices else {}
    return found if devices else {**found, "CUDA_VISIBLE_DEVICES": ""}
