"""Addresses: which texts are one, and which files they and paths come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs.addresses import Address, ask, parse_address
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.readers.registry import file_types


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("a/b.py::f", Address("a/b.py", "f")),
        ("a.py::C.f", Address("a.py", "C.f")),
        ("a.py::f()", Address("a.py", "f")),
        ("a.py::f(1, x='::', y=[None, (1, 2)])", Address("a.py", "f", (1,), (("x", "::"), ("y", [None, [1, 2]])))),
        ("a.py::f(x={'a': -1.5})", Address("a.py", "f", (), (("x", {"a": -1.5}),))),
    ],
)
def test_an_address_is_a_file_a_function_and_literal_arguments(text: str, address: Address) -> None:
    assert parse_address(text) == address


def test_an_address_is_written_as_it_is_read() -> None:
    text = "a.py::f(1, x='b')"
    assert str(parse_address(text)) == text
    assert parse_address(str(parse_address(text))) == parse_address(text)


def test_a_file_that_a_path_covers_is_spelled_as_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    asked = ask(["a.py", "./a.py::f", f"{tmp_path}/b.py::g", "gone.py::h", "b.yaml"], file_types())
    assert asked.files == (File("a.py", "python"),)
    assert asked.addresses == (Address("a.py", "f"), Address(f"{tmp_path}/b.py", "g"))
    assert [problem.path for problem in asked.problems] == ["b.yaml", "gone.py"]


def test_the_name_of_a_file_may_have_the_separator_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x::y.py").write_text("")
    assert ask(["x::y.py"], file_types()).files == (File("x::y.py", "python"),)
    assert ask(["x::y.py::f"], file_types()).addresses == (Address("x::y.py", "f"),)
