#!/usr/bin/env python3
"""Fixes where somebody else uses the edited text, judged by the second user's own run.

    python benchmarks/fix_users.py [--tries 1500] [--seed 0] [--show harmful,half] [--kind shared_variable]

Every try draws a project (benchmarks/users/kinds.py) in which one run is at fault and another one uses the same text,
in another language in half of them. `--fix` is applied (or `enable`); then both are run: shell by bash, Python by
Python with the real package, whose start-up says whether it accepts a recipe, YAML by its loader. Launchers have
stand-ins that say what they are given. A fix is *harmful* where the second user's run prints anything else than before,
and *half* where the tool reports nothing more and a run at fault is still wrong. What can be fixed and is not is held
back, and the tool's reason is listed.

Exit code 1 where a fix is harmful or half, or where less than 95 % of what can be fixed is fixed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.users.kinds import KINDS  # noqa: E402
from benchmarks.users.project import Project  # noqa: E402
from mfsdp_lint.cli import main as lint  # noqa: E402

HERE = Path(__file__).parent / "users"
ENVIRONMENT = {
    "PATH": f"{HERE / 'commands'}:/usr/bin:/bin",
    "PLAIN_PYTHON": sys.executable,
    "PYTHONDONTWRITEBYTECODE": "1",
    "HOME": "/nonexistent",
}
_CODES = {"ckpt_format=torch_dist": "MFSDP101", "CUDA_DEVICE_MAX_CONNECTIONS=1": "MFSDP501", "refused: ": "MFSDP401"}
_REASON = re.compile(r"held back: \S+ (?:uses|runs) \S+|\d+ held back as unsafe")


@dataclass(frozen=True)
class Tried:
    """A try: its outcome, the tool's answer, and the difference of the files."""

    project: Project
    outcome: str
    said: str
    changed: str


def warm_up() -> None:
    """Load what every run needs, so that the children begin with it."""
    here = Path.cwd()
    for number in range(2 * len(KINDS)):
        project = KINDS[number % len(KINDS)](random.Random(number))
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
            for path, text in project.files.items():
                (Path(name) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(name) / path).write_text(text)
            os.chdir(name)
            with contextlib.suppress(SystemExit):
                lint(["--fix", "--no-cache", *project.lint])
            os.chdir(here)


@contextlib.contextmanager
def real_python(python: str) -> Iterator[None]:
    """Have programs run by a process that has imported the real package. Raises SystemExit where it cannot."""
    with tempfile.TemporaryDirectory() as name:
        place = f"{name}/socket"
        started = subprocess.Popen(
            [python, str(HERE / "real_python.py"), str(ROOT / "src"), place],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert started.stdout is not None
            if started.stdout.readline() != "ready\n":
                raise SystemExit(f"{python} cannot import megatron-bridge")
            ENVIRONMENT["REAL_PYTHON"] = place
            yield
        finally:
            started.kill()
            started.wait()


def tool(folder: Path, words: list[str]) -> tuple[int, str]:
    """Run the tool in a child of its own, and return its exit code and what it prints."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        os.chdir(folder)
        out = io.StringIO()
        code = 3
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                code = lint(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            os.write(write, json.dumps([code, out.getvalue()[:60_000]]).encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    code, said = json.loads(text)
    return code, said


def ran(folder: Path, command: str) -> str:
    """Return what a command prints, and its exit code."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    return f"{done.stdout}exit {done.returncode}\n" + (done.stderr if done.returncode else "")


def _told(project: Project, folder: Path) -> bool:
    """Tell whether the linter names the mistake of a project as it was."""
    for path, text in project.files.items():
        (folder / path).write_text(text)
    said = tool(folder, ["--no-cache", "--target-bridge", "0.3.1", *project.lint])[1]
    return any(code in said for wrong, code in _CODES.items() if wrong in project.wrong)


def tried(project: Project, folder: Path) -> Tried:
    """Write the project, fix it, and judge by what runs."""
    for path, text in project.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    if project.repository:
        (folder / ".git").mkdir()
    user_before = ran(folder, project.user)
    fault_before = [ran(folder, each) for each in project.at_fault]
    if not all(project.wrong in each for each in fault_before) or "exit 0" not in user_before:
        raise SystemExit(f"{project}: not at fault, or no user\n{project.files}\n{fault_before}\n{user_before}")
    words = [
        "--fix",
        "--no-cache",
        "--target-bridge",
        "0.3.1",
        *(["--unsafe-fixes"] if project.unsafe else []),
        *project.lint,
    ]
    if project.enable:
        words = ["enable", "--write", project.enable]
    code, said = tool(folder, words)
    changed = "".join(
        f"--- {path}\n{(folder / path).read_text()}"
        for path, text in project.files.items()
        if (folder / path).read_text() != text
    )
    fault, user = [ran(folder, each) for each in project.at_fault], ran(folder, project.user)
    wrong = [each for each in fault if project.wrong in each or "refused: " in each or "exit 0" not in each]
    if code == 3:
        outcome = "crashed"
    elif user != user_before:
        outcome = "harmful"
        said += f"\nuser before: {user_before}\nuser after: {user}"
    elif changed and wrong and (len(wrong) < len(fault) or "0 findings" in said or project.enable):
        # What the linter never told is no half of a fix.
        outcome = "half" if project.enable or _told(project, folder) else "overlooked"
        said += f"\nstill wrong: {wrong}"
    elif changed and not wrong:
        outcome = "fixed"
    elif changed:
        outcome = "changed in vain" if project.fixable else "rightly held back"
    else:
        outcome = "held back" if project.fixable else "rightly held back"
    return Tried(project, outcome, said, changed)


def main() -> int:
    """Draw, fix, run, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first try")
    parser.add_argument(
        "--python", default=str(ROOT / ".venv-dryrun/bin/python"), help="a Python with the real package"
    )
    parser.add_argument("--kind", default="", help="only kinds of this name")
    parser.add_argument("--show", default="", help="print the tries with these outcomes")
    parser.add_argument("--most", type=int, default=1000, help="how many of them")
    options = parser.parse_args()
    with real_python(options.python):
        return campaign(options)


def campaign(options: argparse.Namespace) -> int:
    """Count the outcomes of the tries, and print them."""
    began = time.monotonic()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    shown = 0
    languages: Counter[str] = Counter()
    kinds = [kind for kind in KINDS if options.kind in kind.__name__]
    warm_up()
    for number in range(options.first, options.first + options.tries):
        draw = random.Random(f"{options.seed} {number}")
        project = kinds[number % len(kinds)](draw)
        with tempfile.TemporaryDirectory() as name:
            done = tried(project, Path(name).resolve())
        table[project.kind][done.outcome] += 1
        table["all"][done.outcome] += 1
        languages[project.language] += 1
        if done.outcome == "held back":
            said = next((each[0] for each in re.finditer(_REASON, done.said)), "no finding, or no place for the value")
            reasons[f"{project.kind}, {project.language}: {said}"] += 1
        if done.outcome in options.show.split(",") and shown < options.most:
            shown += 1
            print(f"=== {number}: {project} · {done.outcome}")
            for path, text in project.files.items():
                print(f"# {path}\n{text}")
            print(f"lint {project.lint}\n{done.said}\n{done.changed}", flush=True)
    outcomes = sorted(table["all"])
    print(f"{'':24}" + "".join(f"{each:>18}" for each in outcomes))
    for kind in sorted(table, key=lambda each: (each == "all", each)):
        print(f"{kind:24}" + "".join(f"{table[kind][each] or '':>18}" for each in outcomes))
    print("second users:", ", ".join(f"{name} {count}" for name, count in languages.most_common()))
    for reason, count in reasons.most_common():
        print(f"{count:5} {reason}")
    every = table["all"]
    fixable = every["fixed"] + every["held back"] + every["harmful"] + every["half"] + every["changed in vain"]
    print(f"{every['fixed'] / max(fixable, 1):.1%} of what can be fixed; {time.monotonic() - began:.0f} s")
    bad = every["harmful"] + every["half"] + every["crashed"]
    return int(bad > 0 or every["fixed"] < 0.95 * fixable)


if __name__ == "__main__":
    sys.exit(main())
