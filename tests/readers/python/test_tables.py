"""Classes of dictionaries: their objects keep entries as plain ones do, whatever methods and attributes they add."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known, Plain
from tests.readers.python.test_decorated import read

CLASSES = """
from collections import ChainMap
from copy import deepcopy

class Flags(dict):
    def __init__(self, **given):
        super().__init__(given, made=True)

    def __or__(self, other):
        return type(self)(**ChainMap(other, self))

    @property
    def words(self):
        return " ".join(f"--{key} {value}" for key, value in self.items())

class More(Flags):
    def words_of(self, key):
        return f"{key}:{self.get(key, 'none')}"

class Attributes(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__

class Itself(dict):
    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        self.__dict__ = self

class Hooks(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value

class Upper(dict):
    def __getitem__(self, key):
        return super().__getitem__(key).upper()

def changed(table):
    table.kind = "new"
    return table
"""

KNOWN: dict[str, Plain] = {
    "Flags(a=1)['a']": 1,
    "Flags(a=1).words": "--a 1 --made True",
    "(Flags(a=1) | Flags(a=2, b=3))['a']": 2,
    "type(More(a=1) | {}).__name__": "More",
    "More(a=1).words_of('b')": "b:none",
    "isinstance(Flags(), dict) and isinstance(More(), Flags) and not isinstance(Flags(), More)": True,
    "len({**Flags(a=1), 'b': 2})": 3,
    "'a' in Flags(a=1)": True,
    "Attributes(kind='x').kind": "x",
    "changed(Attributes(kind='x'))['kind']": "new",
    "changed(Itself({'kind': 'x'}))['kind']": "new",
    "Itself(kind='x').kind": "x",
    "changed(Hooks())['kind']": "new",
    "getattr(Hooks(), 'kind', 'none')": "none",
    "changed(deepcopy(Hooks(kind='x'))).kind": "new",
}


@pytest.mark.parametrize("expression", KNOWN)
def test_the_value_is_the_one_that_python_gives(expression: str, tmp_path: Path) -> None:
    scope: dict[str, object] = {}
    exec(CLASSES, scope)
    assert eval(expression, scope) == KNOWN[expression]
    found = read(tmp_path, f"{CLASSES}\ndef recipe():\n    return build({expression})\n")["recipe"]
    assert found.variants[0].value("ddp.strategy") == Known(KNOWN[expression])


@pytest.mark.parametrize(
    "expression",
    ["Upper(kind='x')['kind']", "changed(Flags(kind='x'))['kind']"],
    ids=["entries that the class reads otherwise", "an attribute beside the entries"],
)
def test_what_is_not_followed_is_unknown(expression: str, tmp_path: Path) -> None:
    found = read(tmp_path, f"{CLASSES}\ndef recipe():\n    return build({expression})\n")["recipe"]
    assert not isinstance(found.variants[0].value("ddp.strategy"), Known)
