"""Overrides in Hydra's grammar: values are what hydra-core reads, and OmegaConf in a resolver's arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Sweep
from hydra.errors import HydraException
from hypothesis import example, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain
from mfsdp_lint.readers.overrides import (
    NoOverride,
    plain,
    read_element,
    settings_in,
    split_override,
    value_of,
    values_of_sweep,
)

VALUES: dict[str, Plain] = {
    "1": 1, "1_000": 1000, "010": "010", "0x10": "0x10", "1.": 1.0, ".5": 0.5, "1e-4": 1e-4, "-1E3": -1000.0, "+5": 5,
    "TRUE": True, "yes": "yes", "on": "on", "null": None, "": "", "''": "", "'x y'": "x y", '"b c"': "b c",
    "x y": "x y", " x ": "x", "[1,2,x]": [1, 2, "x"], "[ 1 , 2 ]": [1, 2], "[[1],[]]": [[1], []],
    "{b:1,c:x}": {"b": 1, "c": "x"},
    "{b:{c:[1]}}": {"b": {"c": [1]}}, "x:y": "x:y", "1:30": "1:30", "/a/b-c.d": "/a/b-c.d", "a\\,b": "a,b",
    "2020-01-01": "2020-01-01", "true false": "true false", "1 2": "1 2", "[true,null,1.5]": [True, None, 1.5],
    "10m": "10m", "['a' , b c]": ["a", "b c"], r"'it\'s'": "it's", r"'C:\x\\'": "C:\\x\\", ": ": ": ",
}  # fmt: skip

REFUSED = ["1,2", "[1", "]", "b=c", "(1)", "'x'y", "~", "é", "{'a':1}", "'a' ", "a#b"]

WORDS = """
    yes no on off true False NULL null ~ 1 010 0x1F -2 +3 1_000 1. -.5 1e-4 1E3 .inf inf nan 1:30 2020-01-01
    a b-c _d /x/y a.b $h % * @ ? ??? | \\ \\\\ \\, \\= 'q' "w" '' 'a\\'b' "a\\\\" 'x\\y' ${a.b} x${y} é # ! & <
    [ ] { } , : = [1,yes] {a:1,b:no} {1:x} {true:{c:[off]}} [] {} [[a],{b:c}]
"""
PIECES = WORDS.split()

texts = st.lists(st.sampled_from([*PIECES, " ", "\t", "'q r'", "\\ "]), min_size=1, max_size=6).map("".join)
PARSER = OverridesParser.create()


def read(text: str) -> object:
    try:
        return read_element(text)
    except NoOverride:
        return "refused"


def refers(value: Any) -> bool:
    """Tell whether OmegaConf has to look elsewhere for a part of a value."""
    if isinstance(value, (list, dict)):
        return any(map(refers, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and ("${" in value or value == "???")


def with_names(value: Any) -> Any:
    """Return a value with text keys, as settings have them."""
    if isinstance(value, dict):
        return {str(key): with_names(each) for key, each in value.items()}
    return [with_names(each) for each in value] if isinstance(value, list) else value


@settings(max_examples=400, deadline=None)
@given(texts)
@example("1,2")
def test_a_value_is_what_hydra_reads(text: str) -> None:
    try:
        real = PARSER.parse_override(f"a.b={text}").value()
    except HydraException:
        assert read(text) == "refused"
        return
    if isinstance(real, Sweep):  # no single run can be given several values
        assert read(text) == "refused"
        return
    known = plain(read_element(text))
    assert (known is None) == refers(real)
    assert known is None or repr(known.value) == repr(with_names(real))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([each for each in PIECES if not set(each) & set("{}\\,")]), min_size=1, max_size=3))
def test_an_argument_of_a_resolver_is_what_omegaconf_reads(pieces: list[str]) -> None:
    text = " ".join(pieces)
    given: list[object] = []
    OmegaConf.register_new_resolver("given", given.append, replace=True)
    try:
        OmegaConf.create({"x": f"${{given:{text}}}"}).x  # noqa: B018
    except OmegaConfBaseException:
        assert read(text) == "refused"
        return
    known = plain(read_element(text))
    assert (known is None) == refers(given[0])
    assert known is None or repr(known.value) == repr(given[0])


@pytest.mark.parametrize("text", VALUES)
def test_examples_of_values(text: str) -> None:
    assert repr(value_of(read_element(text))) == repr(Known(VALUES[text]))


@pytest.mark.parametrize("text", REFUSED)
def test_what_hydra_refuses_is_refused(text: str) -> None:
    with pytest.raises(HydraException if text != "1,2" else AssertionError):
        assert not isinstance(PARSER.parse_override(f"a={text}").value(), Sweep)
    with pytest.raises(NoOverride):
        read_element(text)


@pytest.mark.parametrize("text", ["1,2", "a , b", "[1,2],[3]", "{a:1},{a:2}", "x y,z", "a\\,b,c", "1e-4,2e-4"])
def test_a_sweep_has_a_value_for_each_run(text: str) -> None:
    runs = PARSER.parse_override(f"a={text}").sweep_string_iterator()
    assert [*map(read_element, values_of_sweep(text))] == [*map(read_element, runs)]


@pytest.mark.parametrize("text", ["1", "[1,2]", "'x,y'", "", "{a:1,b:2}"])
def test_any_other_value_is_that_of_all_runs(text: str) -> None:
    assert not PARSER.parse_override(f"a={text}").is_sweep_override()
    assert values_of_sweep(text) == [text]


@pytest.mark.parametrize("text", ["range(1,3)", "choice(a,b)", "glob(*)", "1,", "1,]"])
def test_values_of_functions_are_not_followed(text: str) -> None:
    with pytest.raises(NoOverride):
        values_of_sweep(text)


@pytest.mark.parametrize(("text", "sign", "key"), [("+a=1", "+", "a"), ("++a.b=2", "++", "a.b"), ("~a.b", "~", "a.b")])
def test_a_sign_adds_or_takes_away(text: str, sign: str, key: str) -> None:
    found = split_override(text)
    assert found is not None
    assert (found.sign, found.key) == (sign, key)


@pytest.mark.parametrize("text", ["a", "=1", "a@b=1", "a.b.=1", "a/b=1", "+a", ""])
def test_what_has_no_key_and_value_is_no_override(text: str) -> None:
    assert split_override(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("${x}", UNKNOWN), ("???", UNKNOWN), ("x${y}", NOT_NONE), ("f(3)", UNKNOWN), ("[${x}]", NOT_NONE)],
)
def test_what_depends_on_more_is_not_known(text: str, value: object) -> None:
    assert value_of(read_element(text)) == value


def test_a_mapping_is_merged_into_its_section() -> None:
    element = read_element("{a: 1, b: {c: yes}, d: {}}")
    assert list(settings_in("x", element)) == [("x.a", Known(1)), ("x.b.c", Known("yes")), ("x.d", Known({}))]
