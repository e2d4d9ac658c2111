"""The tool's data file: what is edited counts, whatever was compiled before."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mfsdp_lint.core import store as module
from mfsdp_lint.core.store import Folder, Store, digest, sources, store, written


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for the data file in which nothing is compiled yet."""
    monkeypatch.setattr(module, "FILE", str(tmp_path / "compiled.jsonl"))
    yield tmp_path
    store.cache_clear()


def made_anew() -> Store:
    store.cache_clear()
    return store()


def test_pieces_are_read_by_name() -> None:
    found = Store(written({"rules/a": {"ü": [1, None]}, "rules/b": "\n", "other": 1.5}, "digest"))
    assert dict(found) == {"rules/a": {"ü": [1, None]}, "rules/b": "\n", "other": 1.5}
    assert dict(Folder(found, "rules")) == {"a": {"ü": [1, None]}, "b": "\n"}
    assert found.digest == "digest"


def test_the_first_run_compiles_and_the_next_one_reads(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made_anew()
    assert (checkout / "compiled.jsonl").is_file()
    monkeypatch.setattr(module, "_MAKER", "nobody")
    assert dict(made_anew()) == dict(first)


def test_what_was_compiled_of_something_else_does_not_count(checkout: Path) -> None:
    right = made_anew()
    (checkout / "compiled.jsonl").write_bytes(written({"rules": []}, "of other files"))
    assert dict(made_anew()) == dict(right)
    assert Store((checkout / "compiled.jsonl").read_bytes()).digest == right.digest


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n", b"{}\n", b'{"digest": "x"}\n', b"\xff\xfe\x00"])
def test_a_file_that_is_none_does_not_count(checkout: Path, content: bytes) -> None:
    right = made_anew()
    (checkout / "compiled.jsonl").write_bytes(content)
    assert dict(made_anew()) == dict(right)


def test_any_byte_of_what_is_edited_matters(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    before = digest({"a": str(tmp_path / "a")})
    (tmp_path / "a").write_bytes(b"onf")
    assert before != digest({"a": str(tmp_path / "a")}) != digest({"b": str(tmp_path / "a")})
    assert {"rules/MFSDP101.yaml", "rules/terms.yaml", "megatron/startup/startup.yaml", "checkout.py"} <= set(sources())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_checkout_that_cannot_be_written_is_compiled_every_time(checkout: Path) -> None:
    checkout.chmod(0o500)
    assert made_anew()["rules"]
    assert list(checkout.iterdir()) == []


def test_an_installation_without_its_data_says_so(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RULES", str(checkout / "nowhere"))
    with pytest.raises(FileNotFoundError, match="the installation is not complete"):
        made_anew()


def test_nothing_in_it_is_executed(checkout: Path) -> None:
    made_anew()
    for line in (checkout / "compiled.jsonl").read_bytes().splitlines():
        json.loads(line)
