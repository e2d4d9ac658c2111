"""Which configurations a recipe may come to, and through which names it is known."""

from __future__ import annotations

import pytest

from mfsdp_lint.addresses import parse_address
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.recipe import Recipe
from mfsdp_lint.sources import Sources
from mfsdp_lint.values import UNKNOWN, Known, OneOf, Value

CONFIG = """\
import functools
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class Checkpoint:
    ckpt_format: str = "torch_dist"


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)


def common(ckpt_format="torch"):
    return ConfigContainer(checkpoint=Checkpoint(ckpt_format))


"""
SWITCH = "ddp.use_megatron_fsdp"
FORMAT = "checkpoint.ckpt_format"


def recipes(text: str) -> dict[str, Recipe]:
    found = read_python(["recipes.py"], Sources({"recipes.py": CONFIG + text})).recipes
    return {recipe.name: recipe for recipe in found}


def ways(recipe: Recipe) -> list[tuple[tuple[str, ...], Value, Value]]:
    return [(variant.when, variant.value(SWITCH), variant.value(FORMAT)) for variant in recipe.variants]


# -- the caller's configuration, or one of its own ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("default", "given", "own"),
    [
        ("cfg = cfg or common()", "cfg", "not (cfg)"),
        ("if cfg is None:\n        cfg = common()", "not (cfg is None)", "cfg is None"),
        ("cfg = common() if cfg is None else cfg", "not (cfg is None)", "cfg is None"),
    ],
)
def test_a_configuration_that_may_be_given_is_looked_at_both_ways(default: str, given: str, own: str) -> None:
    found = recipes(f"def recipe(cfg):\n    {default}\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n")
    assert {when: (switch, name) for when, switch, name in ways(found["recipe"])} == {
        (given,): (Known(True), UNKNOWN),
        (own,): (Known(True), Known("torch")),
    }


def test_what_is_written_to_one_of_two_unknown_objects_may_be_written_to_either() -> None:
    text = "def recipe(cfg, other):\n    cfg.ddp.use_megatron_fsdp = False\n    one = cfg or other\n"
    found = recipes(text + "    one.ddp.use_megatron_fsdp = True\n    return cfg\n")
    value = found["recipe"].setting(SWITCH).value
    assert isinstance(value, OneOf)
    assert set(value.values) == {True, False}


# -- one of several configurations ----------------------------------------------------------------------------------


def test_a_call_of_one_of_several_functions_gives_a_variant_each() -> None:
    text = """\
def sharded():
    return common("fsdp_dtensor")


def recipe(fsdp):
    cfg = (sharded if fsdp else common)()
    cfg.ddp.use_megatron_fsdp = True
    return cfg
"""
    assert {(switch, name) for _, switch, name in ways(recipes(text)["recipe"])} == {
        (Known(True), Known("fsdp_dtensor")),
        (Known(True), Known("torch")),
    }


def test_past_the_limit_of_ways_a_recipe_still_has_a_variant_for_each_configuration() -> None:
    branches = "".join(
        f"    if flags[{number}]:\n        cfg.checkpoint.ckpt_format = 'f{number}'\n" for number in range(3)
    )
    text = f"""\
def recipe(flags, fsdp):
    cfg, other = common(), common("fsdp_dtensor")
    other.ddp.use_megatron_fsdp = True
{branches}    return other if fsdp else cfg
"""
    found = ways(recipes(text)["recipe"])
    assert {switch for _, switch, _ in found} == {Known(True), Known(False)}
    assert all(name == Known("fsdp_dtensor") for _, switch, name in found if switch == Known(True))
    assert found[0][0][-1] == "recipe() returns configuration 1 of 2"


# -- functools.partial ----------------------------------------------------------------------------------------------

PARTIALS = """\
def recipe(size, ckpt_format="torch"):
    cfg = common(ckpt_format)
    cfg.ddp.use_megatron_fsdp = size > 8
    return cfg


small = functools.partial(recipe, 4)
large = functools.partial(functools.partial(recipe, size=16), ckpt_format="fsdp_dtensor")
other = functools.partial(print, "checkpoint")
"""


def test_a_recipe_with_arguments_given_is_a_recipe() -> None:
    found = recipes(PARTIALS)
    assert ways(found["small"]) == [((), Known(False), Known("torch"))]
    assert ways(found["large"]) == [((), Known(True), Known("fsdp_dtensor"))]
    assert found["small"].line == PARTIALS[: PARTIALS.index("small")].count("\n") + CONFIG.count("\n") + 1
    assert "other" not in found


def test_it_can_be_addressed_with_the_arguments_that_are_left() -> None:
    address = parse_address('recipes.py::small(ckpt_format="zarr")')
    found = read_python([], Sources({"recipes.py": CONFIG + PARTIALS}), addresses=[address])
    assert not found.missing
    (recipe,) = found.recipes
    assert recipe.label == 'small(ckpt_format="zarr")'
    assert ways(recipe) == [((), Known(False), Known("zarr"))]


# -- a configuration that somebody hands in --------------------------------------------------------------------------


def test_what_is_written_on_one_side_only_is_not_known_on_the_other() -> None:
    found = recipes(
        """\
def recipe(cfg: ConfigContainer, wanted) -> ConfigContainer:
    if wanted:
        cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch"
    return cfg
"""
    )
    assert ways(found["recipe"]) == [
        (("wanted",), Known(True), Known("torch")),
        (("not (wanted)",), UNKNOWN, Known("torch")),
    ]


def test_the_same_in_a_helper_past_the_limit_of_ways() -> None:
    found = recipes(
        """\
def switched(cfg, wanted):
    if wanted:
        cfg.ddp.use_megatron_fsdp = True


def recipe(cfg: ConfigContainer, a, b, c, d) -> ConfigContainer:
    for name in (a, b, c):
        if name:
            cfg.checkpoint.ckpt_format = name
    switched(cfg, d)
    return cfg
"""
    )
    assert found["recipe"].setting(SWITCH).value == UNKNOWN
    assert UNKNOWN in {switch for _, switch, _ in ways(found["recipe"])}


def test_a_class_attribute_stands_behind_a_field_that_is_written_on_one_side_only() -> None:
    found = recipes(
        """\
class Formats:
    chosen = "torch"


def chosen(wanted):
    formats = Formats()
    if wanted:
        formats.chosen = "fsdp_dtensor"
    return formats.chosen


def recipe(wanted) -> ConfigContainer:
    return common(chosen(wanted))
"""
    )
    assert found["recipe"].setting("checkpoint.ckpt_format").value == OneOf(("fsdp_dtensor", "torch"))
