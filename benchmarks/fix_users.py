#!/usr/bin/env python3
"""Fixes where somebody else uses the edited text, judged by the second user's own run.

    python benchmarks/fix_users.py [--tries 1500] [--seed 0] [--show] [--kind "shared variable"]

Every try draws a project (benchmarks/users/kinds.py) in which one run is at fault and another one uses the same text,
in another language in half of them. `--fix` is applied (or `enable`); then both are run: shell by bash, Python by
Python, YAML by its loader, with stand-ins for launchers and upstream's recipe that say what they are given. A fix is
*harmful* where the second user's run prints anything else than before, and *half* where the tool reports nothing more
and a run at fault is still wrong. What can be fixed and is not is held back, and its reason is listed.

Exit code 1 where a fix is harmful or half, or where less than 95 % of what can be fixed is fixed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.users.kinds import KINDS  # noqa: E402
from benchmarks.users.project import Project  # noqa: E402
from mfsdp_lint.cli import main as lint  # noqa: E402

HERE = Path(__file__).parent / "users"
ENVIRONMENT = {
    "PATH": f"{HERE / 'commands'}:{{python}}:/usr/bin:/bin",
    "PYTHONPATH": str(HERE / "upstream"),
    "PYTHONDONTWRITEBYTECODE": "1",
    "HOME": "/nonexistent",
}


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
    environment = ENVIRONMENT | {"PATH": ENVIRONMENT["PATH"].format(python=Path(sys.executable).parent)}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    return f"{done.stdout}exit {done.returncode}\n" + (done.stderr if done.returncode else "")


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
    words = ["--fix", "--no-cache", *(["--unsafe-fixes"] if project.unsafe else []), *project.lint]
    if project.enable:
        words = ["enable", "--write", project.enable]
    code, said = tool(folder, words)
    changed = "".join(
        f"--- {path}\n{(folder / path).read_text()}"
        for path, text in project.files.items()
        if (folder / path).read_text() != text
    )
    fault, user = [ran(folder, each) for each in project.at_fault], ran(folder, project.user)
    wrong = [each for each in fault if project.wrong in each or "exit 0" not in each]
    if code == 3:
        outcome = "crashed"
    elif user != user_before:
        outcome = "harmful"
        said += f"\nuser before: {user_before}\nuser after: {user}"
    elif changed and wrong and (len(wrong) < len(fault) or "0 findings" in said or project.enable):
        outcome = "half"
        said += f"\nstill wrong: {wrong}"
    elif changed and not wrong:
        outcome = "fixed"
    elif changed:
        outcome = "changed in vain"
    else:
        outcome = "held back" if project.fixable else "rightly held back"
    return Tried(project, outcome, said, changed)


def main() -> int:
    """Draw, fix, run, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", default="", help="only kinds of this name")
    parser.add_argument("--show", default="", help="print the tries with these outcomes")
    parser.add_argument("--most", type=int, default=1000, help="how many of them")
    options = parser.parse_args()
    began = time.monotonic()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    shown = 0
    warm_up()
    for number in range(options.tries):
        draw = random.Random(f"{options.seed} {number}")
        kinds = [kind for kind in KINDS if options.kind in kind.__name__]
        project = kinds[number % len(kinds)](draw)
        with tempfile.TemporaryDirectory() as name:
            done = tried(project, Path(name).resolve())
        table[project.kind][done.outcome] += 1
        table["all"][done.outcome] += 1
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
    for reason, count in reasons.most_common():
        print(f"{count:5} {reason}")
    every = table["all"]
    fixable = every["fixed"] + every["held back"] + every["harmful"] + every["half"] + every["changed in vain"]
    print(f"{every['fixed'] / max(fixable, 1):.1%} of what can be fixed; {time.monotonic() - began:.0f} s")
    bad = every["harmful"] + every["half"] + every["crashed"]
    return int(bad > 0 or every["fixed"] < 0.95 * fixable)


if __name__ == "__main__":
    sys.exit(main())
