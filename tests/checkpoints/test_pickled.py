"""A pickle is read as data, whatever it says."""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.checkpoints.pickled import Damaged, Named, PickledCall, PickledDict, TooLong, entries, read

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(max_size=20)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


def plain(value: Any) -> Any:
    """What was read, as Python has it."""
    if isinstance(value, PickledDict):
        return {name: plain(each) for name, each in value.items}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value


@given(PLAIN, st.integers(3, 5))
def test_plain_data_is_what_was_pickled(value: object, protocol: int) -> None:
    assert plain(read(pickle.dumps(value, protocol=protocol))) == value


def test_an_object_is_told_by_its_class_its_arguments_and_its_state() -> None:
    made = read(pickle.dumps(OrderedDict(a=1), protocol=4))
    assert isinstance(made, PickledCall)
    assert made.of == Named("collections", "OrderedDict")


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch planted",)


def test_nothing_that_it_says_is_done(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = read(pickle.dumps(Hostile(), protocol=4))
    assert made == PickledCall(Named("posix", "system"), ("touch planted",))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "data", [b"", b"no pickle", b"\x80\x04", b"\x80\x04N", b"\x80\x04e.", b"\x80\x04R.", b"h\x05."]
)
def test_what_is_no_pickle_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        read(data)


def test_what_refers_to_itself_a_thousand_times_costs_nothing() -> None:
    bomb = b"\x80\x04]q\x00" + b"".join(b"]q%c(%sae" % (number, b"h%c" % (number - 1) * 9) for number in range(1, 200))
    with pytest.raises(Damaged):
        read(bomb + b"(")


def test_a_pickle_of_many_steps_is_not_followed_to_its_end() -> None:
    with pytest.raises(TooLong) as raised:
        read(pickle.dumps(["a", "b", *range(1000)]), most=100)
    assert raised.value.texts == ("a", "b")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_damaged(data: bytes) -> None:
    with suppress(Damaged):
        list(entries(read(data)))
