"""Which configurations a recipe may come to, and through which names it is known."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, OneOf, Value
from mfsdp_lint.inputs.addresses import parse_address
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

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


# -- a loop over the entries of a table ----------------------------------------------------------------------------

ROWS = """\
ROWS = {
    "small": {"name": "torch", "fields": {"use_megatron_fsdp": False}},
    "large": {"name": "fsdp_dtensor", "fields": {"use_megatron_fsdp": True}},
}


def recipe(size):
    cfg = common()
    row = ROWS[size]
    for name, value in %s.items():
        setattr(cfg.ddp, name, value)
    cfg.checkpoint.ckpt_format = %s
    return cfg
"""
SMALL_AND_LARGE = [
    (("size == 'small'",), Known(False), Known("torch")),
    (("size == 'large'",), Known(True), Known("fsdp_dtensor")),
]


@pytest.mark.parametrize("walked", ["ROWS[size]['fields']", "row['fields']"])
@pytest.mark.parametrize(
    "other",
    [
        "row['name']",
        "ROWS[size]['name']",
        "'fsdp_dtensor' if size == 'large' else 'torch'",
        "'torch' if size == 'small' else 'fsdp_dtensor'",
        "'fsdp_dtensor' if row['name'] != 'torch' else 'torch'",
    ],
)
def test_a_loop_over_one_of_several_rows_is_a_variant_each_which_is_of_one_row_throughout(
    walked: str, other: str
) -> None:
    assert ways(recipes(ROWS % (walked, other))["recipe"]) == SMALL_AND_LARGE


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


@pytest.mark.parametrize(
    "taken",
    [
        "one = cfg if flag else other",
        "one = [cfg, other][flag]",
        "one = {True: cfg, False: other}[flag]",
        "one = {'a': cfg}.get(flag, other)",
        "one = next((each for each in (cfg, other) if each is flag), other)",
        "one = next(iter([each for each in (cfg, other) if flag[each.checkpoint.ckpt_format]]))",
        "one = [*[cfg, other][:flag], other][0]",
        "one = (*[cfg, other][:flag], other)[0]",
        "one, *_ = [cfg, other][flag:]",
        "one = sorted([cfg, other], key=lambda each: flag[each.checkpoint.ckpt_format])[-1]",
        "one = max(cfg, other, key=lambda each: flag[each.checkpoint.ckpt_format])",
        "one = random.choice([cfg, other])",
        "one = random.sample((cfg, other), 1)[0]",
        "one = [cfg, *(common() for _ in range(20))][flag]",
        "box = {'other': other}\n    box[flag] = cfg\n    one = box[flag]",
        "box = {'other': other}\n    box[flag] = cfg\n    one = box['other']",
        "box = {}\n    box[flag] = cfg\n    one = box.get('other', other)",
        "box = [other]\n    flag and box.append(cfg)\n    one = box[-1]",
        "box = [cfg]\n    for _ in 'four':\n        flag[_] and box.insert(0, other)\n    one = box.pop()",
    ],
)
@pytest.mark.parametrize("written", ["one.ddp.use_megatron_fsdp = True", "one.ddp = DDP(use_megatron_fsdp=True)"])
def test_what_is_written_to_one_of_two_configurations_may_be_written_to_the_one_that_is_returned(
    taken: str, written: str
) -> None:
    text = f"""\
import random


def recipe(cfg: ConfigContainer, flag) -> ConfigContainer:
    other = common()
    cfg.ddp.use_megatron_fsdp = False
    cfg.checkpoint.ckpt_format = "torch"
    {taken}
    {written}
    return cfg
"""
    found = recipes(text)["recipe"]
    assert found.setting(SWITCH).value in (UNKNOWN, OneOf((True, False)), OneOf((False, True)))
    assert found.setting(FORMAT).value == Known("torch")


def test_some_of_several_configurations_are_written() -> None:
    text = """\
def recipe(cfg: ConfigContainer, count) -> ConfigContainer:
    cfg.ddp.use_megatron_fsdp = False
    for each in [common(), cfg][count:]:
        each.ddp.use_megatron_fsdp = True
    return cfg
"""
    assert {switch for _, switch, _ in ways(recipes(text)["recipe"])} == {Known(True), Known(False)}


def test_a_copy_is_another_configuration() -> None:
    text = """\
import copy


def recipe(cfg: ConfigContainer) -> ConfigContainer:
    cfg.ddp.use_megatron_fsdp = False
    copy.deepcopy(cfg.checkpoint).ckpt_format = "torch"
    return cfg
"""
    assert ways(recipes(text)["recipe"]) == [((), Known(False), UNKNOWN)]


def test_a_copied_value_is_still_what_it_was_compared_with() -> None:
    text = """\
import copy


def recipe(name) -> ConfigContainer:
    cfg = copy.deepcopy(common(name))
    if name == "zarr":
        cfg.ddp.use_megatron_fsdp = True
        return cfg
    raise ValueError(name)
"""
    assert ways(recipes(text)["recipe"]) == [(("name == 'zarr'",), Known(True), Known("zarr"))]


@pytest.mark.parametrize("returned", ["cfg", "load()"])
def test_a_way_that_yields_a_configuration_of_which_nothing_is_known_is_a_way(returned: str) -> None:
    text = f"""\
from elsewhere import load


def recipe(cfg, own) -> ConfigContainer:
    if not own:
        return {returned}
    mine = common()
    mine.ddp.use_megatron_fsdp = True
    return mine
"""
    assert {when: (switch, name) for when, switch, name in ways(recipes(text)["recipe"])} == {
        ("not (not own)",): (Known(True), Known("torch")),
        ("not own",): (UNKNOWN, UNKNOWN),
    }


@pytest.mark.parametrize(
    "handed",
    [
        "lambda: setattr(cfg.ddp, 'use_megatron_fsdp', True)",
        "functools.partial(switched, cfg)",
        "later",
        "Switch(cfg).on",
        "(lambda: lambda: later())()",
    ],
)
def test_what_is_handed_to_code_out_of_sight_may_be_called_there(handed: str) -> None:
    text = f"""\
from elsewhere import register


class Switch:
    def __init__(self, cfg):
        self.cfg = cfg

    def on(self):
        self.cfg.ddp.use_megatron_fsdp = True


def switched(cfg):
    cfg.ddp.use_megatron_fsdp = True


def recipe() -> ConfigContainer:
    cfg = common()

    def later():
        cfg.ddp.use_megatron_fsdp = True

    register({handed})
    return cfg
"""
    (variant,) = recipes(text)["recipe"].variants
    assert variant.value(SWITCH) == UNKNOWN


@pytest.mark.parametrize("decorator", ["given", "register", "register('name')"])
def test_a_decorator_out_of_sight_may_call_what_it_decorates(decorator: str) -> None:
    text = f"""\
from elsewhere import register


def recipe(given) -> ConfigContainer:
    cfg = common()

    @{decorator}
    def later():
        cfg.ddp.use_megatron_fsdp = True

    return cfg
"""
    assert {switch for _, switch, _ in ways(recipes(text)["recipe"])} == {UNKNOWN}


def test_what_is_called_with_an_unknown_number_of_arguments_may_change_them() -> None:
    text = """\
def switched(*configurations):
    for each in configurations:
        each.ddp.use_megatron_fsdp = True


def recipe(count) -> ConfigContainer:
    cfg, other = common(), common()
    switched(*[other, cfg][:count])
    return cfg
"""
    assert {switch for _, switch, _ in ways(recipes(text)["recipe"])} == {UNKNOWN}


def test_an_attribute_by_an_unknown_name_is_any_of_them() -> None:
    text = """\
def recipe(name) -> ConfigContainer:
    cfg = common()
    getattr(cfg, name).use_megatron_fsdp = True
    return cfg
"""
    (variant,) = recipes(text)["recipe"].variants
    value = variant.value(SWITCH)
    assert isinstance(value, OneOf)
    assert set(value.values) == {True, False}
    assert variant.value(FORMAT) == Known("torch")


def test_a_method_of_a_configuration_that_somebody_hands_in_leaves_it_as_it_is() -> None:
    text = """\
def recipe(cfg: ConfigContainer) -> ConfigContainer:
    cfg.ddp.use_megatron_fsdp = True
    cfg.validate()
    return cfg
"""
    assert ways(recipes(text)["recipe"]) == [((), Known(True), UNKNOWN)]


def test_a_function_that_changes_what_it_is_given_may_leave_it_as_it_is() -> None:
    text = """\
def recipe(cfg: ConfigContainer, wanted):
    if not wanted:
        return
    cfg.ddp.use_megatron_fsdp = True
"""
    assert {when: switch for when, switch, _ in ways(recipes(text)["recipe"])} == {
        ("not (not wanted)",): Known(True),
        ("not wanted",): UNKNOWN,
    }


def test_the_dictionary_of_an_object_is_the_object() -> None:
    text = """\
def recipe(cfg=None) -> ConfigContainer:
    cfg = common()
    vars(cfg.ddp)["use_megatron_fsdp"] = True
    cfg.checkpoint.__dict__.update(ckpt_format="zarr")
    return cfg
"""
    assert ways(recipes(text)["recipe"]) == [((), Known(True), Known("zarr"))]


def test_a_configuration_that_a_helper_hands_back_perhaps_is_still_that_configuration() -> None:
    found = recipes(
        """\
def kept(cfg, flag):
    if flag:
        return cfg


def recipe(cfg: ConfigContainer, flag, names) -> ConfigContainer:
    for number in range(3):
        if names[number]:
            cfg.checkpoint.ckpt_format = names[number]
    cfg.ddp.use_megatron_fsdp = False
    one = kept(cfg, flag) or cfg
    one.ddp.use_megatron_fsdp = True
    return cfg
"""
    )
    assert Known(False) not in {switch for _, switch, _ in ways(found["recipe"])}


def test_a_list_with_elements_that_may_be_missing_matches_patterns_of_any_length() -> None:
    text = """\
def recipe(names) -> ConfigContainer:
    cfg = common()
    match [name for name in ["a"] if name in names]:
        case [one]:
            cfg.ddp.use_megatron_fsdp = True
        case []:
            pass
    return cfg
"""
    variants = recipes(text)["recipe"].variants
    assert {variant.value(SWITCH) for variant in variants} == {Known(True), Known(False)}


def test_a_configuration_stays_one_when_code_out_of_sight_may_have_changed_it() -> None:
    text = """\
from elsewhere import train, watch


def recipe(cfg: ConfigContainer):
    cfg.ddp.use_megatron_fsdp = True
    watch(cfg)
    train(common())
"""
    (variant,) = recipes(text)["recipe"].variants
    assert variant.value(SWITCH) == UNKNOWN
