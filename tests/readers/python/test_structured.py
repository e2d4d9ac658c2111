"""Plain data becomes objects of classes as cattrs and dacite make them. (Values of cattrs 26.1.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known, Plain
from tests.readers.python.test_decorated import read

CLASSES = """
from typing import Optional
import attrs, cattrs, dacite

@attrs.frozen
class Engine:
    kind: str = "ddp"
    stage: int = attrs.field(default=0, validator=attrs.validators.in_(range(4)))

    @property
    def strategy(self):
        return ["no_shard", "optim", "optim_grads", "optim_grads_params"][self.stage]

@attrs.frozen
class Run:
    name: str
    engine: Engine = Engine()
    save: Optional[str] = None
    on: bool = False

@dataclass
class Plan:
    engine: Engine
    steps: int = 1

"""
MADE: dict[str, tuple[str, Plain]] = {
    "an object in an object": (
        "cattrs.structure({'name': 'a', 'engine': {'stage': 2}}, Run).engine.strategy",
        "optim_grads",
    ),
    "a default": ("cattrs.structure({'name': 'a'}, Run).engine.strategy", "no_shard"),
    "an entry that is no field": ("cattrs.structure({'name': 'a', 'other': 1}, Run).name", "a"),
    "a value that may be None": ("cattrs.structure({'name': 'a', 'save': '/s'}, Run).save", "/s"),
    "a dataclass of dacite": ("dacite.from_dict(Plan, {'engine': {'kind': 'fsdp'}}).engine.kind", "fsdp"),
    "dacite, by names": ("dacite.from_dict(data={'engine': {}, 'steps': 3}, data_class=Plan).steps", 3),
    "changed afterwards": ("attrs.evolve(cattrs.structure({'name': 'a'}, Run), save='/e').save", "/e"),
}


@pytest.mark.parametrize("made", MADE)
def test_the_fields_of_an_object_are_those_of_the_data(made: str, tmp_path: Path) -> None:
    expression, value = MADE[made]
    found = read(tmp_path, f"{CLASSES}\ndef recipe():\n    return build({expression})\n")["recipe"]
    assert found.variants[0].value("ddp.strategy") == Known(value)


OPEN = {
    "a word for a switch is true, whatever it says": "cattrs.structure({'name': 'a', 'on': 'false'}, Run).on",
    "a number of a text": "cattrs.structure({'stage': '2'}, Engine).stage",
    "a list of objects": "cattrs.structure([{}], list[Engine])[0].kind",
    "a converter, which may have hooks": "cattrs.Converter().structure({'name': 'a'}, Run).name",
    "dacite with a configuration": "dacite.from_dict(Plan, {'engine': {}}, dacite.Config(cast=[int])).steps",
}


@pytest.mark.parametrize("name", OPEN)
def test_what_a_library_may_convert_is_unknown(name: str, tmp_path: Path) -> None:
    found = read(tmp_path, f"{CLASSES}\ndef recipe():\n    return build({OPEN[name]})\n")["recipe"]
    assert not isinstance(found.variants[0].value("ddp.strategy"), Known)


def test_hooks_of_the_program_may_change_every_value(tmp_path: Path) -> None:
    hook = "cattrs.register_structure_hook(str, lambda value, _: value.upper())\n"
    text = f"{CLASSES}{hook}\ndef recipe():\n    return build({MADE['an entry that is no field'][0]})\n"
    assert not isinstance(read(tmp_path, text)["recipe"].variants[0].value("ddp.strategy"), Known)


TYPED = """
from enum import Enum
from omegaconf import OmegaConf

class Shard(Enum):
    OFF = "no_shard"
    ALL = "optim_grads_params"

@dataclass
class Plan:
    shard: Shard = Shard.OFF

def recipe():
    plan = OmegaConf.merge(OmegaConf.structured(Plan), {"shard": {given}})
    return build(OmegaConf.to_object(plan).shard.value)
"""


@pytest.mark.parametrize(
    ("given", "value"),
    [("'ALL'", "optim_grads_params"), ("'Shard.ALL'", "optim_grads_params"), ("'no_shard'", "no_shard")],
)
def test_a_typed_entry_takes_a_member_by_its_name_or_value(given: str, value: str, tmp_path: Path) -> None:
    found = read(tmp_path, TYPED.replace("{given}", given))["recipe"]
    assert found.variants[0].value("ddp.strategy") == Known(value)


@pytest.mark.parametrize("given", ["'NONE'", "True", "3"])
def test_a_typed_entry_refuses_what_is_no_member(given: str, tmp_path: Path) -> None:
    assert "recipe" not in read(tmp_path, TYPED.replace("{given}", given))
