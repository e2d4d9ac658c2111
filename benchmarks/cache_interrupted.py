"""Robustness of the cache: after any interruption or damage, the answer has to be that of `--no-cache`, every time.

    python benchmarks/cache_interrupted.py [--kills 300] [--damages 1000] [--rounds 30] [--seed S]

- killed (SIGKILL) at any moment of a run that writes the cache: the answer of the next run;
- damaged: bytes changed, cut out, put in, at random places of the cache;
- three runs at once with one folder, all of which write the cache;
- on a full disk (a small tmpfs of its own), and in a folder without write permission (as the user nobody).

Exit code 1 where an answer was another one. Needs Linux, and root for the last two.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks import fix_interrupted  # noqa: E402
from mfsdp_lint import process  # noqa: E402
from mfsdp_lint.engine import cache  # noqa: E402

PROJECT = {path: fix_interrupted.PROJECT[path] for path in ("pyproject.toml", "d.py", "overrides.yaml")}
OPTIONS = ("--no-show-fixes",)  # proofs take time, and nothing is kept of them that is not of findings


class Campaign:
    """The trials, and the answers that were wrong."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.place = folder / "project"
        self.kept = folder / "kept"
        self.broken: list[str] = []
        self.counts: Counter[str] = Counter()
        for path, text in PROJECT.items():
            (self.place / path).parent.mkdir(parents=True, exist_ok=True)
            (self.place / path).write_text(text)
        # What a run imports is there when it is forked.
        from mfsdp_lint.cli import main as mfsdp_lint

        os.chdir(self.place)
        told, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115
        mfsdp_lint(
            [*OPTIONS, "--cache-dir", str(self.kept), "--target-bridge", "0.3.1", "--output-format", "json", "."]
        )
        sys.stdout = told
        os.chdir(folder)
        began = time.monotonic()
        self.right = fix_interrupted.Run(self.place, *OPTIONS, "--no-cache").end()
        self.seconds = time.monotonic() - began
        assert self.right.document["findings"], self.right

    def run(self, first: Callable[[], None] = lambda: None) -> fix_interrupted.Run:
        return fix_interrupted.Run(self.place, *OPTIONS, "--cache-dir", str(self.kept), first=first)

    def compare(self, told: str, ended: fix_interrupted.Ended) -> None:
        if ended != self.right:
            self.broken.append(f"{told}: exit code {ended.code}: {ended.complaints[-500:]}")

    def forget(self) -> None:
        shutil.rmtree(self.kept, ignore_errors=True)

    def files(self) -> list[Path]:
        return sorted(self.kept.glob("*.outcome"))

    def killed(self, number: int) -> None:
        self.forget()
        run = self.run()
        if self.chance.random() < 0.85:
            time.sleep(self.chance.random() * self.seconds * 0.9)
        else:  # while it writes
            while run.running() and not (self.kept.exists() and len(os.listdir(self.kept)) > 1):
                pass
            time.sleep(self.chance.random() ** 3 * 0.002)
        run.kill()
        self.counts["killed in time" if run.end().code < 0 else "too late to kill"] += 1
        self.counts["had kept something"] += bool(self.files())
        self.compare(f"kill {number}", self.run().end())
        self.compare(f"kill {number}, the run after the next", self.run().end())

    def damaged(self, number: int) -> None:
        if not self.files():
            self.run().end()
        (file,) = self.files()
        data = bytearray(file.read_bytes())
        for _ in range(self.chance.choice((1, 1, 1, 2, 10))):
            at = self.chance.randrange(len(data))
            match self.chance.randrange(3):
                case 0:
                    data[at] ^= self.chance.randrange(1, 256)
                case 1:
                    del data[at : at + self.chance.choice((1, 10, 1000))]
                case _:
                    data[at:at] = self.chance.randbytes(self.chance.choice((1, 10)))
        file.write_bytes(data)
        self.compare(f"damage {number}", self.run().end())

    def at_once(self, number: int) -> None:
        self.forget()
        for run in [self.run() for _ in range(3)]:
            self.compare(f"three at once {number}", run.end())
        self.compare(f"after three at once {number}", self.run().end())

    def without_permission(self, number: int) -> None:
        self.forget()
        if number % 2:
            self.run().end()
        self.kept.mkdir(exist_ok=True)
        self.kept.chmod(0o555)
        self.compare(f"no permission {number}", self.run(first=fix_interrupted.as_nobody).end())
        self.kept.chmod(0o755)

    def on_full_disk(self, number: int) -> None:
        self.forget()
        room = self.chance.choice([0, 1000, 4096, 10_000, 30_000])
        disk = os.statvfs(self.place)
        filler = self.place.parent / "filler"
        filler.write_bytes(b"x" * max(0, disk.f_bavail * disk.f_frsize - room))
        self.compare(f"full disk {number} with {room} bytes", self.run().end())
        self.compare(f"full disk {number} with {room} bytes, again", self.run().end())
        filler.unlink()


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--damages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=30, help="of the others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--on-disk", metavar="DIR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    process.own()
    os.environ.pop(cache.VARIABLE, None)
    if options.on_disk:
        campaign = Campaign(Path(options.on_disk), options.seed)
        return int(fix_interrupted.tried(campaign, "runs on a full disk", options.rounds, campaign.on_full_disk) > 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        campaign = Campaign(folder, options.seed)
        wrong = fix_interrupted.tried(campaign, "killed runs", options.kills, campaign.killed)
        wrong += fix_interrupted.tried(campaign, "damaged files", options.damages, campaign.damaged)
        wrong += fix_interrupted.tried(campaign, "times three runs at once", options.rounds, campaign.at_once)
        wrong += fix_interrupted.tried(campaign, "runs without permission", options.rounds, campaign.without_permission)
        wrong += fix_interrupted.on_small_disk(__file__, folder, "400k", options.rounds, options.seed)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
