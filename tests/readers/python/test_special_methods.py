"""Settings that are written by the methods behind Python's own syntax."""

# ruff: noqa: E501 (a program a line)

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known, OneOf, Value
from mfsdp_lint.megatron.versions import resolve_target
from tests.readers.python.upstream_recipes import values


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


NAME = "'use_megatron_fsdp'"
WRITES = {
    "of the object": f"cfg.ddp.__setattr__({NAME}, True)",
    "of the object, by a name": f"put = cfg.ddp.__setattr__\n    put({NAME}, True)",
    "of the object, by getattr": f"getattr(cfg.ddp, '__setattr__')({NAME}, True)",
    "of its class": f"type(cfg.ddp).__setattr__(cfg.ddp, {NAME}, True)",
    "of object": f"object.__setattr__(cfg.ddp, {NAME}, True)",
    "of its attributes": f"cfg.ddp.__dict__.__setitem__({NAME}, True)",
    "of its attributes, by a name": f"put = vars(cfg.ddp).__setitem__\n    put({NAME}, True)",
    "of its attributes, in place": f"cfg.ddp.__dict__.__ior__({{{NAME}: True}})",
    "of dict": f"dict.__setitem__(cfg.ddp.__dict__, {NAME}, True)",
    "for a part that is read so": "cfg.__getattribute__('ddp').use_megatron_fsdp = True",
    "by operator": f"operator.setitem(cfg.ddp.__dict__, {NAME}, True)",
    "by methodcaller": f"operator.methodcaller('__setattr__', {NAME}, True)(cfg.ddp)",
    "by map": f"list(map(cfg.ddp.__setattr__, [{NAME}], [True]))",
    "of an element": "[cfg.ddp].__getitem__(0).use_megatron_fsdp = True",
    "of a mapping": "View(cfg.ddp).update(use_megatron_fsdp=True)",
    "of a mapping, with a dictionary": f"View(cfg.ddp).update({{{NAME}: True}})",
    "of a mapping, where it lacks": f"del cfg.ddp.__dict__[{NAME}]\n    View(cfg.ddp).setdefault({NAME}, True)",
    "of a sequence": f"Changes(cfg.ddp).append(({NAME}, True))",
}
TOP = """\
import operator
from collections.abc import MutableSequence
from typing import MutableMapping

class View(MutableMapping[str, object]):
    def __init__(self, of):
        self.of = of
    def __getitem__(self, key):
        return vars(self.of)[key]
    def __setitem__(self, key, value):
        setattr(self.of, key, value)
    def __delitem__(self, key):
        delattr(self.of, key)
    def __iter__(self):
        return iter(vars(self.of))
    def __len__(self):
        return len(vars(self.of))

class Changes(MutableSequence):
    def __init__(self, of):
        self.of, self.done = of, []
    def __getitem__(self, place):
        return self.done[place]
    def __setitem__(self, place, change):
        self.done[place] = change
    def __delitem__(self, place):
        del self.done[place]
    def __len__(self):
        return len(self.done)
    def insert(self, place, change):
        self.done.insert(place, change)
        setattr(self.of, *change)

"""


def after(lines: str, path: str = "ddp.use_megatron_fsdp", version: str = "0.6.0") -> set[Value]:
    text = f"{TOP}def recipe():\n    cfg = base()\n    {lines}\n    return cfg\n"
    return values(text, path, resolve_target(version))


@pytest.mark.parametrize("lines", WRITES.values(), ids=WRITES.keys())
def test_it_is_written(lines: str) -> None:
    assert after(lines) == {Known(True)}


OUT_OF_SIGHT = {
    "a name that is not known": "import os\n    cfg.ddp.__setattr__(os.environ['NAME'], True)",
    "made anew": "cfg.ddp.__init__(use_megatron_fsdp=True)",
    "an element whose place is not known": "import os\n    [cfg.ddp, cfg.model].pop(int(os.environ['N'])).use_megatron_fsdp = True",
    "a method of a base out of sight": "from outside import Base\n    class Mine(Base):\n        def __init__(self, of):\n            self.of = of\n    Mine(cfg.ddp).change()",
    "such a method by a name": "from outside import Base\n    class Mine(Base):\n        def __init__(self, of):\n            self.of = of\n    change = Mine(cfg.ddp).change\n    change()",
    "an entry by such a method": "from outside import Base\n    class Mine(Base):\n        def __init__(self, of):\n            self.of = of\n    Mine(cfg.ddp)['use_megatron_fsdp'] = True",
}


@pytest.mark.parametrize("lines", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT.keys())
def test_what_may_have_been_written_is_not_known(lines: str) -> None:
    assert after(lines).isdisjoint((Known(True), Known(False)))


def test_what_leaves_its_object_alone_forgets_nothing() -> None:
    lines = "from pydantic import BaseModel\n    class Mine(BaseModel):\n        of: object = None\n    mine = Mine(of=cfg.ddp)\n    mine.model_dump()"
    assert after(lines) == {Known(False)}


def test_a_deleted_setting_has_its_class_s_default() -> None:
    assert after("cfg.ddp.use_megatron_fsdp = True\n    cfg.ddp.__delattr__('use_megatron_fsdp')") == {Known(False)}


AROUND = {
    "by update": "cfg.model.__dict__.update(tensor_model_parallel_size=8)",
    "by an entry": "cfg.model.__dict__['tensor_model_parallel_size'] = 8",
    "by object": "object.__setattr__(cfg.model, 'tensor_model_parallel_size', 8)",
}


@pytest.mark.parametrize("lines", AROUND.values(), ids=AROUND.keys())
def test_around_a_class_that_hands_attributes_on_it_is_one_of_two(lines: str) -> None:
    assert after(lines, "model.tensor_model_parallel_size", "head") == {OneOf((8, 1))}
    assert after(lines, "model.tensor_model_parallel_size", "0.6.0") == {Known(8)}
