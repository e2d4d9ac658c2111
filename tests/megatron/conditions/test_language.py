"""The condition language: what it can say, and what it says of settings that are only partly known."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Setting, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, NotNone, OneOf, Plain, Unknown, Value
from mfsdp_lint.megatron.conditions import ByVersion, Site, parse_applicability
from mfsdp_lint.megatron.conditions.language import Condition, ConditionError, Terms, parse, parse_value
from mfsdp_lint.megatron.versions import resolve_target

SITE = Site(resolve_target("0.3.1"))
FSDP = ByVersion.everywhere(parse("dist.fsdp or ddp.fsdp", {}))
RANKS = ByVersion.everywhere(parse_value("run.world_size // (model.tp * model.pp)", {}))
TERMS: Terms = {"fsdp": FSDP, "ranks": RANKS}


def variant(**values: Plain | Value) -> Variant:
    """Settings by name, `dist__fsdp` for `dist.fsdp`; a plain value is a known one."""
    settings = {}
    for name, value in values.items():
        path = name.replace("__", ".")
        known = isinstance(value, Known | OneOf | NotNone | Unknown)
        settings[path] = Setting(path, value if known else Known(value))  # type: ignore[arg-type]
    return Variant(WrittenSettings(settings))


def judge(text: str, **values: Plain | Value) -> bool | None:
    return parse(text, TERMS).at(SITE).truth(variant(**values))


def deciding(text: str, **values: Plain | Value) -> tuple[str, ...]:
    return parse(text, TERMS).at(SITE).deciding(variant(**values))


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
    term = ByVersion(((parse_applicability("<0.7"), first), (parse_applicability(">=0.7"), second)))
    condition = parse("v1", {"v1": term})
    settings = variant(ddp__fsdp=True, ddp__version=2)
    assert condition.at(Site(resolve_target("0.6.0"))).truth(settings) is True
    assert condition.at(Site(resolve_target("head"))).truth(settings) is False


def test_a_term_that_means_nothing_in_a_version_is_unknown_there() -> None:
    condition = parse("new", {"new": ByVersion(((parse_applicability(">=0.7"), parse("a.x", {})),))})
    assert condition.at(SITE).truth(variant(a__x=True)) is None


@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        ('"b" in a.x', ["a", "b"], True),
        ('"b" in a.x', [], False),
        ('"b" in a.x', None, False),  # as for upstream's `value or []`
        ('"b" in a.x', "a, b", True),  # a text is what stands between its commas
        ("1 in a.x", 1, True),
        ('"b" in a.x', "abc", False),
        ('"b" not in a.x', ["b"], False),
        ('"b" in a.x', {"b": 1}, None),
        ("1 in a.x", [True], False),
        ('"b:True" in split(a.x, ",")', "a:1, b:True", True),
        ('"b:True" in split(a.x, ",")', "b:Truest", False),
        ('"b:True" in split(a.x, ",")', None, False),
        ('"b:True" in split(a.x, ",")', 3, None),
        ("len(a.x) > 0", ["a"], True),
        ("len(a.x) > 0", None, False),
        ("len(a.x) == 0", [], True),
        ('len(without(a.x, ["a", "b"])) > 0', ["a", "c"], True),
        ('len(without(a.x, ["a", "b"])) > 0', "b, a", False),
        ('len(without(a.x, ["a", "b"])) > 0', None, False),
        ('len(without(a.x, "a")) > 0', ["c"], None),
        ("len(a.x) > 0", "text", None),
        ('lower(a.x) == "fp8"', "FP8", True),
        ('lower(a.x) == "fp8"', None, False),
        ('lower(a.x) in ["fp8", "mxfp8"]', "MXFP8", True),
        ("number(a.x) > 1", "8", True),
        ("number(a.x) > 1", "many", None),
        ("number(a.x) > 1", None, None),
        ("a.x % 2 != 0", 3, True),
        ("a.x % 2 != 0", None, None),
        ("a.x % 2 != 0", True, None),
        ("8 // a.x > 2", 0, None),
        ("a.x * a.x == 4", 2, True),
        ("a.x - 1 == 1 + 1", 3, True),
        ("1 < a.x", 2, True),
        ('mentions(a.x, "muon")', "dist_muon", True),
        ('mentions(a.x, "muon")', None, False),
        ('mentions(a.x, "muon")', 3, None),
    ],
)
def test_values_can_be_worked_out(text: str, value: Plain, answer: bool | None) -> None:
    assert judge(text, a__x=value) is answer


def test_every_combination_of_values_counts() -> None:
    assert judge("a.x * a.y % 4 == 0", a__x=OneOf((2, 4)), a__y=OneOf((2, 6))) is True
    assert judge("a.x * a.y % 8 == 0", a__x=OneOf((2, 4)), a__y=OneOf((2, 6))) is None
    assert judge("a.x % 4 == 0", a__x=NOT_NONE) is None
    assert judge("a.x - a.x == 0", a__x=OneOf((1, 2, 3))) is True  # one setting has one value at a time


def test_too_many_combinations_are_not_tried() -> None:
    many = OneOf(tuple(range(1, 41)))
    assert judge("a.x * a.y > 0", a__x=many, a__y=many) is None


def test_a_value_with_a_name() -> None:
    assert judge("ranks == 2", run__world_size=8, model__tp=2, model__pp=2) is True
    assert judge("ranks == 2", model__tp=2, model__pp=2) is None
    assert deciding("ranks > 1", run__world_size=8, model__tp=2, model__pp=2) == (
        "run.world_size",
        "model.tp",
        "model.pp",
    )


def test_a_value_that_means_nothing_in_a_version_is_unknown_there() -> None:
    new = ByVersion(((parse_applicability(">=0.7"), parse_value("a.x + 1", {})),))
    condition = parse("new == 2", {"new": new})
    assert condition.at(Site(resolve_target("head"))).truth(variant(a__x=1)) is True
    assert condition.at(SITE).truth(variant(a__x=1)) is None


def test_a_term_that_depends_on_a_version_not_known_is_decided_where_its_meanings_agree() -> None:
    first, second = parse("a.x", {}), parse("a.x and a.y", {})
    term = ByVersion(((parse_applicability("te <2.10"), first), (parse_applicability(""), second)))
    condition = parse("t", {"t": term}).at(SITE)
    assert condition.truth(variant(a__x=True, a__y=True)) is True
    assert condition.truth(variant(a__x=True, a__y=False)) is None
    assert condition.truth(variant(a__x=False)) is False


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a condition"),
        ("a.x ==", "not a condition"),
        ("a.x\0", "not a condition"),
        ("(" * 300 + "a.x" + ")" * 300, "not a condition"),
        ("a.x[0x" + "f" * 5000 + "]", "not a condition"),
        ("unheard_of", "neither a term nor a setting"),
        ("a.x == unheard_of", "neither a term nor a setting"),
        ("a.x == fsdp", "fsdp is a condition, not a value"),
        ("ranks", "ranks is a value; compare it"),
        ("len(a.x)", "only settings"),
        ("len(a.x, a.y) > 1", "len takes 1"),
        ("max(a.x) > 1", "expected a setting, a literal or one of the functions"),
        ("a.x ** 2 == 2", "expected a setting, a literal or one of the functions"),
        ("a.x.startswith('b')", "only settings"),
        ("a['x']", "only settings"),
        ("__import__('os').system('true')", "only settings"),
        ("lambda: a.x", "only settings"),
        ("1 < 2", "needs a setting"),
        ("1 in [1]", "needs a setting"),
        ("1 < a.x < 2", "only settings"),
        ("a.x == None", "ask for None with `is`"),
        ("None == a.x", "ask for None with `is`"),
        ("a.x is True", "can only ask for None"),
        ("a.x in a.y", "a list of literals on its right, or a literal on its left"),
        ("a.x in 'abc'", "a list of literals on its right"),
        ("a.x in ['b', a.y]", "expected a setting, a literal"),
        ("a.x == {'b': 1}", "expected a plain value"),
        ("mentions(a.x, a.y)", "expected"),
        ("mentions(a.x, 1)", "expected text"),
        ("f'{a.x}'", "only settings"),
    ],
)
def test_everything_else_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConditionError, match=problem):
        parse(text, TERMS)


def test_a_section_that_may_be_missing_as_a_whole_has_no_dot() -> None:
    assert judge("peft is not None", peft=NOT_NONE) is True
    assert judge("peft", peft=None) is False
    assert judge("peft is None") is None
