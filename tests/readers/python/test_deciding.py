"""A written value is followed back to the text that decides it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

SETTING = "ddp.use_megatron_fsdp"
IMPORTS = """\
import argparse
import enum
import operator
import os
import click
import typer
from dataclasses import asdict, dataclass
from functools import partial
from types import SimpleNamespace
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base
"""

PUT = """
def put(cfg, items):
    for item in items:
        name, _, text = item.partition("=")
        setattr(cfg.ddp, name, text == "yes")
    return cfg
"""

# Each program turns FSDP on in `recipe`; the text between « and » decides it.
PROGRAMS = {
    "the write itself": """
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = «True»
    return cfg
""",
    "what a function that does nothing else returns": """
def sharded():
    return «True»
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = sharded()
    return cfg
""",
    "the one of two equal values that a helper was given for the setting": """
VALUES = {"overlap_grad_reduce": 1, "use_megatron_fsdp": «1»}
def as_flag(value):
    return bool(value)
def recipe():
    cfg = base()
    for name, value in VALUES.items():
        setattr(cfg.ddp, name, as_flag(value))
    return cfg
""",
    "what a method of a subclass returns": """
class Base:
    def on(self):
        return False
    @property
    def overlap(self):
        return False
    def build(self):
        cfg = base()
        cfg.ddp.use_megatron_fsdp = self.on()
        return cfg
class Sharded(Base):
    def on(self):
        "Shard it."
        return «True»
def recipe():
    return Sharded().build()
""",
    "what a property returns": """
class Base:
    on = False
    def build(self):
        cfg = base()
        cfg.ddp.use_megatron_fsdp = self.on
        return cfg
class Sharded(Base):
    @property
    def on(self):
        return «True»
def recipe():
    return Sharded().build()
""",
    "a keyword argument": """
def build(on=False):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = on
    return cfg
def recipe():
    return build(«on=True»)
""",
    "a keyword of a partial that the function takes among others": """
def put(cfg, **values):
    for name, value in values.items():
        setattr(cfg.ddp, name, value)
    return cfg
sharded = partial(put, «use_megatron_fsdp=True»)
def recipe():
    return sharded(base())
""",
    "what a generator delegates to": """
def sizes():
    yield "overlap_grad_reduce", False
def changes():
    yield from sizes()
    yield from [("overlap_param_gather", False), ("use_megatron_fsdp", «True»)]
def recipe():
    cfg = base()
    for name, value in changes():
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "an entry that is there, and not the default": """
TABLE = {}
TABLE["fsdp"] = «True»
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = TABLE.get("fsdp", False)
    return cfg
""",
    "the second of two calls with equal arguments": """
def build(on):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = on
    return cfg
def first():
    return build(True)
def recipe():
    return build(«True»)
""",
    "through a helper that two others call": """
def inner(on):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = on
    return cfg
def outer(on):
    return inner(on)
def first():
    return outer(True)
def recipe():
    return outer(«True»)
""",
    "a positional argument behind a star": """
def build(name, on):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = on
    return cfg
ROW = ("big", «True»)
def recipe():
    return build(*ROW)
""",
    "keywords from a dictionary": """
def build(on):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = on
    return cfg
OPTIONS = {"on": «True»}
def recipe():
    return build(**OPTIONS)
""",
    "further positional arguments": """
def build(*flags):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = flags[1]
    return cfg
def recipe():
    return build(False, «True»)
""",
    "a default": """
def recipe(*, on: bool = «True»):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = on
    return cfg
""",
    "a local name": """
def recipe():
    cfg = base()
    on = False
    on = «True»
    cfg.ddp.use_megatron_fsdp = on
    return cfg
""",
    "a branch that is taken": """
ON = 1
def recipe():
    cfg = base()
    if ON:
        on = «True»
    else:
        on = False
    cfg.ddp.use_megatron_fsdp = on
    return cfg
""",
    "unpacking": """
def recipe():
    cfg = base()
    tp, on = 2, «True»
    cfg.ddp.use_megatron_fsdp = on
    return cfg
""",
    "an assignment expression": """
def recipe():
    cfg = base()
    if (on := «True»):
        cfg.ddp.use_megatron_fsdp = on
    return cfg
""",
    "an object's attribute": """
class Options:
    def __init__(self, on):
        self.on = on
def recipe():
    options = Options(«True»)
    cfg = base()
    cfg.ddp.use_megatron_fsdp = options.on
    return cfg
""",
    "the attribute of a base class": """
class Base:
    on = «True»
class Derived(Base):
    other = False
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = Derived().on
    return cfg
""",
    "an enumeration": """
class Switch(enum.Enum):
    OFF = False
    ON = True
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = «Switch.ON».value
    return cfg
""",
    "a nested table": """
TABLE = {"big": {"ddp": {"use_megatron_fsdp": «True»}}}
def recipe():
    cfg = base()
    for section, values in TABLE["big"].items():
        for name, value in values.items():
            setattr(getattr(cfg, section), name, value)
    return cfg
""",
    "an entry that is written later": """
changes = {"use_megatron_fsdp": False}
changes["use_megatron_fsdp"] = «True»
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = changes["use_megatron_fsdp"]
    return cfg
""",
    "a list that is sorted first": """
def recipe():
    cfg = base()
    for name, value in sorted([("use_megatron_fsdp", «True»), ("average_in_collective", False)]):
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "a comprehension": """
def recipe():
    cfg = base()
    [setattr(cfg.ddp, name, value) for name, value in [("average_in_collective", False), ("use_megatron_fsdp", «True»)]]
    return cfg
""",
    "an enumerated list": """
def recipe():
    cfg = base()
    for number, (name, value) in enumerate([("use_megatron_fsdp", «True»)]):
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "a dataclass of options": """
@dataclass
class Options:
    use_megatron_fsdp: bool = False
def recipe():
    cfg = base()
    for name, value in asdict(Options(«use_megatron_fsdp=True»)).items():
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "a default of the dictionary's get": """
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = {}.get("on", «True»)
    return cfg
""",
    "what a function returns": """
def switch(size):
    if size == "8b":
        return «True»
    return False
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = switch("8b")
    return cfg
""",
    "a conversion": """
ON = «"1"»
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = bool(int(ON))
    return cfg
""",
    "functools.partial": """
def build(on, tp=1):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = on
    return cfg
recipe = partial(build, «True», tp=2)
""",
    "a conditional expression": """
BIG = True
ON = True
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = ON if BIG else False
    return cfg
""".replace("ON = True", "ON = «True»"),
    "an option's default": """
def recipe():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", type=int, «default=1»)
    args = parser.parse_args()
    cfg = base()
    cfg.ddp.use_megatron_fsdp = bool(args.fsdp)
    return cfg
""",
    "an option's default in click": """
@click.command()
@click.option("--fsdp/--no-fsdp", «default=True»)
def recipe(fsdp):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
""",
    "an option's default in typer": """
def recipe(fsdp: bool = typer.Option(«True», "--fsdp")):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
""",
    "a keyword of a section": """
def recipe(on=«True»):
    cfg = base()
    cfg.ddp = type(cfg.ddp)(use_megatron_fsdp=on)
    return cfg
""",
    "a row that goes through many hands": """
COMMON = [(2, "overlap_grad_reduce", False)]
def changes():
    rows = [*COMMON]
    rows.append((1, "use_megatron_fsdp", «True»))
    return [row[1:] for row in sorted(rows + [(3, "overlap_param_gather", False)])]
def recipe():
    cfg = base()
    for name, value in changes():
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "a row that is taken apart into settings": """
ROWS = {"8b": (1, «True»), "70b": (8, False)}
def recipe():
    cfg = base()
    cfg.model.tensor_model_parallel_size, cfg.ddp.use_megatron_fsdp = ROWS["8b"]
    return cfg
""",
    "names and values that a function zips": """
NAMES = ["overlap_grad_reduce", "use_megatron_fsdp"]
VALUES = [False, «True»]
def changes():
    return dict(zip(NAMES, VALUES)).items()
def recipe():
    cfg = base()
    for name, value in changes():
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "a text that is taken apart twice": """
MODES = {"plain": "fsdp=no;tp=1", "sharded": «"fsdp=yes;tp=1"»}
def recipe():
    cfg = base()
    said = dict(part.split("=") for part in MODES["sharded"].split(";"))
    cfg.ddp.use_megatron_fsdp = said["fsdp"] == "yes"
    return cfg
""",
    "the side that a test takes": """
def merged(old, new):
    return {name: merged(old[name], value) if isinstance(value, dict) else value for name, value in new.items()}
def recipe():
    cfg = base()
    table = merged({"ddp": {"use_megatron_fsdp": False}}, {"ddp": {"use_megatron_fsdp": «True»}})
    for name, value in table["ddp"].items():
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "an element of lists that are joined": PUT
    + """
SHARED = ["overlap_grad_reduce=no"]
SHARDED = [«"use_megatron_fsdp=yes"»]
def recipe():
    return put(base(), SHARED + SHARDED + SHARED)
""",
    "an element of lists that are spread": PUT
    + """
SHARED = "overlap_grad_reduce=no overlap_param_gather=no".split()
SHARDED = («"use_megatron_fsdp=yes"»,)
def recipe():
    return put(base(), [*SHARED, *SHARDED])
""",
    "a piece of a text behind a list": PUT
    + """
SHARED = ["overlap_grad_reduce=no"]
SHARDED = «"use_megatron_fsdp=yes overlap_param_gather=no"».split()
def recipe():
    return put(base(), SHARED + SHARDED)
""",
    "an element that was appended": PUT
    + """
ITEMS = "overlap_grad_reduce=no".split()
ITEMS.append(«"use_megatron_fsdp=yes"»)
def recipe():
    return put(base(), list(ITEMS))
""",
    "an element that a list was extended by": PUT
    + """
ITEMS = "overlap_grad_reduce=no".split()
ITEMS.extend([«"use_megatron_fsdp=yes"»])
def recipe():
    return put(base(), tuple(ITEMS))
""",
    "an entry of a table that another one takes in place": """
SHARDED = {"use_megatron_fsdp": «True»}
def recipe():
    cfg = base()
    options = {"overlap_grad_reduce": False}
    options |= SHARDED
    for name, value in options.items():
        setattr(cfg.ddp, name, value)
    return cfg
""",
    "the value of all keys of a table": """
ENGINES = dict.fromkeys(("plain", "sharded"), «True») | {"plain": False}
def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = ENGINES["sharded"]
    return cfg
""",
    "a variable of an enclosing function": """
def outer(on):
    def inner():
        cfg = base()
        cfg.ddp.use_megatron_fsdp = on
        return cfg
    return inner()
def recipe():
    return outer(«True»)
""",
}


def origin(folder: Path, text: str) -> Origin:
    path = folder / "recipes.py"
    path.write_text(IMPORTS + text)
    found = read_python([str(path)], Sources(), load_knowledge(resolve_target("0.3.1"))).recipes
    (recipe,) = (each for each in found if each.name == "recipe")
    written = recipe.setting(SETTING).origin
    assert written is not None
    return written


def text_at(written: Origin) -> str:
    span = written.places(lambda path: True)[0].span
    return Path(span.path).read_text().splitlines()[span.line - 1][span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_that_decides_a_value_is_found(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    before, _, rest = program.partition("«")
    decisive = rest.partition("»")[0]
    written = origin(tmp_path, program.replace("«", "").replace("»", ""))
    span = written.places(lambda path: True)[0].span
    assert text_at(written) == decisive
    assert span.line == (IMPORTS + before).count("\n") + 1


def test_the_texts_between_are_told_in_their_order(tmp_path: Path) -> None:
    text = """
def inner(cfg, on):
    cfg.ddp.use_megatron_fsdp = on
def outer(flag):
    cfg = base()
    inner(cfg, flag)
    return cfg
def recipe():
    return outer(flag=True)
"""
    written = origin(tmp_path, text)
    lines = [source.span.line - IMPORTS.count("\n") for source in written.sources]
    assert (written.span.line - IMPORTS.count("\n"), lines) == (3, [6, 9])
    assert [source.function for source in written.sources] == ["outer", "recipe"]


@pytest.mark.parametrize(
    "expression", ["a or b", "a + b > 1", "unknown_tool.flag(a)", "[a, b][len([1])]", "make()()", "(lambda: True)()"]
)
def test_what_cannot_be_followed_is_told_at_the_write(expression: str, tmp_path: Path) -> None:
    text = f"""
import unknown_tool
def make():
    return lambda: True
def recipe(a=True, b=True):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = {expression}
    return cfg
"""
    written = origin(tmp_path, text)
    assert written.places(lambda path: True)[-1].span.line == IMPORTS.count("\n") + 7


def test_only_places_in_files_that_are_linted_count(tmp_path: Path) -> None:
    written = origin(
        tmp_path, "def recipe(on=True):\n    cfg = base()\n    cfg.ddp.use_megatron_fsdp = on\n    return cfg\n"
    )
    assert written.places(lambda path: False) == []
    assert [place.span for place in written.places(lambda path: True)] == [written.sources[0].span, written.point]


def test_what_only_a_caller_could_give_is_told_where_it_is_handed_on(tmp_path: Path) -> None:
    text = """
from typing import TypedDict, Unpack
class Options(TypedDict, total=False):
    fsdp: bool
def build(fsdp=False):
    cfg = base()
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
def recipe(**given: Unpack[Options]):
    merged = {**{}, **given}
    return build(**merged)
"""
    path = tmp_path / "recipes.py"
    path.write_text(IMPORTS + text)
    found = read_python([str(path)], Sources(), load_knowledge(resolve_target("0.3.1"))).recipes
    (recipe,) = (each for each in found if each.name == "recipe")
    written = recipe.exposed[0].origin(SETTING)
    assert written is not None
    assert {place.span.line - IMPORTS.count("\n") for place in written.places(lambda path: True)} == {7}
