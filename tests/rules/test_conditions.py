"""The condition language: what it can say, and what it says of settings that are only partly known."""

from __future__ import annotations

import pytest

from mfsdp_lint.recipe import Setting, Variant
from mfsdp_lint.rules.byversion import ByVersion
from mfsdp_lint.rules.conditions import Condition, ConditionError, parse
from mfsdp_lint.upstream.versions import parse_range
from mfsdp_lint.values import NOT_NONE, UNKNOWN, Known, NotNone, OneOf, Plain, Unknown, Value

FSDP = ByVersion.everywhere(parse("dist.fsdp or ddp.fsdp", {}))


def variant(**values: Plain | Value) -> Variant:
    """Settings by name, `dist__fsdp` for `dist.fsdp`; a plain value is a known one."""
    settings = {}
    for name, value in values.items():
        path = name.replace("__", ".")
        known = isinstance(value, Known | OneOf | NotNone | Unknown)
        settings[path] = Setting(path, value if known else Known(value))  # type: ignore[arg-type]
    return Variant(settings)


def judge(text: str, **values: Plain | Value) -> bool | None:
    return parse(text, {"fsdp": FSDP}).at("0.3.1").truth(variant(**values))


def deciding(text: str, **values: Plain | Value) -> tuple[str, ...]:
    return parse(text, {"fsdp": FSDP}).at("0.3.1").deciding(variant(**values))


@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        ("a.x", True, True),
        ("a.x", 0, False),
        ("a.x", "", False),
        ("not a.x", False, True),
        ('a.x == "torch_dist"', "torch_dist", True),
        ('a.x != "torch_dist"', "zarr", True),
        ("a.x == 1", True, False),  # a flag is no number
        ("a.x == True", True, True),
        ("a.x > 1", 2, True),
        ("a.x <= -1", -1, True),
        ("a.x > 1", None, None),  # None has no order
        ("a.x > 1", "2", None),
        ("a.x > 0", True, None),
        ('a.x in ["local", "none"]', "none", True),
        ('a.x not in ["local", None]', None, False),
        ("a.x is None", None, True),
        ("a.x is not None", "", True),
        ("always", None, True),
        ("never", None, False),
    ],
)
def test_a_known_value_is_judged(text: str, value: Plain, answer: bool | None) -> None:
    assert judge(text, a__x=value) is answer


@pytest.mark.parametrize("text", ["a.x", "not a.x", "a.x == 1", "a.x > 1", "a.x is None", 'a.x in ["b"]', "a.x == a.y"])
def test_of_an_unknown_value_nothing_is_said(text: str) -> None:
    assert judge(text) is None
    assert judge(text, a__x=UNKNOWN, a__y=1) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [("a.x is not None", True), ("a.x is None", False), ("a.x", None), ('a.x == "b"', None), ("a.x == a.y", None)],
)
def test_a_value_that_is_only_known_to_be_set_is_not_none_and_nothing_more(text: str, answer: bool | None) -> None:
    assert judge(text, a__x=NOT_NONE, a__y=NOT_NONE) is answer


def test_one_of_several_values_decides_where_all_agree() -> None:
    either = OneOf(("torch_dist", "zarr"))
    assert judge('a.x != "fsdp_dtensor"', a__x=either) is True
    assert judge('a.x == "zarr"', a__x=either) is None
    assert judge("a.x is None", a__x=OneOf((None, "zarr"))) is None


def test_two_settings_are_compared_with_each_other() -> None:
    assert judge("a.x == a.y", a__x="/results", a__y="/results") is True
    assert judge("a.x != a.y", a__x="/results", a__y="/elsewhere") is True
    assert judge("a.x < a.y", a__x=1, a__y=OneOf((2, 3))) is True


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a.true or a.unknown", True),
        ("a.unknown or a.true", True),
        ("a.false or a.unknown", None),
        ("a.false and a.unknown", False),
        ("a.unknown and a.false", False),
        ("a.true and a.unknown", None),
        ("not (a.false and a.unknown)", True),
    ],
)
def test_an_unknown_arm_matters_only_if_the_others_leave_it_open(text: str, answer: bool | None) -> None:
    assert judge(text, a__true=True, a__false=False) is answer


def test_what_made_an_or_true_are_the_arms_that_are() -> None:
    assert deciding("fsdp", dist__fsdp=False, ddp__fsdp=True) == ("ddp.fsdp",)
    assert deciding("fsdp", dist__fsdp=True, ddp__fsdp=True) == ("dist.fsdp", "ddp.fsdp")


def test_what_made_an_and_true_are_all_its_arms() -> None:
    settings: dict[str, Plain | Value] = {
        "dist__fsdp": True,
        "checkpoint__format": "zarr",
        "checkpoint__save": NOT_NONE,
    }
    text = 'fsdp and checkpoint.format != "torch" and (checkpoint.save is not None or checkpoint.load is not None)'
    assert deciding(text, **settings) == ("dist.fsdp", "checkpoint.format", "checkpoint.save")


def test_what_made_a_not_true_is_what_made_the_rest_false() -> None:
    assert deciding("not fsdp", dist__fsdp=False, ddp__fsdp=False) == ("dist.fsdp", "ddp.fsdp")
    assert deciding("not (a.x and a.y)", a__x=True, a__y=False) == ("a.y",)


def test_a_term_means_what_it_means_in_the_version_at_hand() -> None:
    first: Condition = parse("ddp.fsdp", {})
    second = parse("ddp.fsdp and ddp.version != 2", {})
    term = ByVersion(((parse_range("<0.7"), first), (parse_range(">=0.7"), second)))
    condition = parse("v1", {"v1": term})
    settings = variant(ddp__fsdp=True, ddp__version=2)
    assert condition.at("0.6.0").truth(settings) is True
    assert condition.at("head").truth(settings) is False


def test_a_term_that_means_nothing_in_a_version_is_unknown_there() -> None:
    condition = parse("new", {"new": ByVersion(((parse_range(">=0.7"), parse("a.x", {})),))})
    assert condition.at("0.3.1").truth(variant(a__x=True)) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a condition"),
        ("a.x ==", "not a condition"),
        ("a.x\0", "not a condition"),
        ("(" * 300 + "a.x" + ")" * 300, "not a condition"),
        ("unheard_of", "neither a term nor a setting"),
        ("fsdp.x == y", "expected a literal"),
        ("len(a.x) > 1", "needs a setting"),
        ("a.x + 1 == 2", "needs a setting"),
        ("a.x.startswith('b')", "only settings"),
        ("a['x']", "only settings"),
        ("__import__('os').system('true')", "only settings"),
        ("lambda: a.x", "only settings"),
        ("1 < a.x", "needs a setting"),
        ("1 < a.x < 2", "only settings"),
        ("a.x == None", "ask for None with `is`"),
        ("a.x is True", "can only ask for None"),
        ("a.x in a.y", "expected a literal"),
        ("a.x in 'abc'", "needs a list"),
        ("a.x in ['b', a.y]", "expected a literal"),
        ("a.x == {'b': 1}", "expected a plain value"),
        ("f'{a.x}'", "only settings"),
    ],
)
def test_everything_else_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConditionError, match=problem):
        parse(text, {"fsdp": FSDP})
