"""`python watch.py MARK DIRECTORY [KEEP]`: ends what is left of a launch once its standard input closes.

It closes when the launcher says so, and when the launcher is gone, however that came about. Every process that has the
mark in its environment is killed; the directory is removed, or with KEEP its temporary parts alone. The standard
library is all that it needs, and it has a session of its own, so that a Ctrl-C does not reach it.
"""

import contextlib
import os
import shutil
import signal
import sys
import time

TEMPORARY = ("home", "tmp")
"""The parts of a launch's directory that nobody wants to keep."""


def main(mark: str, directory: str, keep: bool) -> None:
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    quiet = 0  # a process may start another meanwhile: two searches in a row have to find none
    for _ in range(250):
        found = list(marked(mark))
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        quiet = 0 if found else quiet + 1
        if quiet == 2:
            break
        time.sleep(0.02)
    for name in TEMPORARY if keep else ("",):
        shutil.rmtree(os.path.join(directory, name), ignore_errors=True)


def marked(mark: str):  # type: ignore[no-untyped-def]  # `typing` is left out: this has to start at once
    """Find the processes that were started with the mark in their environment."""
    wanted = f"MFSDP_LINT_DRY_RUN={mark}".encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as stream:
                if wanted in stream.read().split(b"\0"):
                    yield int(name)
        except OSError:  # gone, or somebody else's
            continue


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], len(sys.argv) > 3)
