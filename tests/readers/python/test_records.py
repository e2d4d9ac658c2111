"""Objects of attrs and pydantic, and members of enumerations, have the values that Python gives them.

(Values of CPython 3.11, attrs 26.1 and pydantic 2.14.)
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known, Plain
from tests.readers.python.test_decorated import read

CLASSES = """
import enum
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
import attr, attrs
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, PositiveInt

@attrs.frozen
class Plan:
    shards: bool = True
    kind: str = attrs.field(default=attrs.Factory(lambda self: "zero3" if self.shards else "ddp", takes_self=True))
    _depth: int = 4
    size: int = attrs.field(converter=int)

    @size.default
    def _twice(self):
        return self._depth * 2

@attr.s
class Old:
    first = attr.ib(default=1)
    second = attr.ib(init=False, default=attr.Factory(lambda self: self.first + 1, True))

class Kind(enum.Enum):
    DENSE = "dense"
    MOE = "moe"

Level = Literal["low", "high"]

class Engine(BaseModel):
    kind: Kind = Kind.DENSE
    nodes: PositiveInt = 1
    level: Level = "low"

class Job(BaseModel):
    root: Path = Path("/runs")
    engines: list[Engine] = []
    named: dict[str, Engine] = {}
    pair: tuple[int, str] = (1, "a")
    lower: Annotated[str, AfterValidator(str.lower)] = "Q"
    more: Annotated[int, BeforeValidator(lambda value: int(value) + 1)] = 1
    other: Annotated[int, PlainValidator(lambda value: 7)] = 1
    base: Annotated[int, Field(default=3, gt=0)]
    twice: int = Field(default_factory=lambda data: data["base"] * 2)
    numbers: list[int] = []

class Words(BaseModel):
    model_config = ConfigDict(use_enum_values=True, str_to_lower=True, validate_default=True)
    kind: Kind = Kind.DENSE
    word: str = "X"

class Row(NamedTuple):
    name: str
    size: int = 1

class Preset(enum.Enum):
    ONE = Row("one")
    TWO = Row("two", 2)
    def __call__(self, *more): return [self.value.name, *more]

@dataclass
class Shape:
    label: str
    size: int = 3

class Shapes(Shape, enum.Enum):
    FLAT = "flat"
    DEEP = "deep", 5
    def __call__(self): return self.label

class Rows(Row, enum.Enum):
    WIDE = "wide", 8
"""

MADE: dict[str, tuple[str, Plain]] = {
    "a factory sees the object": ("Plan(False).kind", "ddp"),
    "a default that a method computes is converted": ("Plan(depth=3).size", 6),
    "a value that is given instead": ("Plan(size='5').size", 5),
    "evolve keeps what a factory had computed": ("attrs.evolve(Plan(), shards=False).kind", "zero3"),
    "evolve takes a private field by its public name": ("attrs.evolve(Plan(size=1), depth=9)._depth", 9),
    "evolve computes what cannot be given": ("attr.evolve(Old(5), first=2).second", 3),
    "a path of a text": ("str(Job.model_validate({'root': '/a'}).root / 'b')", "/a/b"),
    "a member of a value": ("Job(engines=[{'kind': 'moe'}]).engines[0].kind is Kind.MOE", True),
    "a number of a text, within bounds": ("Job(engines=[{'nodes': '3'}]).engines[0].nodes", 3),
    "a name for a type": ("Job(named={'q': {'level': 'high'}}).named['q'].level", "high"),
    "the elements of a tuple": ("Job(pair=['3', 'b']).pair[0]", 3),
    "the elements of a list": ("Job(numbers=['1', 2]).numbers[0]", 1),
    "a validator in an annotation, afterwards": ("Job(lower='ABC').lower", "abc"),
    "a validator in an annotation sees no default": ("Job().lower", "Q"),
    "a validator in an annotation, before": ("Job(more='5').more", 6),
    "a default in an annotation": ("Job().base", 3),
    "a factory sees the data": ("Job(base=4).twice", 8),
    "a copy computes nothing again": ("Job().model_copy(update={'base': 9}).twice", 6),
    "an option for members": ("Words(kind='moe').kind", "moe"),
    "an option for texts": ("Words(word='ABC').word", "abc"),
    "an option for defaults": ("Words().word", "x"),
    "a member is called": ("Preset.TWO(1)", ["two", 1]),
    "a member is called by its name": ("Preset['ONE']()", ["one"]),
    "members are called in a walk": ("[each() for each in Preset][1]", ["two"]),
    "a member can be called": ("callable(Preset.ONE) and not callable(Kind.MOE)", True),
    "a member of a dataclass has its fields": ("Shapes.DEEP.size", 5),
    "a member of a dataclass has its defaults": ("Shapes.FLAT.size", 3),
    "a member of a dataclass is called": ("Shapes.FLAT()", "flat"),
    "a member of a named tuple has its fields": ("Rows.WIDE.size", 8),
}


def strategy(folder: Path, expression: str) -> object:
    found = read(folder, f"{CLASSES}\ndef recipe():\n    return build({expression})\n")["recipe"]
    return found.variants[0].value("ddp.strategy")


@pytest.mark.parametrize("name", MADE)
def test_a_value_is_the_one_that_python_gives(name: str, tmp_path: Path) -> None:
    expression, value = MADE[name]
    assert strategy(tmp_path, expression) == Known(value)


OPEN = {
    "a validator in place of the conversion": "Job(other=3).other",
    "a text in place of a member": "Job(engines=[{'kind': os.environ['KIND']}]).engines[0].kind",
    "a factory of an unknown object": "Plan(depth=int(os.environ['DEPTH'])).size",
}


@pytest.mark.parametrize("name", OPEN)
def test_a_value_that_cannot_be_seen_is_unknown(name: str, tmp_path: Path) -> None:
    assert not isinstance(strategy(tmp_path, OPEN[name].replace("os.", "__import__('os').")), Known)
