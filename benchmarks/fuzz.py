"""Inputs that are nearly what they should be: the long version of tests/fuzzing/test_fuzzing.py.

    python benchmarks/fuzz.py --cases 10000 [--seed S] [--target NAME ...]

does this many cases of each target, in a process of its own, and prints for each how many there were and what was
wrong: an exception that the tool must not raise, more than 2 s of the processor, a write outside of the case's folder,
code that was executed, a process that died or was still busy after a minute. `--first N --cases 1` does one of them
again. Exit code 1 where anything was wrong.
"""

from __future__ import annotations

import argparse
import mmap
import os
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint import process  # noqa: E402
from mfsdp_lint.engine import cache  # noqa: E402
from mfsdp_lint.inputs.faults import DEBUG  # noqa: E402
from tests.fuzzing.guard import Slow, guarded  # noqa: E402
from tests.fuzzing.targets import TARGETS, case_of  # noqa: E402

_BUSY = 60.0
"""Seconds after which a process that is still at the same case is given up."""

_FEW = 5
"""Failures of one target that are shown whole."""


class Counter:
    """A number that a process shares with the one that watches it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 16)

    def __getitem__(self, index: int) -> int:
        return int(struct.unpack_from("q", self._memory, 8 * index)[0])

    def __setitem__(self, index: int, value: int) -> None:
        struct.pack_into("q", self._memory, 8 * index, value)


def cases(name: str, seed: int, numbers: range, shared: Counter) -> None:
    """Run cases of a target in turn; the shared numbers are the current case, and the count of wrong ones."""
    process.own()
    os.environ[DEBUG] = "1"
    os.environ[cache.VARIABLE] = ""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        os.chdir(folder)
        told, sys.stdout, sys.stderr = sys.stdout, nowhere, nowhere
        TARGETS[name](case_of(name, seed, -1))  # what it imports, and makes once
        for number in numbers:
            shared[0] = number
            try:
                with guarded(Path(folder)):
                    TARGETS[name](case_of(name, seed, number))
            except (Exception, Slow):
                shared[1] += 1
                if shared[1] <= _FEW:
                    print(f"{name} {seed} {number}:\n{_shortened(traceback.format_exc())}", file=told, flush=True)


def _shortened(text: str) -> str:
    lines = [line[:300] for line in text.splitlines()]
    return "\n".join(lines if len(lines) <= 30 else (*lines[:5], "...", *lines[-24:]))


def watched(name: str, seed: int, numbers: range) -> Iterator[str]:
    """Run them in a process of its own, and in a new one if that dies. Yield the failures."""
    shared = Counter()
    while numbers:
        shared[0] = numbers[0]
        child = os.fork()
        if not child:
            code = 1
            try:
                cases(name, seed, numbers, shared)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        if status := _awaited(child, shared):
            yield f"{name} {seed} {shared[0]}: the process {status}"
        numbers = range(shared[0] + 1, numbers.stop)
    yield from [f"{name}: {shared[1]} cases were wrong"] * bool(shared[1])


def _awaited(child: int, shared: Counter) -> str:
    """Describe how a process ended; "" if it did as it should."""
    at, since = -1, time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return f"ended with {os.waitstatus_to_exitcode(status)}" if status else ""
        if shared[0] != at:
            at, since = shared[0], time.monotonic()
        elif time.monotonic() - since > _BUSY:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"was still busy after {_BUSY:.0f} s"
        time.sleep(0.05)


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--target", nargs="+", choices=TARGETS, default=list(TARGETS))
    options = parser.parse_args()
    wrong = 0
    for name in options.target:
        began = time.monotonic()
        found = list(watched(name, options.seed, range(options.first, options.first + options.cases)))
        wrong += len(found)
        print(f"{name}: {options.cases} cases, {time.monotonic() - began:.0f} s", *found or ["nothing wrong"], sep="; ")
        sys.stdout.flush()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
