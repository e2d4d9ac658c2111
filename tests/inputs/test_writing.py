"""What is written is whole, and nothing that somebody else has is lost by it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

from mfsdp_lint.inputs.projects import OWN_FOLDER
from mfsdp_lint.inputs.writing import (
    NotWritten,
    check_writable,
    clear_up,
    exchange,
    remove_unfinished,
    replace_file,
)

EXCHANGE = "mfsdp_lint.inputs.writing.exchange"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    return path


def entries(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def test_mode_and_link_stay(path: Path) -> None:
    path.chmod(0o750)
    link = path.with_name("link.py")
    link.symlink_to("a.py")
    replace_file(str(link), b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


def test_where_there_are_neither_users_nor_links_a_file_is_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("geteuid", "link", "listxattr"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(EXCHANGE, lambda one, other: False)
    check_writable(str(path))
    replace_file(str(path), b"new")
    assert entries(path.parent) == {"a.py": b"new"}


def test_owner_and_group_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed: list[tuple[int, int]] = []
    made = os.stat

    class Foreign:
        """The file of another user, as a root user or a container sees it."""

        def __init__(self, status: os.stat_result) -> None:
            self.st_mode, self.st_nlink = status.st_mode, status.st_nlink
            self.st_uid, self.st_gid = status.st_uid + 1, status.st_gid + 1

    monkeypatch.setattr(os, "stat", lambda name: Foreign(made(name)))
    monkeypatch.setattr(os, "chown", lambda _, uid, gid: changed.append((uid, gid)))
    replace_file(str(path), b"new")
    assert changed == [(os.getuid() + 1, os.getgid() + 1)]

    def forbidden(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", forbidden)
    with pytest.raises(NotWritten, match="belongs to another user"):
        replace_file(str(path), b"newer")
    assert entries(path.parent) == {"a.py": b"new"}


def test_a_new_file_is_made(tmp_path: Path) -> None:
    replace_file(str(tmp_path / "new.py"), b"new")
    assert entries(tmp_path) == {"new.py": b"new"}


def test_a_read_only_file_is_left_alone(path: Path) -> None:
    path.chmod(0o444)
    with pytest.raises(NotWritten, match="read-only"):
        replace_file(str(path), b"new")
    assert entries(path.parent) == {"a.py": b"old"}


def test_a_file_with_other_names_is_left_alone(path: Path) -> None:
    os.link(path, path.with_name("b.py"))
    with pytest.raises(NotWritten, match="2 names"):
        replace_file(str(path), b"new")
    assert entries(path.parent) == {"a.py": b"old", "b.py": b"old"}


def test_what_somebody_else_wrote_meanwhile_stays(path: Path) -> None:
    def still_as_read() -> bool:
        path.write_bytes(b"theirs")
        return False

    with pytest.raises(NotWritten, match="changed by somebody else"):
        replace_file(str(path), b"new", still_as_read)
    assert entries(path.parent) == {"a.py": b"theirs"}


def write_over(path: Path) -> None:
    path.write_bytes(b"theirs")


def put_in_place(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"theirs")
    os.replace(other, path)


@pytest.mark.skipif(sys.platform != "linux", reason="files cannot change places in one step")
@pytest.mark.parametrize("write", [write_over, put_in_place])
def test_what_somebody_else_writes_just_before_the_step_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None]
) -> None:
    def after_a_write(one: str, other: str) -> bool:
        monkeypatch.undo()
        write(path)
        return exchange(one, other)

    monkeypatch.setattr(EXCHANGE, after_a_write)
    with pytest.raises(NotWritten, match="changed by somebody else"):
        replace_file(str(path), b"new")
    assert entries(path.parent) == {"a.py": b"theirs"}


@pytest.mark.skipif(sys.platform != "linux", reason="who has a file open cannot be told")
def test_what_somebody_is_about_to_write_into_the_file_stays(path: Path) -> None:
    theirs = path.open("r+b")

    def write() -> None:
        theirs.write(b"theirs")
        theirs.close()

    timer = Timer(0.2, write)
    timer.start()
    with pytest.raises(NotWritten, match="changed by somebody else"):
        replace_file(str(path), b"new")
    timer.join()
    assert entries(path.parent) == {"a.py": b"theirs"}


def test_where_files_cannot_change_places_the_old_one_keeps_a_name_meanwhile(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(source: str, target: str) -> None:
        monkeypatch.undo()
        write_over(path)
        os.replace(source, target)

    monkeypatch.setattr(EXCHANGE, lambda *_: False)
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(NotWritten, match="changed by somebody else"):
        replace_file(str(path), b"new")
    assert entries(path.parent) == {"a.py": b"theirs"}


def test_where_files_cannot_change_places_a_file_is_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EXCHANGE, lambda *_: False)
    replace_file(str(path), b"new")
    assert entries(path.parent) == {"a.py": b"new"}


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        replace_file(str(path), b"new")
    assert entries(path.parent) == {"a.py": b"old"}


KILLED = """
import os, signal, sys
from mfsdp_lint.inputs.writing import replace_file
replace_file(sys.argv[1], b"new", lambda: os.kill(os.getpid(), signal.SIGKILL))
"""
WAITING = """
import sys
from collections.abc import Callable
from mfsdp_lint.inputs.writing import replace_file
replace_file(sys.argv[1], b"new", lambda: print("ready", flush=True) or sys.stdin.readline() == "go\\n")
"""


def test_what_a_killed_run_left_is_removed_by_the_next_one(path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert os.listdir(path.parent / OWN_FOLDER)
    assert sorted(os.listdir(path.parent)) == [OWN_FOLDER, "a.py"]  # and nothing beside the sources
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path.parent)
        clear_up()
    assert entries(path.parent) == {"a.py": b"old"}
    replace_file(str(path), b"new")


KILLED_AT = """
import os, signal, sys
from mfsdp_lint.inputs import writing
def killed(*_): os.kill(os.getpid(), signal.SIGKILL)
at = sys.argv[2]
setattr(os if at in ("fsync", "replace") else writing, at, killed)
if at == "replace":
    writing.exchange = lambda *_: False
writing.replace_file(sys.argv[1], b"new")
"""


@pytest.mark.parametrize("moment", ["fsync", "_like", "_step", "exchange", "wait_for_writers", "replace"])
def test_a_run_that_is_killed_at_any_moment_leaves_nothing_beside_the_file(moment: str, path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_AT, str(path), moment], check=False)
    assert done.returncode < 0
    assert set(os.listdir(path.parent)) <= {OWN_FOLDER, "a.py"}
    assert path.read_bytes() in (b"old", b"new")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path.parent)
        clear_up()
    assert os.listdir(path.parent) == ["a.py"]


def test_where_the_one_place_leads_elsewhere_it_is_not_used(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".mfsdp-lint-theirs.tmp").write_text("x")
    (path.parent / OWN_FOLDER).symlink_to(elsewhere)
    replace_file(str(path), b"new")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path.parent)
        clear_up()
    assert path.read_bytes() == b"new"
    assert os.listdir(elsewhere) == [".mfsdp-lint-theirs.tmp"]


def test_a_link_among_the_leftovers_keeps_none_of_them(path: Path) -> None:
    names = [f".mfsdp-lint-{each}.tmp" for each in "abc"]
    for name in names[::2]:
        (path.parent / name).write_text("x")
    (path.parent / names[1]).symlink_to("/etc/passwd")
    remove_unfinished([str(path.parent)])
    assert sorted(os.listdir(path.parent)) == [names[1], "a.py"]


def test_what_another_run_is_writing_is_not(path: Path) -> None:
    command = [sys.executable, "-c", WAITING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "ready\n"
        remove_unfinished([str(path.parent / OWN_FOLDER)])
        assert os.listdir(path.parent / OWN_FOLDER)
        other.communicate("go\n")
    assert entries(path.parent) == {"a.py": b"new"}
