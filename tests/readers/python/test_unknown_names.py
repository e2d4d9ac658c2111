"""Enumerations and what is called by a name that is not known, in programs that Python runs as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from tests.readers.python.several_files import CONFIG, agrees

FLAGS = {
    "a flag of several bits is walked": """\
from config import sized
from enum import Flag, auto

class K(Flag):
    A = auto()
    B = auto()
    C = auto()
    AB = A | B

def recipe():
    return sized([b.name for b in K.AB])
""",
    "a flag that is put together is walked": """\
from config import sized
from enum import Flag, auto

class K(Flag):
    NONE = 0
    A = auto()
    B = auto()
    C = auto()
    AB = A | B

def recipe():
    return sized([b.name for b in K.A | K.C])
""",
    "flags of several bits are left out of a walk over the class": """\
from config import sized
from enum import Flag, auto

class K(Flag):
    A = auto()
    B = auto()
    AB = A | B

def recipe():
    return sized([list(K.__members__), [m.name for m in K if m in K.AB]])
""",
    "a flag without bits has no elements": """\
from config import sized
from enum import Flag, auto

class K(Flag):
    NONE = 0
    A = auto()

def recipe():
    return sized([[m.name for m in K.NONE], [m.name for m in K], K.NONE.name])
""",
    "the name of a flag that is put together": """\
from config import sized
from enum import Flag, auto

class K(Flag):
    A = auto()
    B = auto()
    C = auto()
    AB = A | B

def recipe():
    return sized([(K.AB | K.C).name, (K.A | K.B).name])
""",
    "a table of flags": """\
from config import sized
from enum import Flag, auto

class K(Flag):
    A = auto()
    B = auto()
T = {K.A: 'x', K.B: 'y'}

def recipe():
    return sized([T[k] for k in K.A | K.B])
""",
    "a method that is picked by a flag's class": """\
from config import sized
from functools import singledispatchmethod
from enum import Flag, auto

class K(Flag):
    A = auto()
    B = auto()

class F:

    def __init__(self):
        self.x = []

    @singledispatchmethod
    def add(self, what):
        raise TypeError(what)

    @add.register
    def _(self, what: K):
        for b in what:
            getattr(self, f'_on_{b.name.lower()}')()
        return self

    @add.register
    def _(self, what: dict):
        self.x.append(list(what))
        return self

    def _on_a(self):
        self.x.append('a!')

    def _on_b(self):
        self.x.append('b!')

def recipe():
    return sized(F().add(K.A | K.B).add({'q': 1}).x)
""",
    "a second name of a member is left out of a walk": """\
from config import sized
from enum import Enum

class Kind(Enum):
    ONE = 1
    TWO = 2
    FIRST = 1

def recipe():
    return sized([[each.name for each in Kind], list(Kind.__members__), Kind.FIRST.name])
""",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("text", FLAGS.values(), ids=FLAGS.keys())
def test_an_enumeration_is_walked_as_python_walks_it(text: str) -> None:
    agrees({"main.py": text})


BUILDER = """\
import os
from functools import partial
from config import sized


class Builder:
    def __init__(self):
        self.sizes = []

    def on_large(self, size=1):
        self.sizes.append(size)


def recipe():
    builder = Builder()
    name = os.uname().nodename
    {call}
    return sized(builder.sizes)
"""

CALLS = {
    "getattr": 'getattr(builder, "on_" + name)()',
    "getattr with a default": 'getattr(builder, "on_" + name, print)()',
    "in a loop": "for each in os.listdir(): getattr(builder, each)()",
    "a method of its list": "getattr(builder.sizes, name)(1)",
    "a table of methods": "{'large': builder.on_large}.get(name, print)()",
    "a table of partials": "{'large': partial(builder.on_large, 3)}.get(name, print)()",
    "a list of functions": "[lambda: builder.on_large(1), lambda: None][len(name)]()",
    "a table of its parts": "{'large': builder.sizes, 'small': []}[name].append(1)",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_a_call_by_a_name_that_is_not_known_may_change_the_object(call: str) -> None:
    Path("config.py").write_text(CONFIG)
    Path("main.py").write_text(BUILDER.format(call=call))
    (found,) = [each for each in read_python(["main.py"], Sources()).recipes if each.name == "recipe"]
    assert not any(isinstance(each.settings.value("ddp.bucket_size"), Known) for each in found.variants)
