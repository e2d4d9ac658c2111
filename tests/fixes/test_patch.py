"""Patches, as git reads them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mfsdp_lint.fixes.edits import make_patch

CONTENTS = {
    "plain": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "no newline at the end": (b"a\nb", b"a\nB"),
    "newline added at the end": (b"a\nb", b"a\nb\n"),
    "newline taken from the end": (b"a\nb\n", b"a\nb"),
    "CRLF": (b"a\r\nb\r\nc\r\n", b"a\r\nx\r\nb\r\nc\r\n"),
    "lone CR and form feeds": (b"a\rb\x0c\nc\x1dd\ne\n", b"a\rb\x0c\nc\x1dD\ne\n"),
    "byte order mark": (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nc\n"),
    "latin-1": (b"# \xe9\nx = 1\n", b"# \xe9\nx = 2\n"),
    "emptied": (b"a\n", b""),
    "many hunks": (
        b"".join(b"%d\n" % i for i in range(90)),
        b"".join(b"%d\n" % (i if i % 30 else -i - 1) for i in range(90)),
    ),
}
NAMES = ["a.py", "dir with space/my file.py", "é.py", 'quo"te.py', "tab\there.py"]


def git(repository: Path, *arguments: str, patch: bytes | None = None) -> None:
    subprocess.run(["git", *arguments], cwd=repository, input=patch, check=True, capture_output=True)


def test_a_line_that_stays_is_not_shown_as_changed() -> None:
    """Frequent lines, such as empty ones, count as others do."""
    before = b"".join(b"x%d\n\n" % number for number in range(400)) + b"a = 1\n\nreturn a\n\n"
    after = before.replace(b"a = 1\n\n", b"a = 2\n\nb = 3\n")
    patch = make_patch([("x.py", before, after)])
    assert patch.endswith(b" \n-a = 1\n+a = 2\n \n+b = 3\n return a\n \n")


@pytest.mark.parametrize(("before", "after"), CONTENTS.values(), ids=CONTENTS)
def test_git_applies_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, after: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    Path("x.py").write_bytes(before)
    patch = make_patch([("x.py", before, after)])
    git(tmp_path, "apply", "--check", "-", patch=patch)
    git(tmp_path, "apply", "-", patch=patch)
    assert (tmp_path / "x.py").read_bytes() == after


def test_many_files_with_odd_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    for name in NAMES:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(b"a\nb\n")
    patch = make_patch([(name, b"a\nb\n", b"a\nc\n") for name in NAMES])
    git(tmp_path, "apply", "-", patch=patch)
    assert [Path(name).read_bytes() for name in NAMES] == [b"a\nc\n"] * len(NAMES)


def test_how_it_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    patch = make_patch([("./r/my x.py", b"a\nb", b"a\nc"), (str(tmp_path / "y"), b"1\n", b"2\n"), ("same", b"x", b"x")])
    assert patch.decode() == (
        "--- a/r/my x.py\t\n+++ b/r/my x.py\t\n@@ -1,2 +1,2 @@\n a\n"
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
        "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n"
    )


def test_it_applies_in_a_folder_of_the_repository_too(tmp_path: Path) -> None:
    folder = tmp_path / "recipes"
    folder.mkdir()
    (folder / "a.py").write_bytes(b"x = 1\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    patch = make_patch([("a.py", b"x = 1\n", b"x = 2\n")])
    subprocess.run(["git", "apply"], cwd=folder, input=patch, check=True)
    assert (folder / "a.py").read_bytes() == b"x = 2\n"
