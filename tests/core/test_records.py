"""Records are what `dataclasses` makes of a class, as far as anybody can tell."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Generic, TypeVar

import pytest

from mfsdp_lint.core.records import dataclass, field, fields, replace

T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place."""

    line: int
    column: int = 1
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Named(Place):
    """A place with a name, and what was found there."""

    name: str = ""
    found: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Count(Generic[T]):
    """Not frozen."""

    of: T
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """The same as nothing else."""

    name: str


def test_they_are_made_by_position_and_by_name() -> None:
    assert (Place(1).column, Place(1, 2).column, Place(line=3, note="n").note) == (1, 2, "n")
    with pytest.raises(TypeError, match=r"Place\.__init__\(\) missing 1 required positional argument: 'line'"):
        Place()  # type: ignore[call-arg]


def test_a_default_factory_makes_a_new_one_each_time() -> None:
    one, other = Named(1), Named(1)
    one.found.append(1)
    assert (one.found, other.found) == ([1], [])


def test_those_of_one_class_are_compared_by_their_fields() -> None:
    assert Place(1, 2) == Place(1, 2, "not compared")
    assert Place(1) != Named(1)
    assert hash(Place(1, 2)) == hash(Place(1, 2, "not compared"))
    assert sorted([Place(2), Place(1, 2), Place(1)]) == [Place(1), Place(1, 2), Place(2)]
    assert Alone("a") != Alone("a")


def test_what_is_frozen_stays_as_it_is_and_has_no_room_for_more() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'line'"):
        Place(1).line = 2  # type: ignore[misc]
    assert not hasattr(Place(1), "__dict__")


def test_what_is_not_frozen_changes_and_has_no_hash() -> None:
    count = Count("a")
    count.of = "b"
    assert (count.of, count.twice) == ("b", 2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(count)


def test_it_is_printed_as_it_is_written() -> None:
    assert repr(Named(1, name="a")) == "Named(line=1, column=1, name='a', found=[])"


def test_one_is_made_of_another() -> None:
    assert replace(Named(1, name="a"), line=2) == Named(2, name="a")
    assert replace(Count(1), of=2) == Count(2)


def test_the_standard_library_knows_them() -> None:
    place = Named(1, name="a")
    assert dataclasses.is_dataclass(Named)
    assert [each.name for each in dataclasses.fields(place)] == [each.name for each in fields(place)]
    assert dataclasses.asdict(place) == {"line": 1, "column": 1, "note": "", "name": "a", "found": []}
    assert dataclasses.replace(place, line=2) == Named(2, name="a")
    assert pickle.loads(pickle.dumps(place)) == copy.deepcopy(place) == place


def test_a_pattern_takes_them_apart() -> None:
    match Place(1, 2):
        case Place(line, column):
            assert (line, column) == (1, 2)
