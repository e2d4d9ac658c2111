"""A live configuration is walked twice, by a judgement and by the worker, which can import nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.core.values import NOT_NONE, Known
from mfsdp_lint.dryrun.worker.execute import flat
from mfsdp_lint.rules.judging import variant_of


class Scope(Enum):
    full_iteration = 3


@dataclass
class Section:
    value: Any = None
    items: list[Any] = field(default_factory=list)
    _private: int = 1


@dataclass
class Container:
    model: Any = None
    train: Any = None
    env_vars: dict[str, Any] = field(default_factory=dict)


class Plain:
    """An object that is no dataclass, and has what was written into it."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._hidden = value


class Slotted:
    __slots__ = ("value",)


single = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([Scope.full_iteration, len, Section, Slotted(), object()]),
)
values = st.recursive(
    single,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3),
        st.builds(Section, inner, st.lists(inner, max_size=2)),
        st.builds(Plain, inner),
    ),
    max_leaves=8,
)


@given(st.builds(Container, values, values, st.dictionaries(st.text("AB", min_size=1), single, max_size=2)))
def test_both_walks_find_the_same_settings(config: Container) -> None:
    judged = variant_of(config)
    walked = flat(config)
    known = {path: Known(value) for path, value in walked["known"].items()}
    found = known | {path: NOT_NONE for path in walked["set"] if path not in known}
    assert {path: judged.value(path) for path in judged.settings} == found
