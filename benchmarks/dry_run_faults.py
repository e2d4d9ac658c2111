"""Dry runs with faults thrown in: whatever happens, nothing stays behind and no verdict is wrong.

`python benchmarks/dry_run_faults.py --python PYTHON [--count 200]`, with a Python that has torch and megatron-bridge.
Each launch gets one fault at a random moment; then no process of the launch may be left and no temporary directory,
whatever verdict there is has to be the right one or *inconclusive*, and errors have to be told in words.
A full disk is a small file system of its own, in a mount namespace (Linux; `unshare` of util-linux).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

FSDP = {
    "dist.use_megatron_fsdp": True,
    "ddp.use_megatron_fsdp": True,
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "checkpoint.ckpt_format": "fsdp_dtensor",
}
BAD = {**FSDP, "ddp.data_parallel_sharding_strategy": "zero3"}
RIGHT = {"good.json": {"passed", "inconclusive"}, "bad.json": {"confirmed", "inconclusive"}}

Strike = Callable[[subprocess.Popen[bytes], Path], None]
"""Throws a fault at a running linter, whose launches have their directories below a folder."""

SETTLED = 15.0
"""Seconds that cleaning up may take."""


def marked(folder: Path) -> dict[int, str]:
    """Find the processes of launches that have their directory below `folder`, with their command lines."""
    found = {}
    ours = f"TMPDIR={folder}/tmp/mfsdp-dry-run-".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if ours in Path(f"/proc/{pid}/environ").read_bytes():
                found[int(pid)] = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return found


def kill_some(role: str) -> Strike:
    """Make a strike that kills one process if there is one: a rank, the launcher or the validator, by its module."""

    def strike(_: subprocess.Popen[bytes], folder: Path) -> None:
        found = [pid for pid, command in marked(folder).items() if f"start.py {role}" in command]
        with contextlib.suppress(ProcessLookupError):
            for pid in found[:1]:
                os.kill(pid, signal.SIGKILL)

    return strike


def to_all(number: signal.Signals) -> Strike:
    """Make a strike that signals the linter's process group, as a terminal does."""
    return lambda process, _: os.killpg(process.pid, number)


def nothing(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Make no fault."""


def on_a_disk_of(kilobytes: int, temporary: Path) -> list[str]:
    """Return a command's prefix that limits its temporary folder to this size, and prints the files left there."""
    mounted = (
        f'mount -t tmpfs -o size={kilobytes}k none "{temporary}" || exit 3; "$@"; code=$?; ls -A "{temporary}" >&2'
    )
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", f"{mounted}; exit $code", "sh"]


FAULTS: dict[str, tuple[list[str], Strike]] = {
    "nothing": ([], nothing),
    "kill -9 of the linter": ([], to_all(signal.SIGKILL)),
    "Ctrl-C": ([], to_all(signal.SIGINT)),
    "SIGTERM": ([], to_all(signal.SIGTERM)),
    "a rank is killed": ([], kill_some("rank")),
    "the launcher is killed": ([], kill_some("torch.distributed.run")),
    "the validator is killed": ([], kill_some("introspect")),
    "time-out": (["--timeout", "0.3"], nothing),
    "no memory": (["--memory", "300"], nothing),
    "full disk": ([], nothing),
}

SIZES = (4, 16, 24, 32, 48, 64, 128, 256, 512, 1024)
"""Kilobytes of a disk that is soon full: a launch with a checkpoint takes about 1,500."""


def launch(python: str, name: str, folder: Path, generator: random.Random) -> str:
    """Run one launch with a fault. Return what is wrong, "" if nothing is."""
    more, strike = FAULTS[name]
    command = [sys.executable, "-m", "mfsdp_lint", "dry-run", "--python", python, "--output-format", "json", *more]
    if name == "full disk":
        command = [*on_a_disk_of(generator.choice(SIZES), folder / "tmp"), *command]
    files = [str(folder / "good.json"), str(folder / "bad.json")]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, "--checkpoint", *files],
            stdout=output,
            stderr=errors,
            start_new_session=True,
            env=environment,
        )
        deadline = time.monotonic() + generator.uniform(0.5, 40)
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if process.poll() is None:
            strike(process, folder)
        process.wait()
        output.seek(0)
        errors.seek(0)
        said, complained = output.read(), errors.read().decode()
    wrong = []
    if "Traceback" in complained or process.returncode == 3:
        wrong.append(complained)
    if said:
        wrong += [
            f"{recipe['path']}: {recipe['verdict']}: {recipe['unforeseen']}"
            for recipe in json.loads(said)["recipes"]
            if recipe["verdict"] not in RIGHT[Path(recipe["path"]).name]
        ]
    until = time.monotonic() + SETTLED
    while (marked(folder) or list((folder / "tmp").iterdir())) and time.monotonic() < until:
        time.sleep(0.1)
    wrong += [f"left: {command}" for command in marked(folder).values()]
    wrong += [f"left: {path}" for path in (folder / "tmp").iterdir()]
    wrong += [f"left: {line}" for line in complained.splitlines() if line.startswith("mfsdp-dry-run-")]
    return "; ".join(wrong)


def main() -> int:
    """Print a line for each launch, and in the end how many of each there were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", nargs="+", metavar="FAULT", help="only these (default: all in turn)")
    arguments = parser.parse_args()
    if arguments.faults and (unknown := set(arguments.faults) - set(FAULTS)):
        parser.error(f"no such fault: {', '.join(sorted(unknown))}; there are {', '.join(FAULTS)}")
    faults = arguments.faults or list(FAULTS)
    generator = random.Random(arguments.seed)
    counts: Counter[str] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        (folder / "good.json").write_text(json.dumps(FSDP))
        (folder / "bad.json").write_text(json.dumps(BAD))
        for number in range(arguments.count):
            fault = faults[number % len(faults)]
            wrong = launch(arguments.python, fault, folder, generator)
            counts[fault] += 1
            failures += bool(wrong)
            print(f"{number + 1} {fault}: {wrong or 'clean'}", flush=True)
    print(f"{arguments.count} launches, {failures} of them not clean: {dict(counts)}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
