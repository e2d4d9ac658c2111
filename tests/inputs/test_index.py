"""The index knows of a file what its text says, and opens it only where its stamp is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs import discover, disk, index
from mfsdp_lint.inputs.names_reached import pieces_of


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Keeps every index that is written, of few files already, and trusts stamps at once."""
    monkeypatch.setattr(disk, "RACY", -(10**9))
    monkeypatch.setattr(index, "MOST_NEW", 0)
    return []


def _asked(path: Path, store: list[bytes]) -> index.FileFacts:
    with index.kept(lambda: store[-1] if store else None, store.append):
        return index.facts(str(path))


def test_a_file_has_words_and_imports(tmp_path: Path, store: list[bytes]) -> None:
    (tmp_path / "user.py").write_text("from lib.helper import shard as cut\nimport other\n\ncut(größe)\n", "utf-8")
    known = _asked(tmp_path / "user.py", store)
    assert [known.has("cut"), known.has("größe"), known.has("lib/helper.py"), known.has("shar")] == [
        *(True, True),
        *(False, False),
    ]
    assert known.has_any({"nothing", "shard"})
    assert known.imported() == {("lib", "helper"): {"shard"}, ("lib", "helper", "shard"): {""}, ("other",): {""}}
    assert not known.hands_on


def test_a_file_with_its_stamp_is_not_opened(
    tmp_path: Path, store: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "launch.sh"
    file.write_text("torchrun train.py\n")
    first = _asked(file, store)
    with monkeypatch.context() as nobody:
        nobody.setattr(disk, "read", None)
        assert _asked(file, store) == first
    assert len(store) == 1
    file.write_text("torchrun other.py\n")
    assert _asked(file, store).has("other")


def test_an_unopened_file_is_looked_at_as_a_read_one(tmp_path: Path, store: list[bytes]) -> None:
    file = tmp_path / "launch.sh"
    file.write_text("torchrun train.py\n")
    records = []
    for _ in range(2):
        with disk.recorded() as record:
            _asked(file, store)
        records.append(record.watched())
    assert records[0] == records[1]


@pytest.mark.parametrize("content", [b"", b"\x00", b"{}", b"\x81\xa1a\x01"])
def test_a_damaged_index_is_none(content: bytes, tmp_path: Path, store: list[bytes]) -> None:
    (tmp_path / "launch.sh").write_text("torchrun train.py\n")
    assert _asked(tmp_path / "launch.sh", [content]).has("torchrun")


def test_what_cannot_be_read_says_nothing(tmp_path: Path, store: list[bytes]) -> None:
    missing = tmp_path / "missing.py"
    assert _asked(missing, store) == index.FileFacts(str(missing))


def test_words_of_python_are_found_once_somebody_asks(tmp_path: Path, store: list[bytes]) -> None:
    file = tmp_path / "user.py"
    file.write_text("import helper\n")
    before = len(_asked(file, store).imported()), len(store)
    with index.kept(lambda: store[-1], store.append):
        assert index.facts(str(file)).has("helper")
    assert before == (1, 1)
    assert len(store) == 2


def test_the_statements_of_a_module_are_taken_apart_once(
    tmp_path: Path, store: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, broken = tmp_path / "user.py", tmp_path / "broken.py"
    file.write_text("from helper import shard\n\ndef recipe():\n    return shard()\n")
    broken.write_text("def recipe(:\n")

    def asked() -> list[object]:
        with index.kept(lambda: store[-1] if store else None, store.append):
            return [index.facts(str(each)).pieces for each in (file, broken)]

    first = asked()
    assert first == [pieces_of(file.read_text()), None]
    monkeypatch.setattr(index, "pieces_of", None)
    assert asked() == first


def test_what_git_ignores_is_asked_of_the_patterns_once(
    tmp_path: Path, store: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    patterns = tmp_path / ".gitignore"
    patterns.write_text("out/\n*_old.py\n!keep_old.py\n")
    entries = [("out", True), ("one_old.py", False), ("keep_old.py", False), ("new.py", False)]

    def asked() -> list[bool]:
        with index.kept(lambda: store[-1] if store else None, store.append):
            ignored = discover.GitIgnored()
            return [ignored(str(tmp_path), name, is_folder) for name, is_folder in entries]

    first = asked()
    assert first == [True, True, False, False]
    with monkeypatch.context() as nobody:
        nobody.setattr(discover, "_spec", None)
        assert asked() == first
    assert len(store) == 1
    patterns.write_text("new.py\n")
    assert asked() == [False, False, False, True]
