#!/usr/bin/env python3
"""`--fix` that is killed, that others write beside, on a full disk, and where it may not write.

    python benchmarks/fix_interrupted.py [--kills 300] [--edits 300] [--rounds 20] [--seed 0]

Each run is a process of its own on a fresh copy of a small project (fixes of single files, one that spans two files, a
YAML file). Half of the moments are drawn over the whole run, half while it writes. What has to hold:

- killed (SIGKILL): every file is the old one or the new one, whole, with its mode; the next run comes to what an
  undisturbed one does, and leaves no unfinished file behind;
- edited by another process meanwhile, in place or by replacing the file: the edit is still there;
- on a full disk (a small tmpfs of its own), in folders without write permission (as the user nobody): what could not
  be written is as it was, nothing is left behind, and it is said; exit code 1;
- the summary is true: `fixed` is what is gone, and the findings are those that the files then have.

Exit code 1 where anything of that does not hold. Needs Linux, and root for the last two.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint import process  # noqa: E402
from mfsdp_lint.cli import main as mfsdp_lint  # noqa: E402
from mfsdp_lint.inputs.projects import OWN_FOLDER  # noqa: E402
from mfsdp_lint.inputs.writing import PREFIX  # noqa: E402

VERSION = "0.3.1"
NOBODY = 65534

_HEAD = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\n\n"
_PADDING = "".join(f"# {number:05d} a long file takes longer to write\n" for number in range(1500))
_SHARDED = """def sharded_config():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.pretrained_checkpoint = None
    cfg.checkpoint.load = None
    cfg.checkpoint.ckpt_format = "torch_dist"  # as always
    return cfg
"""
_OFFLOADED = """from depth import with_depth


def offloaded_config():
    cfg = with_depth(llama3_8b_pretrain_config())
    cfg.model.pipeline_model_parallel_size = 2
    cfg.model.cpu_offloading = True
    return cfg
"""
_DEPTH = "def with_depth(cfg):\n    cfg.model.cpu_offloading_num_layers = 4\n    return cfg\n"

PROJECT: Mapping[str, str] = {
    "pyproject.toml": "",
    "a.py": _HEAD + _SHARDED + _PADDING,
    "b/c.py": _HEAD + _SHARDED + _PADDING,
    "d.py": _HEAD + _SHARDED,
    "depth.py": _DEPTH + _PADDING,
    "offloaded.py": _HEAD + _OFFLOADED,
    "overrides.yaml": "dist:\n  use_megatron_fsdp: true\n  use_torch_fsdp2: true  # both\n",
}
MODE = 0o640


@dataclass(frozen=True, slots=True)
class Ended:
    """End of a run: its exit code (minus the signal), its JSON document if it has one, and its complaints."""

    code: int
    document: Mapping[str, Any]
    complaints: str


class Run:
    """`mfsdp-lint` in a folder, in a process that is forked from this one: what it needs is imported already."""

    def __init__(self, folder: Path, *options: str, first: Callable[[], None] = lambda: None) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed in `end`
        self._complained = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = os.fork()
        if self.process:
            return
        code = 70
        try:
            os.dup2(self._said.fileno(), 1)
            os.dup2(self._complained.fileno(), 2)
            os.chdir(folder)
            first()
            code = mfsdp_lint([*options, "--target-bridge", VERSION, "--output-format", "json", "."])
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def running(self) -> bool:
        """Tell whether it has not ended yet."""
        return os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def kill(self) -> None:
        """End the process as `kill -9` does."""
        os.kill(self.process, signal.SIGKILL)

    def end(self) -> Ended:
        """Wait for it."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        said, complained = (_read(file) for file in (self._said, self._complained))
        return Ended(code, json.loads(said) if said and code in (0, 1) else {}, complained)


def _read(file: Any) -> str:
    file.seek(0)
    with file:
        return str(file.read().decode())


class Trials(Protocol):
    """A campaign: what did not hold in its trials, in words, and what else is counted."""

    broken: list[str]
    counts: Counter[str]


class Campaign:
    """The trials, and whatever did not hold in them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.broken: list[str] = []
        self.counts: Counter[str] = Counter()
        self._warmed_up()
        began = time.monotonic()
        self.new = self._undisturbed()
        self.seconds = time.monotonic() - began
        self.findings_before = self._findings(self.fresh())

    def _warmed_up(self) -> None:
        """Run once, so that all that a run imports and reads once is there when it is forked."""
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            os.chdir(self.fresh())
            mfsdp_lint(["--fix", "--target-bridge", VERSION, "--output-format", "json", "."])
            os.chdir(self.folder)

    def _undisturbed(self) -> dict[str, str]:
        place = self.fresh()
        ended = Run(place, "--fix").end()
        texts = texts_of(place)
        assert {path for path in PROJECT if texts[path] != PROJECT[path]} == PROJECT.keys() - {"pyproject.toml"}, texts
        assert ended.document["summary"]["fixed"], ended
        return texts

    def fresh(self) -> Path:
        """Make a new copy of the project, in the place of the last one."""
        place = self.folder / "project"
        shutil.rmtree(place, ignore_errors=True)
        for path, text in PROJECT.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
            (place / path).chmod(MODE)
        return place

    def moment(self, place: Path, run: Run) -> None:
        """Wait for a moment of the run: any, or one while it writes."""
        if self.chance.random() < 0.5:
            time.sleep(self.chance.random() * self.seconds)
            return
        deadline = time.monotonic() + 60
        while run.running() and not unfinished(place) and time.monotonic() < deadline:
            pass
        time.sleep(self.chance.random() ** 2 * 0.02)

    def killed(self, number: int) -> None:
        """Try one run that is killed, and the one after it."""
        place = self.fresh()
        run = Run(place, "--fix")
        self.moment(place, run)
        run.kill()
        self.counts["killed in time" if run.end().code < 0 else "too late to kill"] += 1
        told = f"kill {number}"
        texts = texts_of(place)
        for path, text in texts.items():
            if text not in (PROJECT[path], self.new[path]):
                self.broken.append(f"{told}: {path} is torn")
            if stat.S_IMODE((place / path).stat().st_mode) != MODE:
                self.broken.append(f"{told}: {path} has another mode")
        self.counts["left an unfinished file"] += bool(unfinished(place))
        self.counts["some files written"] += len({texts[path] == self.new[path] for path in PROJECT}) == 2
        ended = Run(place, "--fix").end()
        if texts_of(place) != self.new:
            different = [path for path, text in texts_of(place).items() if text != self.new[path]]
            self.broken.append(f"{told}: the next run leaves {', '.join(different)} different: {ended.complaints}")
        self._nothing_left(told, place)

    def edited(self, number: int) -> None:
        """Try one run beside which another process edits a file."""
        place = self.fresh()
        path = self.chance.choice([each for each in PROJECT if each != "pyproject.toml"])
        line = f"# somebody else's {number}\n"
        in_place = self.chance.random() < 0.5
        run = Run(place, "--fix")
        self.moment(place, run)
        self.counts["edits beside a run"] += run.running()
        if in_place:
            with (place / path).open("a") as file:
                file.write(line)
        else:
            text = (place / path).read_text()
            (place / "theirs").write_text(text + line)
            (place / "theirs").chmod(MODE)
            os.replace(place / "theirs", place / path)
        ended = run.end()
        told = f"edit {number} of {path} {'in place' if in_place else 'by replacing it'}"
        after = (place / path).read_text()
        if not after.endswith(line):
            self.broken.append(f"{told}: lost")
        elif after.removesuffix(line) not in (PROJECT[path], self.new[path]):
            self.broken.append(f"{told}: torn")
        self.counts["files left to the other process"] += "changed by somebody else" in ended.complaints
        self._true(told, place, ended)
        self._nothing_left(told, place)

    def without_permission(self, number: int) -> None:
        """Try a run as the user nobody, who may write in some folders."""
        place = self.fresh()
        for each in (place, *place.rglob("*")):
            os.chown(each, NOBODY, NOBODY)
        closed = self.chance.choice([[place, place / "b"], [place], [place / "b"]])
        for folder in closed:
            folder.chmod(0o555)
        ended = Run(place, "--fix", first=as_nobody).end()
        told = f"no permission {number}"
        for path, text in texts_of(place).items():
            if (place / path).parent in closed and text != PROJECT[path]:
                self.broken.append(f"{told}: {path} was written all the same")
        self._told_or_written(told, place, ended)

    def on_full_disk(self, number: int) -> None:
        """Try a run with room for some of the files and not for all."""
        place = self.fresh()
        room = self.chance.choice([0, 4096, 40_000, 80_000, 130_000])
        disk = os.statvfs(place)
        free = disk.f_bavail * disk.f_frsize
        filler = place.parent / "filler"
        filler.write_bytes(b"x" * max(0, free - room))
        ended = Run(place, "--fix").end()
        filler.unlink()
        self._told_or_written(f"full disk {number} with {room} bytes", place, ended)

    def _told_or_written(self, told: str, place: Path, ended: Ended) -> None:
        """Check that files are old or new, and that every old one is named."""
        texts = texts_of(place)
        for path, text in texts.items():
            if text not in (PROJECT[path], self.new[path]):
                self.broken.append(f"{told}: {path} is torn")
        old = [path for path in PROJECT if texts[path] != self.new[path]]
        self.counts["files that could not be written"] += len(old)
        if any(f"{path}: not written" not in ended.complaints for path in old):
            self.broken.append(f"{told}: {', '.join(old)} not all named: {ended.complaints}")
        if bool(old) and ended.code != 1:
            self.broken.append(f"{told}: exit code {ended.code}: {ended.complaints}")
        self._true(told, place, ended)
        self._nothing_left(told, place)

    def _true(self, told: str, place: Path, ended: Ended) -> None:
        """Check that the run's own document agrees with the files now."""
        if not ended.document:
            self.broken.append(f"{told}: no summary, exit code {ended.code}: {ended.complaints}")
            return
        left = self._findings(place)
        said = Counter((finding["code"], finding["path"]) for finding in ended.document["findings"])
        if said != left:
            self.broken.append(f"{told}: it says {dict(said - left)} remain, and not {dict(left - said)}")
        gone = sum((self.findings_before - left).values())
        if ended.document["summary"]["fixed"] != gone:
            self.broken.append(f"{told}: it says {ended.document['summary']['fixed']} fixed, and {gone} are")

    def _findings(self, place: Path) -> Counter[tuple[str, str]]:
        document = Run(place).end().document
        return Counter((finding["code"], finding["path"]) for finding in document["findings"])

    def _nothing_left(self, told: str, place: Path) -> None:
        if names := unfinished(place):
            self.broken.append(f"{told}: {', '.join(names)} left behind")


def texts_of(place: Path) -> dict[str, str]:
    """Read the files of a copy of the project."""
    return {path: (place / path).read_text() for path in PROJECT}


def unfinished(place: Path) -> list[str]:
    """List the unfinished files in a copy of the project."""
    folders = [each for each in (place, place / "b", place / OWN_FOLDER) if each.is_dir()]
    return [name for folder in folders for name in os.listdir(folder) if name.startswith(PREFIX)]


def as_nobody() -> None:
    """Limit the process to the permissions of the user nobody from now on."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def tried(campaign: Trials, what: str, number: int, one: Callable[[int], None]) -> int:
    """Run some trials of one kind and print the result; return the number of failures."""
    began, before = time.monotonic(), len(campaign.broken)
    campaign.counts.clear()
    for each in range(number):
        one(each)
    counts = ", ".join(f"{count} {name}" for name, count in sorted(campaign.counts.items()))
    wrong = campaign.broken[before:]
    took = f"{time.monotonic() - began:.0f} s"
    print("; ".join(filter(None, (f"{number} {what}: {len(wrong)} wrong", counts, took))), *wrong, sep="\n  ")
    sys.stdout.flush()
    return len(wrong)


def on_small_disk(script: str, folder: Path, size: str, rounds: int, seed: int) -> int:
    """Start a campaign's script again for a disk of its own that can be filled; return the number of failures."""
    disk = folder / "disk"
    disk.mkdir()
    again = [sys.executable, script, "--on-disk", str(disk), "--rounds", str(rounds), "--seed", str(seed)]
    mounted = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
    return subprocess.run(["unshare", "--mount", "sh", "-c", mounted, str(disk), *again], check=False).returncode


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--edits", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=20, help="on a full disk, and without permission")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--on-disk", metavar="DIR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    process.own()
    if options.on_disk:
        campaign = Campaign(Path(options.on_disk), options.seed)
        return int(tried(campaign, "runs on a full disk", options.rounds, campaign.on_full_disk) > 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        campaign = Campaign(folder, options.seed)
        wrong = tried(campaign, "killed runs", options.kills, campaign.killed)
        wrong += tried(campaign, "runs beside which somebody edits", options.edits, campaign.edited)
        wrong += tried(campaign, "runs without permission", options.rounds, campaign.without_permission)
        wrong += on_small_disk(__file__, folder, "600k", options.rounds, options.seed)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
