"""Overrides in Hydra's grammar. What is expected is what hydra-core 1.3.2 gives."""

from __future__ import annotations

import pytest

from mfsdp_lint.readers.python.library.hydra_overrides import NoOverride, parse
from mfsdp_lint.readers.python.values.places import Placed

VALUES = {
    "1": 1, "1_000": 1000, "010": "010", "0x10": "0x10", "1.": 1.0, ".5": 0.5, "1e-4": 1e-4, "-1E3": -1000.0, "+5": 5,
    "TRUE": True, "yes": "yes", "null": None, "": "", "''": "", "'x y'": "x y", '"b c"': "b c", "x y": "x y",
    " x ": "x", "[1,2,x]": [1, 2, "x"], "[ 1 , 2 ]": [1, 2], "[[1],[]]": [[1], []], "{b:1,c:x}": {"b": 1, "c": "x"},
    "{b:{c:[1]}}": {"b": {"c": [1]}}, "x:y": "x:y", "1:30": "1:30", "/a/b-c.d": "/a/b-c.d", "a\\,b": "a,b",
    "2020-01-01": "2020-01-01", "true false": "true false", "1 2": "1 2", "[true,null,1.5]": [True, None, 1.5],
    "10m": "10m", "['a' , b c]": ["a", "b c"],
}  # fmt: skip


def plain(placed: Placed) -> object:
    if isinstance(placed.value, list):
        return [plain(item) for item in placed.value]
    if isinstance(placed.value, dict):
        return {key: plain(item) for key, item in placed.value.items()}
    return placed.value


@pytest.mark.parametrize("text", VALUES)
def test_a_value_is_what_hydra_reads(text: str) -> None:
    found = parse(f"a.b={text}")
    assert (found.sign, found.key) == ("", "a.b")
    assert repr(plain(found.value)) == repr(VALUES[text])


@pytest.mark.parametrize(("text", "sign", "key"), [("+a=1", "+", "a"), ("++a.b=2", "++", "a.b"), ("~a.b", "~", "a.b")])
def test_a_sign_adds_or_takes_away(text: str, sign: str, key: str) -> None:
    found = parse(text)
    assert (found.sign, found.key) == (sign, key)


@pytest.mark.parametrize("text", ["a", "=1", "a=1,2", "a=[1", "a=]", "a=b=c", "a@b=1", "a=(1)", "a.b.=1", "a='x'y"])
def test_what_hydra_refuses_is_refused(text: str) -> None:
    with pytest.raises(NoOverride):
        parse(text)


@pytest.mark.parametrize("text", ["a=${x}", "a=x${y}", "a=int(3)"])
def test_what_depends_on_more_is_open(text: str) -> None:
    assert parse(text).value.open
