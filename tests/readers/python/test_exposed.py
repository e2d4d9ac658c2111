"""A parameter that turns FSDP on: the recipe is known with it on as well, beside what its defaults make of it."""

# Recipes are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

CONFIG = """\
import functools
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from typing_extensions import Unpack


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class Dist:
    use_megatron_fsdp: bool = False
    use_torch_fsdp2: bool = False


@dataclass
class Checkpoint:
    ckpt_format: str = "torch_dist"
    save: str | None = None


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)
    dist: Dist = field(default_factory=Dist)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)


def _enable(cfg):
    cfg.dist.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"


"""


def recipe(text: str) -> Recipe:
    found = read_python(["recipes.py"], Sources({"recipes.py": CONFIG + text})).recipes
    return next(each for each in found if each.name == "recipe")


def exposures(found: Recipe) -> list[tuple[str, ...]]:
    return [variant.when for variant in found.exposed]


SWITCHED = {
    "written to a switch": "def recipe(fsdp=False):\n    cfg = ConfigContainer()\n    cfg.ddp.use_megatron_fsdp = fsdp",
    "a constructor's argument": "def recipe(fsdp=False):\n    cfg = ConfigContainer(ddp=DDP(use_megatron_fsdp=fsdp))",
    "through another name": "def recipe(fsdp=False):\n    cfg = ConfigContainer()\n    on = fsdp\n    cfg.ddp.use_megatron_fsdp = on",
    "by the name of the attribute": "def recipe(fsdp=False):\n    cfg = ConfigContainer()\n    setattr(cfg.ddp, 'use_megatron_fsdp', fsdp)",
    "above a helper that turns it on": "def recipe(fsdp=False):\n    cfg = ConfigContainer()\n    if fsdp:\n        _enable(cfg)",
    "behind an early return": "def recipe(fsdp=False):\n    cfg = ConfigContainer()\n    if not fsdp:\n        return cfg\n    _enable(cfg)",
    "None by default": "def recipe(fsdp: bool | None = None):\n    cfg = ConfigContainer()\n    cfg.dist.use_torch_fsdp2 = bool(fsdp)",
    "without a default": "def recipe(fsdp: bool):\n    cfg = ConfigContainer()\n    cfg.ddp.use_megatron_fsdp = fsdp",
    "in a function with some arguments given": "def plain(save, fsdp=False):\n    return ConfigContainer(ddp=DDP(fsdp))\n\n\nrecipe = functools.partial(plain, 'x')\n\n\ndef unused(cfg):",
}  # fmt: skip


@pytest.mark.parametrize("text", SWITCHED.values(), ids=SWITCHED.keys())
def test_a_parameter_reaches_a_switch(text: str) -> None:
    found = recipe(text + "\n    return cfg\n")
    assert exposures(found) == [("fsdp=True",)]
    assert [variant.exposed for variant in found.exposed] == [("fsdp",)]


def test_the_recipe_itself_is_what_its_defaults_make_of_it() -> None:
    found = recipe(SWITCHED["above a helper that turns it on"] + "\n    return cfg\n")
    (variant,) = found.exposed
    assert found.setting("dist.use_megatron_fsdp").value == Known(False)
    assert found.setting("checkpoint.ckpt_format").value == Known("torch_dist")
    assert variant.value("dist.use_megatron_fsdp") == Known(True)
    assert variant.value("checkpoint.ckpt_format") == Known("fsdp_dtensor")


def test_a_keyword_that_a_typed_dictionary_declares_is_one() -> None:
    text = """\
class Keywords(TypedDict, total=False):
    use_megatron_fsdp: bool
    save: str
    fast: bool


def _shared(use_megatron_fsdp=False, save=None, fast=False):
    return ConfigContainer(DDP(use_megatron_fsdp=use_megatron_fsdp), checkpoint=Checkpoint(save=save))


def recipe(**given: Unpack[Keywords]):
    recommended: Keywords = {"save": "x"}
    return _shared(**{**recommended, **given})
"""
    assert exposures(recipe(text)) == [("use_megatron_fsdp=True",)]


def test_a_choice_by_name_is_tried_with_the_names_that_it_is_compared_with() -> None:
    text = """\
def recipe(sharding: Literal["none", "megatron", "torch"] = "none"):
    cfg = ConfigContainer()
    if sharding == "megatron":
        _enable(cfg)
    elif sharding == "torch":
        cfg.dist.use_torch_fsdp2 = True
    elif sharding != "none":
        raise ValueError(sharding)
    return cfg
"""
    assert exposures(recipe(text)) == [('sharding="megatron"',), ('sharding="torch"',)]


SILENT = {
    "on by default": "def recipe(fsdp=True):\n    cfg = ConfigContainer()\n    cfg.ddp.use_megatron_fsdp = fsdp",
    "on whatever it is": "def recipe(fsdp=False):\n    cfg = ConfigContainer()\n    cfg.ddp.use_megatron_fsdp = True or fsdp",
    "another setting": "def recipe(save=False):\n    cfg = ConfigContainer()\n    cfg.checkpoint.save = save",
    "turned off by it": "def recipe(plain=False):\n    cfg = ConfigContainer()\n    cfg.ddp.use_megatron_fsdp = not plain",
    "raises with it on": "def recipe(fsdp=False):\n    cfg = ConfigContainer()\n    if fsdp:\n        raise ValueError\n    cfg.ddp.use_megatron_fsdp = fsdp",
    "a way of the recipe's own": "def recipe(fsdp: bool) -> ConfigContainer:\n    cfg = ConfigContainer()\n    if fsdp:\n        _enable(cfg)",
}  # fmt: skip


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT.keys())
def test_nothing_more_is_exposed(text: str) -> None:
    assert recipe(text + "\n    return cfg\n").exposed == ()


PROGRAMS = {
    "argparse": """
import argparse

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()

def main():
    args = options()
    cfg = ConfigContainer()
    if args.fsdp:
        cfg.ddp.use_megatron_fsdp = True
    return cfg
""",
    "click": """
import click

@click.command()
@click.option("--fsdp", is_flag=True)
@click.option("--verbose", is_flag=True)
def main(fsdp, verbose):
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
""",
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_an_option_of_the_command_line_is_a_switch(kind: str) -> None:
    found = read_python(["recipes.py"], Sources({"recipes.py": CONFIG + PROGRAMS[kind]})).recipes
    (main,) = (each for each in found if each.name == "main")
    assert [variant.exposed for variant in main.exposed] == [("--fsdp",)]
    assert main.exposed[0].value("ddp.use_megatron_fsdp") == Known(True)
    assert main.variants[0].value("ddp.use_megatron_fsdp") == Known(False)


def test_an_option_of_a_script_is_tried_once_whatever_ways_through_the_script_there_are() -> None:
    script = """
import argparse
from outside import probe

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", action="store_true")
    return parser.parse_args()

if __name__ == "__main__":
    cfg = ConfigContainer()
    if probe():
        cfg.checkpoint.save = "there"
    cfg.ddp.use_megatron_fsdp = options().fsdp
"""
    recipes = read_python(["train.py"], Sources({"train.py": CONFIG + script})).recipes
    found = next(each for each in recipes if each.kind == "script")
    ways = ("probe()",), ("not (probe())",)
    assert [variant.when for variant in found.variants] == list(ways)
    assert [variant.when for variant in found.exposed] == [("--fsdp", *way) for way in ways]
