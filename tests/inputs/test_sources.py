"""Files as text and back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mfsdp_lint.inputs.sources import SIZE_LIMIT, Sources, Unreadable


def write(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


def unreadable(path: str) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        Sources().text(path)
    return caught.value


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        pytest.param("a.py", b"x = 1\r\ny = 2\rz = 3\n", "x = 1\r\ny = 2\rz = 3\n", id="line endings are kept"),
        pytest.param("a.py", b"\xef\xbb\xbfx = 1\n", "x = 1\n", id="a byte order mark is not text"),
        pytest.param(
            "a.py", "# coding: latin-1\n'\xe9'\n".encode("latin-1"), "# coding: latin-1\n'\xe9'\n", id="cookie"
        ),
        pytest.param("a.py", b"#!x\n# -*- coding: cp1252 -*-\n'\x80'", "#!x\n# -*- coding: cp1252 -*-\n'€'", id="2nd"),
        pytest.param("a.py", b"\xef\xbb\xbf# coding: utf-8\n", "# coding: utf-8\n", id="byte order mark and cookie"),
        pytest.param(
            "a.yaml", "# coding: latin-1\na: é\n".encode(), "# coding: latin-1\na: é\n", id="YAML has no cookie"
        ),
        pytest.param("a.yaml", b"", "", id="an empty file"),
    ],
)
def test_a_file_is_read_as_text_and_given_back_byte_by_byte(tmp_path: Path, name: str, data: bytes, text: str) -> None:
    path = write(tmp_path, name, data)
    sources = Sources()
    assert sources.text(path) == text
    assert sources.encode(path, text) == data


@pytest.mark.parametrize(
    ("name", "data", "line", "column", "message"),
    [
        ("a.yaml", b"a: 1\r\nb: \xff\n", 2, 4, "not UTF-8 (byte 0xff at offset 9)"),
        ("a.py", b"\xef\xbb\xbfx = '\xff'\n", 1, 6, "not UTF-8 (byte 0xff at offset 8)"),
        ("a.py", b"# coding: ascii\nx = 'caf\xc3\xa9'\n", 2, 9, "not ascii (byte 0xc3 at offset 24)"),
        ("a.py", b"# coding: klingon\n", 1, 1, "unknown encoding: klingon"),
        ("a.py", b"# coding: rot13\n", 1, 1, "not text in the declared encoding, rot13"),
        ("a.py", b"x = 1\ny = \0\n", 2, 5, "contains NUL bytes: not text, or not UTF-8"),
        ("a.yaml", "ddp: 1\n".encode("utf-16"), 1, 4, "contains NUL bytes: not text, or not UTF-8"),
        ("a.yaml", b"#" * (SIZE_LIMIT + 1), 1, 1, "larger than 4 MB"),
    ],
)
def test_what_is_not_text_is_unreadable_at_a_place(
    tmp_path: Path, name: str, data: bytes, line: int, column: int, message: str
) -> None:
    error = unreadable(write(tmp_path, name, data))
    assert (error.line, error.column, error.message) == (line, column, message)


def test_the_largest_file_that_is_read(tmp_path: Path) -> None:
    assert len(Sources().text(write(tmp_path, "a.yaml", b"#" * SIZE_LIMIT))) == SIZE_LIMIT


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    (tmp_path / "dangling.py").symlink_to("nowhere.py")
    (tmp_path / "circle.py").symlink_to("circle.py")
    os.mkfifo(tmp_path / "pipe.py")
    messages = {
        "missing.py": "no such file or directory",
        "dangling.py": "a link that leads nowhere",
        "circle.py": "too many levels of symbolic links",
        "pipe.py": "not a regular file",
        "": "is a directory",
        "a\0b.py": "not a possible path",
        "a" * 300: "file name too long",
    }
    assert {name: unreadable(os.path.join(tmp_path, name)).message for name in messages} == messages


def test_a_file_without_permission_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a.py", b"")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    assert unreadable(path).message == "permission denied"


def test_an_error_names_the_path_as_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.yaml", b"\xff")
    monkeypatch.chdir(tmp_path)
    sources = Sources()
    for path in ("a.yaml", "./a.yaml"):
        with pytest.raises(Unreadable) as caught:
            sources.text(path)
        assert caught.value.problem.path == path


def test_a_file_is_read_once_however_it_is_spelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a.py", b"old\n")
    (tmp_path / "link.py").symlink_to("a.py")
    monkeypatch.chdir(tmp_path)
    sources = Sources()
    sources.text(path)
    Path(path).write_bytes(b"new\n")
    assert [sources.text(spelling) for spelling in (path, "a.py", "./a.py", "link.py")] == ["old\n"] * 4


def test_an_overlay_stands_in_front_of_the_file_and_leaves_the_original_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "a.py", b"\xef\xbb\xbfold\r\n")
    monkeypatch.chdir(tmp_path)
    sources = Sources()
    changed = sources.with_texts({"./a.py": "new\r\n"})
    again = changed.with_texts({"b.py": "other\n"})
    assert (sources.text(path), changed.text(path), again.text(path)) == ("old\r\n", "new\r\n", "new\r\n")
    assert again.text("b.py") == "other\n"
    assert [every.exists("b.py") for every in (sources, changed, again)] == [False, False, True]
    assert changed.encode(path, changed.text(path)) == b"\xef\xbb\xbfnew\r\n"


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"")
    assert [Sources().exists(str(name)) for name in (path, tmp_path, tmp_path / "b.py")] == [True, False, False]


def test_text_that_the_encoding_of_the_file_lacks_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"# coding: latin-1\n")
    with pytest.raises(Unreadable) as caught:
        Sources().encode(path, "# coding: latin-1\n'€'\n")
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_a_new_file_is_utf_8(tmp_path: Path) -> None:
    assert Sources().encode(str(tmp_path / "new.yaml"), "é") == b"\xc3\xa9"
