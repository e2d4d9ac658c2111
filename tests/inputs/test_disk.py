"""Every look at the disk can be taken again, and no look is taken past the module that keeps them."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path
from time import sleep

import pytest

from mfsdp_lint.inputs import disk

PACKAGE = Path(disk.__file__).parents[1]

DECIDING = ("detect", "inputs", "readers", "engine", "rules", "results")
"""The packages whose looks decide what a run comes to."""

OTHERS = {
    "inputs/disk.py": "looks itself",
    "inputs/writing.py": "writes, and --fix is always done",
    "inputs/dependents.py": "asks for the size of what it reads next",
    "inputs/configuration.py": "the configuration is read by every run, before anything is known of it",
    "inputs/sources.py": "says why a file cannot be opened, and whether one may be written",
    "inputs/history.py": "writes what git has, and --since is always done",
    "engine/earlier.py": "asks of --since, which is always done",
    "engine/write.py": "writes",
    "engine/cache.py": "looks after its own files",
    "readers/python/eval/written.py": "a part of the tool",
    "readers/programs.py": "a part of the tool",
    "rules/load.py": "a team's rules are looked at by engine/cache.py",
    "rules/selection.py": "a team's rules are looked at by engine/cache.py",
}
"""Who may look by other means, and why."""

LOOKS = {
    *(f"os.path.{name}" for name in ("exists", "getsize", "isdir", "isfile", "islink", "lexists", "realpath")),
    *(f"os.{name}" for name in ("listdir", "lstat", "open", "readlink", "scandir", "stat", "walk")),
    *(f"files.{name}" for name in ("descriptor", "opened", "read", "text")),
}
METHODS = {"exists", "is_dir", "is_file", "iterdir", "read_bytes", "read_text", "rglob"}


def _looks(path: Path) -> list[str]:
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    names = {ast.unparse(each) for each in calls}
    methods = {f".{each.attr}" for each in calls if isinstance(each, ast.Attribute) and each.attr in METHODS}
    return sorted((names & LOOKS) | {each for each in methods if not _is_ours(each, names)})


def _is_ours(method: str, names: set[str]) -> bool:
    """Whether it is a method of `disk`, or of what looks through it."""
    mine = {name for name in names if name.endswith(method)}
    return all(name.rpartition(".")[0].endswith(("disk", "sources", "files")) for name in mine)


MODULES = [
    path.relative_to(PACKAGE).as_posix()
    for package in DECIDING
    for path in sorted((PACKAGE / package).rglob("*.py"))
    if "written" not in path.parent.name
]


@pytest.mark.parametrize("module", MODULES)
def test_whoever_decides_a_run_looks_through_here(module: str) -> None:
    found = _looks(PACKAGE / module)
    assert not found or module in OTHERS


def test_those_who_may_look_by_other_means_do() -> None:
    assert all(_looks(PACKAGE / module) for module in OTHERS)


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.py").write_text("x = 1\n")
    (tmp_path / "link").symlink_to("file.py")
    return tmp_path


_GRAIN = 0.05
"""Seconds; within fewer a file system's clock may stand still."""


def _write(there: Path) -> None:
    (there / "file.py").write_text("x = 2\n")


def _remove(there: Path) -> None:
    (there / "file.py").unlink()


def _make_folder(there: Path) -> None:
    (there / "file.py").unlink()
    (there / "file.py").mkdir()


def _add(there: Path) -> None:
    (there / "other.py").write_text("")


def _turn(there: Path) -> None:
    (there / "link").unlink()
    (there / "link").symlink_to("folder")


def _is_no_link(there: Path) -> None:
    (there / "link").unlink()
    (there / "link").write_text("x = 1\n")


Looking = Callable[[Path], object]

SEEN: tuple[tuple[Looking, Looking], ...] = (
    (lambda there: disk.read(str(there / "file.py")), _write),
    (lambda there: disk.read(str(there / "file.py"), 5), _write),
    (lambda there: disk.read(str(there / "file.py")), _remove),
    (lambda there: "other.py" in disk.Listing(str(there)), _add),
    (lambda there: "file.py" in disk.Listing(str(there)), _remove),
    (lambda there: disk.Listing(str(there)).matching("*.py"), _add),
    (lambda there: disk.entries(str(there)), _add),
    (lambda there: disk.entries(str(there)), _make_folder),
    (lambda there: disk.entries(str(there)), _turn),
    (lambda there: disk.kind(str(there / "file.py")), _make_folder),
    (lambda there: disk.mode(str(there / "file.py")), _make_folder),
    (lambda there: disk.exists(str(there / "other.py")), _add),
    (lambda there: disk.is_link(str(there / "link")), _is_no_link),
    (lambda there: disk.real(str(there / "link")), _turn),
)

UNSEEN: tuple[tuple[Looking, Looking], ...] = (
    (lambda there: "file.py" in disk.Listing(str(there)), _add),
    (lambda there: disk.Listing(str(there)).matching("*.toml"), _add),
    (lambda there: disk.read(str(there / "file.py"), 3), _write),
    (lambda there: disk.exists(str(there / "file.py")), _write),
    (lambda there: disk.entries(str(there)), _write),
)


@pytest.mark.parametrize(("look", "change"), SEEN)
def test_a_change_shows(look: Looking, change: Looking, there: Path) -> None:
    with disk.recorded() as record:
        look(there)
    looks = record.watched()
    assert looks
    assert disk.shows_the_same(looks)
    change(there)
    assert not disk.shows_the_same(looks)


@pytest.mark.parametrize(("look", "change"), UNSEEN)
def test_a_change_that_nobody_looked_at_does_not(look: Looking, change: Looking, there: Path) -> None:
    with disk.recorded() as record:
        look(there)
    change(there)
    assert disk.shows_the_same(record.watched())


@pytest.mark.parametrize(
    "look", [disk.read, disk.mode, disk.entries], ids=lambda look: getattr(look, "__name__", "look")
)
def test_a_failure_is_a_look_as_well(look: Callable[[str], object], there: Path) -> None:
    path = str(there / "later")
    with disk.recorded() as record, pytest.raises(OSError, match="later"):
        look(path)
    looks = record.watched()
    assert disk.shows_the_same(looks)
    os.mkdir(path)
    assert not disk.shows_the_same(looks)


def test_what_has_its_stamp_is_not_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "RACY", 0)
    file, folder = tmp_path / "file.py", str(tmp_path)
    file.write_text("x = 1\n")
    sleep(_GRAIN)
    with disk.recorded() as record:
        assert disk.read(str(file))
        assert "other.py" not in disk.Listing(folder)
        assert [disk.kind(str(file)), disk.is_link(str(file)), len(disk.entries(folder))] == ["file", False, 1]
        assert not disk.exists(str(tmp_path / "no" / "such" / "file.py"))
    looks = record.watched()
    with monkeypatch.context() as nobody:
        nobody.setattr(disk, "_AGAIN", {})
        assert disk.shows_the_same(looks)
    sleep(_GRAIN)
    (tmp_path / "no" / "such").mkdir(parents=True)
    assert {look.how for each in looks for look in disk.compared(each)[1]} == {"entries"}
    (tmp_path / "no" / "such" / "file.py").write_text("")
    assert {look.how for each in looks for look in disk.compared(each)[1]} == {"entries", "mode"}


def test_what_no_look_tells_makes_the_record_incomplete(there: Path) -> None:
    with disk.recorded() as record:
        disk.is_not_all()
    assert not record.complete


def test_only_while_recorded_is_anything_kept(there: Path) -> None:
    with disk.recorded() as outer, disk.recorded() as inner:
        disk.exists(str(there))
    disk.exists(str(there / "file.py"))
    assert [len(inner.looks), len(outer.looks)] == [1, 0]


def test_looks_that_are_taken_over_are_those_of_the_run_each_once(there: Path) -> None:
    file, folder = str(there / "file.py"), str(there)
    with disk.recorded() as before:
        disk.read(file)
        assert disk.exists(file)
        assert "file.py" in disk.Listing(folder)
    with disk.recorded() as outer, disk.recorded(as_part=True) as record:
        disk.take_over(disk.compared(each)[0] for each in before.watched())
        disk.read(file)
        assert "other.py" not in disk.Listing(folder)
    found = [look for each in record.watched() for look in each.looks]
    assert len(found) == len(set(found)) == len(before.looks) + 1
    assert set(found) == {look for each in outer.watched() for look in each.looks}
    (there / "file.py").unlink()
    assert not disk.shows_the_same(record.watched())


def test_damaged_looks_show_nothing() -> None:
    assert not disk.shows_the_same([disk.Watched("file.py", None, (b"\xc1",))])
