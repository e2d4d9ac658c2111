"""What no input may bring the tool to: taking long, writing outside, executing what it reads, starting anything."""

from __future__ import annotations

import gc
import os
import signal
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfsdp_lint import process

SECONDS = 2.0
"""Processor time for one case."""

_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn", "socket.connect")
_WRITES = (
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
)
_OWN = tuple(
    os.path.realpath(folder) + os.sep
    for folder in (Path(__file__).parents[2], sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sys.prefix)
)


class Slow(BaseException):
    """A case that takes too long. (No Exception, which the tool would make a finding of.)"""


class _Watch:
    def __init__(self) -> None:
        self.folder: str | None = None
        self.seen: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None:
            return
        if event in _STARTS:
            self.seen.append(f"{event}{arguments[:2]!r}")
        elif event == "open":
            path, _, flags = arguments
            if isinstance(path, (str, bytes)) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self.written(event, path)
        elif event in _WRITES:
            for path in arguments[:2]:
                if isinstance(path, (str, bytes)):
                    self.written(event, path)
        elif event == "exec":
            file = getattr(arguments[0], "co_filename", "")
            # Data classes and named tuples are made from text.
            if file != "<string>" and not file.startswith(("<frozen", "<attrs", *_OWN)):
                self.seen.append(f"executed code of {file!r}")

    def written(self, event: str, path: str | bytes) -> None:
        name = os.path.realpath(os.fsdecode(path))
        if not name.startswith((f"{self.folder}{os.sep}", "/dev/null")) and "__pycache__" not in name:
            self.seen.append(f"{event} {name!r}")


_watch = _Watch()
_added = False


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """Raises Slow where something takes more than SECONDS of the processor, and AssertionError where anything was
    written outside of a folder, executed or started."""
    global _added
    if not _added:  # there is no way to take one back
        sys.addaudithook(_watch)
        _added = True
    _watch.folder, _watch.seen = os.path.realpath(folder), []
    before = signal.signal(signal.SIGVTALRM, _too_slow)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    # What earlier tests left is not looked through again at the cost of this one, by nobody.
    gc.freeze()
    process._set_aside_since = 0
    began = time.process_time()
    try:
        yield
    finally:
        gc.unfreeze()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        _watch.folder = None
    assert not _watch.seen, _watch.seen
    if (took := time.process_time() - began) > SECONDS:  # in one step of the interpreter
        raise Slow(f"{took:.1f} s")


def _too_slow(*_: object) -> None:
    raise Slow
