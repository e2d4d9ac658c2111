"""Texts and shared parts of values come back as they were."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.snapshots import Archive, reader
from tools.snapshot import writing
from tools.snapshot.writing import SHORTEST, Sharing, pack


def test_every_text_comes_back_whichever_block_it_lies_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "BLOCK", 10)
    texts = ["", "short", "a longer one than a block", "ümläut", "", "last"]
    packed = Archive(memoryview(pack(texts)))
    assert [packed.text(number) for number in reversed(range(len(packed)))] == list(reversed(texts))


def test_only_the_block_that_is_asked_for_is_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "BLOCK", 1)
    damaged = bytearray(pack(["first", "second"]))
    damaged[-10:] = bytes(10)
    assert Archive(memoryview(bytes(damaged))).text(0) == "first"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
)


@given(st.lists(VALUES, max_size=4))
def test_values_come_back_with_their_types(values: list[object]) -> None:
    texts, parts = written([*values, values])
    assert [json.dumps(back(text, parts)) for text in texts] == [json.dumps(value) for value in [*values, values]]


def test_a_part_that_occurs_again_is_written_once() -> None:
    part = {"name": "x" * SHORTEST}
    texts, parts = written([["first", part], ["second", [part]]])
    assert parts == [json.dumps(part, separators=(",", ":"))]
    assert texts == ['["first",{"":0}]', '["second",[{"":0}]]']


def test_true_is_not_shared_with_one() -> None:
    one, true = [1] * SHORTEST, [True] * SHORTEST
    texts, parts = written([[one], [true]])
    assert (texts, parts) == (written([[one]])[0] + written([[true]])[0], [])


def written(values: list[object]) -> tuple[list[str], list[str]]:
    sharing = Sharing()
    numbers = [sharing.count(value) for value in values]
    return [sharing.write(number) for number in numbers], sharing.parts


def back(text: str, parts: list[str]) -> object:
    return reader(lambda number: back(parts[number], parts))(text)
