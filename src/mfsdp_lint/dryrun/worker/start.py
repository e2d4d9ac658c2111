"""`python start.py MODULE ARGUMENT…` runs `main` of a module beside this file, or of an installed one
(`torch.distributed.run`), in a process that limits itself: it dies with its parent, keeps to its memory, speaks to this
machine alone.

The modules are a package of their own, so that their names hide no package that is installed.
"""

import contextlib
import ctypes
import importlib
import ipaddress
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import types
from typing import Any

PACKAGE = "mfsdp_dry_run"

MARK = "MFSDP_LINT_DRY_RUN"
"""The environment variable that every process of a launch has, with a value of its own."""

PARENT = "MFSDP_LINT_DRY_RUN_PARENT"
"""The environment variable for the process that starts others of a launch."""

NODES = "MFSDP_LINT_DRY_RUN_NODES"
"""The environment variable for the number of machines of a launch, if there are several: they reach each other."""


def load_package() -> None:
    """Make this folder importable as the package, and by no other name."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    package = sys.modules[PACKAGE] = types.ModuleType(PACKAGE)
    package.__path__ = [here]


def die_with_parent() -> None:
    """Ask for SIGKILL when the parent ends, however it ends (Linux); a child does not inherit that. Raises SystemExit.

    Not where the parent is a cluster's: from a daemon, the signal arrives when the thread ends that started this
    process.
    """
    parent = os.environ.get(PARENT, "any")
    if sys.platform != "linux" or parent == "any":
        return
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    # It may have ended just before: whoever took this process over has not the mark.
    inherited = parent == str(os.getppid())
    if not inherited:
        with contextlib.suppress(OSError), open(f"/proc/{os.getppid()}/environ", "rb") as stream:
            inherited = f"{MARK}={os.environ.get(MARK, '')}".encode() in stream.read().split(b"\0")
    if not inherited:
        raise SystemExit(1)


def shorten_sockets() -> None:
    """Let `multiprocessing` name its sockets by a short way into the temporary folder, whose own path may be long.

    The path of a socket has at most 107 characters (Linux), and saving a checkpoint opens some.
    """
    if sys.platform != "linux":
        return
    folder = os.open(tempfile.gettempdir(), os.O_RDONLY | os.O_DIRECTORY)
    process: Any = multiprocessing.current_process()
    process._config["tempdir"] = f"/proc/{os.getpid()}/fd/{folder}"


def _refuse_network(event: str, arguments: Any) -> None:
    if event not in ("socket.connect", "socket.sendto", "socket.sendmsg") or not isinstance(arguments[1], tuple):
        return
    host = str(arguments[1][0])
    try:
        is_here = host in ("", "localhost") or ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        raise PermissionError(f"a dry run uses no network, and {host} is not this machine")


def begin() -> None:
    """Set all limits of the process. Raises SystemExit where the parent is already gone."""
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limit := int(os.environ.get("MFSDP_LINT_DRY_RUN_MEMORY", "0")):  # bytes of data
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if NODES not in os.environ:
        sys.addaudithook(_refuse_network)


# Saving a checkpoint spawns helpers, which import this file again under another name.
if __name__ == "__main__":
    load_package()
    begin()
    name = sys.argv[1] if "." in sys.argv[1] else f"{PACKAGE}.{sys.argv[1]}"
    importlib.import_module(name).main(sys.argv[2:])
