"""Runs a script in a real bash that reaches nothing: no network, a root folder of its own, and no program but a few."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("bash", "cat", "dirname", "basename", "realpath", "env", "mkdir")
"""What scripts are put together with. Every other program is recorded instead of run (sandbox.sh)."""

_LIBRARY = re.compile(r"(/\S+)")
_SECONDS = 5


@dataclass(frozen=True)
class Command:
    """A program as it would have been started."""

    words: tuple[str, ...]
    environment: Mapping[str, str]


class Sandbox:
    """A folder that is the whole world of a script. Needs root, and `unshare`."""

    def __init__(self, folder: Path, programs: Sequence[str] = ()) -> None:
        """Fill a folder. `programs` are run like PROGRAMS instead of recorded."""
        self.folder = folder
        for name in ("bin", "dev", "proc", "tmp", "home"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, target in (("dev/fd", "/proc/self/fd"), ("usr/bin", "/bin")):
            (folder / name).parent.mkdir(exist_ok=True)
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(target)
        for program in (*PROGRAMS, *programs):
            self._copy(Path(shutil.which(program) or program), folder / "bin" / program)
        shutil.copy(Path(__file__).with_name("sandbox.sh"), folder / "bin" / "sandbox.sh")

    def run(
        self,
        files: Mapping[str, str],
        script: str,
        environment: Mapping[str, str],
        says: str,
        arguments: Sequence[str] = (),
        place: str = "here",
        tree: Path | None = None,
    ) -> list[Command] | None:
        """Run a script; return the programs that it starts, in order; None if bash refuses it, or it does not end.

        The files lie at a place, over those of a tree, which stays as it is.
        """
        work = self.folder / place
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        for path, text in files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text, encoding="utf-8", newline="")
        # What a script leaves running in the background writes on, where nobody looks.
        record = Path(tempfile.mkdtemp(dir=self.folder / "tmp"))
        record.chmod(0o777)
        (self.folder / "dev" / "null").write_bytes(b"")
        given = {
            "PATH": "/bin",
            "HOME": "/home",
            "RECORD": f"/tmp/{record.name}",
            "SAYS": says,
            "BASH_ENV": "/bin/sandbox.sh",
            **environment,
        }
        limits = f"ulimit -t 3 -v 400000 -f 4000 -u 200; cd /{place}; exec /bin/bash"
        chroot = shlex.join([shutil.which("chroot") or "chroot", str(self.folder), "/bin/bash", "-c"])
        inside = f"""exec {chroot} '{limits} "$0" "$@"' "$0" "$@\""""
        command = ["unshare", "-n", "-p", "-m", "-f", "--kill-child", "/bin/bash", "-c"]
        command.append(f"mount -t proc proc {self.folder}/proc && {_over(tree, work)} && {inside}" if tree else inside)
        try:
            ended = subprocess.run(
                [*command, script, *arguments],
                env=given,
                capture_output=True,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # `kill 0` of a script reaches the whole group, also out of its namespace
            )
        except subprocess.TimeoutExpired:
            return None
        if re.search(rb"syntax error|unexpected EOF|bad substitution|not a valid identifier", ended.stderr):
            return None
        return [_command(path.read_bytes()) for path in sorted(record.iterdir())]

    def _copy(self, program: Path, to: Path) -> None:
        shutil.copy(os.path.realpath(program), to)
        needs = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
        for library in _LIBRARY.findall(needs):
            target = self.folder / library.lstrip("/")
            if not target.exists() and os.path.exists(library):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(os.path.realpath(library), target)


def _over(tree: Path, work: Path) -> str:
    """Return the shell's commands that put the files of a folder over those of a tree."""
    paper = shlex.quote(str(work.parent / f".{work.name}"))
    lower, mount = shlex.quote(f"lowerdir={work}:{tree}"), f"upperdir={paper}/up,workdir={paper}/work"
    return (
        f"mkdir -p {paper} && mount -t tmpfs tmpfs {paper} && mkdir {paper}/up {paper}/work"
        f" && mount -t overlay overlay -o {lower},{mount} {shlex.quote(str(work))}"
    )


def _command(record: bytes) -> Command:
    words, _, variables = record.decode("utf-8", "replace").partition("\1ENV\0")
    pairs = (each.partition("=") for each in variables.split("\0") if each)
    return Command(tuple(words.split("\0")[:-1]), {name: value for name, _, value in pairs})
