"""What the tool writes over a corpus: what SECURITY.md names, and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mfsdp_lint.inputs.projects import OWN_FOLDER

ROOT = Path(__file__).parent.parent
CORPUS = (ROOT / "examples", ROOT / "tests" / "recipes")

TRACED = """
import json, os, sys

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = (
    "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate",
    "os.setxattr", "os.removexattr", "os.utime",
)
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind")
seen = []

def hook(event, arguments):
    if event == "open" and not isinstance(arguments[0], int) and arguments[2] & WRITES:
        seen.append((event, str(arguments[0])))
    elif event in CHANGES:
        seen.extend((event, os.fsdecode(each)) for each in arguments[:2] if isinstance(each, (str, bytes)))
    elif event in STARTS:
        seen.append((event, repr(arguments)))

from mfsdp_lint.cli import main
main(["--version"])
sys.addaudithook(hook)
for command in json.loads(sys.argv[1]):
    main(command)
print(json.dumps(seen), file=sys.stderr)
"""

ASKING = (
    ["."],
    ["."],
    ["--output-format", "json", "--preset", "strict", "."],
    ["--diff", "--unsafe-fixes", "."],
    ["audit", "."],
    ["runs", "."],
    ["explain", "MFSDP101"],
    ["rules"],
    ["why", "llama3_8b_fsdp.py", "checkpoint.ckpt_format"],
    ["enable", "llama3_8b_fsdp.py"],
    ["upgrade", "--to", "0.6.0", "--pin", "--diff", "."],
    ["--show-settings"],
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """The corpus in a repository, with a configuration."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    for each in CORPUS:
        shutil.copytree(each, folder, dirs_exist_ok=True, symlinks=True)
    (folder / "mfsdp-lint.toml").write_text('output-format = ["json=report.json"]\n')
    return folder


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MFSDP", "GITHUB", "PYTEST"))}
    return kept | {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(folder.parent / "user"),
        "LC_ALL": "C.UTF-8",
    }


def named(folder: Path, path: str, *fixed: str) -> bool:
    """Tell whether SECURITY.md names a path: the cache, the secret, a report, and a file that fixing names."""
    real = os.path.normpath(os.path.join(folder, path))
    allowed = (str(folder / OWN_FOLDER), str(folder.parent / "user"), str(folder / "report.json"), os.devnull)
    return real.startswith(allowed) or real.removeprefix(f"{folder}/") in fixed


def traced(folder: Path, *commands: list[str]) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", TRACED, json.dumps(commands)],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    seen: list[list[str]] = json.loads(done.stderr.splitlines()[-1])
    return seen


def test_asking_writes_the_cache_the_secret_and_the_report_alone(corpus: Path) -> None:
    seen = traced(corpus, *ASKING)
    assert any(OWN_FOLDER in path for _, path in seen)
    assert [each for each in seen if not named(corpus, each[1])] == []


def test_fixing_writes_the_files_that_it_names_and_leaves_nothing_beside(corpus: Path) -> None:
    before = {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    seen = traced(corpus, ["--fix", "--unsafe-fixes", "--no-cache", "--output-format", "json=report.json", "."])
    fixed = {str(path.relative_to(corpus)) for path, content in before.items() if path.read_bytes() != content}
    assert fixed
    assert [each for each in seen if not named(corpus, each[1], *fixed)] == []
    now = {path for path in corpus.rglob("*") if path.is_file()}
    assert now - before.keys() == {corpus / "report.json"}


WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|^(?!openat|open\()")
CALLS = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat"


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_kernel_sees_the_same(corpus: Path) -> None:
    log = corpus.parent / "calls"
    changes = f"{CALLS},chmod,fchmodat,chown,fchownat,truncate,setxattr,connect,bind,execve"
    command = ["strace", "-f", "-qq", "-s", "400", "-e", f"trace={changes}", "-o", str(log)]
    command += [sys.executable, "-m", "mfsdp_lint", "."]
    done = subprocess.run(command, cwd=corpus, env=environment(corpus), capture_output=True, text=True, check=False)
    if not log.exists() or "ptrace" in done.stderr:
        pytest.skip("processes cannot be traced here")
    assert done.returncode == 1
    calls = [line.partition(" ")[2].strip() for line in log.read_text().splitlines()]
    written = [call for call in calls[1:] if WRITING.search(call) and " = -1 " not in call]
    assert any(OWN_FOLDER in call for call in written)
    paths = [path for call in written for path in re.findall(r'"((?:[^"\\]|\\.)*)"', call)]
    assert [path for path in paths if not named(corpus, path)] == []
