"""Whoever has a file open for writing: Linux tells, because it gives no lease for reading on such a file."""

from __future__ import annotations

import os
import time

PAUSE = 0.01
LONGEST = 1.0
"""Seconds. Who saves a file needs a moment; who keeps it open for longer is not waited for."""


def wait_for_writers(path: str) -> None:
    """Waits until nobody writes to a file any more, where the system tells."""
    try:
        from fcntl import F_RDLCK, F_SETLEASE, fcntl
    except ImportError:  # not Linux
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            try:
                fcntl(descriptor, F_SETLEASE, F_RDLCK)
            except BlockingIOError:
                time.sleep(PAUSE)
            else:
                return
    except OSError:  # a file system without leases, or a file of somebody else
        return
    finally:
        os.close(descriptor)
