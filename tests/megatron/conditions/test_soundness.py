"""A decided condition is decided whatever the unknown settings turn out to be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, OneOf, Plain, Value
from mfsdp_lint.megatron.conditions.language import parse

PATHS = ("a.x", "a.y", "b.z")
VALUES: tuple[Plain, ...] = (None, True, False, 0, 1, 2, "", "1", "torch_dist", "FSDP_dtensor", "a,1", [], ["a", 1], {})

paths = st.sampled_from(PATHS)
literals = st.sampled_from([True, False, 0, 1, 2, "", "1", "torch_dist", "fsdp_dtensor", "a"]).map(repr)
values = st.recursive(
    st.one_of(paths, literals),
    lambda inner: st.one_of(
        inner.map("len({})".format),
        inner.map("lower({})".format),
        inner.map("number({})".format),
        inner.map('split({}, ",")'.format),
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(
            lambda parts: "({} {} {})".format(*parts)
        ),
    ),
    max_leaves=3,
).filter(lambda text: "." in text)
atoms = st.one_of(
    paths,
    st.tuples(paths, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.one_of(literals, paths)).map(" ".join),
    st.tuples(paths, st.sampled_from(["is None", "is not None"])).map(" ".join),
    st.tuples(paths, st.sampled_from(["in", "not in"]), st.lists(literals, min_size=1, max_size=3)).map(
        lambda parts: f"{parts[0]} {parts[1]} [{', '.join(parts[2])}]"
    ),
    st.tuples(values, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.one_of(literals, values)).map(" ".join),
    st.tuples(values, st.sampled_from(["is None", "is not None"])).map(" ".join),
    st.tuples(literals, st.sampled_from(["in", "not in"]), values).map(" ".join),
    values.map('mentions({}, "dist")'.format),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: "({}) {} ({})".format(*parts)),
    ),
    max_leaves=6,
)


@st.composite
def knowledge_and_truth(draw: st.DrawFn) -> tuple[Variant, Variant]:
    """What is known of some settings, and values that they may really have."""
    known: dict[str, Value] = {}
    real: dict[str, Plain] = {}
    for path in PATHS:
        real[path] = value = draw(st.sampled_from(VALUES))
        states: list[Value] = [Known(value), UNKNOWN, OneOf((value, "something else"))]
        known[path] = draw(st.sampled_from(states if value is None else [*states, NOT_NONE]))
    return (
        Variant(WrittenSettings.of(known)),
        Variant(WrittenSettings.of({path: Known(value) for path, value in real.items()})),
    )


@given(conditions, knowledge_and_truth())
def test_a_decided_condition_agrees_with_every_completion(text: str, settings: tuple[Variant, Variant]) -> None:
    partly_known, real = settings
    condition = parse(text, {})
    decided = condition.truth(partly_known)
    if decided is not None:
        assert condition.truth(real) is decided


@given(conditions, knowledge_and_truth())
def test_the_deciding_settings_alone_decide(text: str, settings: tuple[Variant, Variant]) -> None:
    partly_known, _ = settings
    condition = parse(text, {})
    decided = condition.truth(partly_known)
    if decided is not None:
        alone = Variant(
            WrittenSettings.of({path: partly_known.value(path) for path in condition.deciding(partly_known)})
        )
        assert condition.truth(alone) is decided
