"""Overrides from outside: how they are read, and what they leave of a recipe."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Origin, Recipe, Span, Undeclared, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.readers.overrides import COMMAND_LINE, SettingOverride, misspelt_overrides, override, parse_command_line

SETTINGS: dict[str, Value] = {
    "ddp": NOT_NONE,
    "ddp.use_megatron_fsdp": Known(False),
    "ddp.bucket_size": Known(None),
    "comm_overlap": NONE,
}


def recipe(settings: dict[str, Value] = SETTINGS, *, partial: bool = False) -> Recipe:
    variant = Variant(WrittenSettings.of(settings))
    return Recipe("r", "m.r", "m.py", 1, "function", (variant,), partial)


def overridden(*settings: str, environment: tuple[str, ...] = ()) -> Variant:
    return override(recipe(), parse_command_line(settings, environment).overrides).variants[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("4", 4),
        ("1e-4", 1e-4),
        ("fsdp_dtensor", "fsdp_dtensor"),
        ("'4'", "4"),
        ("on", "on"),
        ("[0, 1]", [0, 1]),
        ("", ""),
        ("0x10", "0x10"),
        ("'a=b'", "a=b"),
    ],
)
def test_a_value_is_read_as_hydra_reads_it(text: str, value: Plain) -> None:
    assert overridden(f"model.anything={text}").value("model.anything") == Known(value)  # of no type that is known


def test_an_interpolation_is_not_known() -> None:
    assert overridden("ddp.bucket_size=${oc.env:SIZE}").value("ddp.bucket_size") == UNKNOWN


def test_what_is_not_overridden_stays() -> None:
    variant = overridden("ddp.use_megatron_fsdp=true")
    assert variant.value("ddp.use_megatron_fsdp") == Known(True)
    assert variant.value("ddp.bucket_size") == NONE
    assert list(variant.settings) == list(SETTINGS)


def test_the_last_of_two_overrides_counts() -> None:
    assert overridden("ddp.bucket_size=1", "ddp.bucket_size=2").value("ddp.bucket_size") == Known(2)


def test_hydras_plus_signs_change_nothing() -> None:
    assert overridden("++ddp.bucket_size=1").value("ddp.bucket_size") == Known(1)


def test_a_mapping_is_merged() -> None:
    variant = overridden("ddp={use_megatron_fsdp: true}")
    assert variant.value("ddp.use_megatron_fsdp") == Known(True)
    assert variant.value("ddp.bucket_size") == NONE


def test_a_section_that_becomes_null_has_no_settings() -> None:
    variant = overridden("ddp=null")
    assert variant.value("ddp") == NONE
    assert sorted(variant.settings) == ["comm_overlap", "ddp"]
    again = overridden("ddp=null", "ddp.bucket_size=3")
    assert again.value("ddp") == NOT_NONE
    assert (again.value("ddp.bucket_size"), again.value("ddp.use_megatron_fsdp")) == (Known(3), UNKNOWN)


def test_a_setting_below_none_makes_a_section_of_it() -> None:
    variant = overridden("comm_overlap.tp_comm_overlap=true")
    assert variant.value("comm_overlap") == NOT_NONE
    assert variant.value("comm_overlap.tp_comm_overlap") == Known(True)


def test_an_environment_variable_is_set_set_to_nothing_or_unset() -> None:
    variant = overridden(environment=("A=1", "B=", "C"))
    assert [variant.value(f"env.{name}") for name in "ABCD"] == [Known("1"), Known(""), NONE, UNKNOWN]


def test_an_override_points_at_the_option_that_says_it() -> None:
    overrides = parse_command_line(["ddp.bucket_size=4"], ["A=1"])
    assert overrides.texts == {COMMAND_LINE: "--set ddp.bucket_size=4\n--env A=1\n"}
    variant = override(recipe(), overrides.overrides).variants[0]
    origin, variable = variant.origin("ddp.bucket_size"), variant.origin("env.A")
    assert origin is not None
    assert variable is not None
    assert (origin.how, origin.point.line, origin.point.column, origin.point.end_column) == ("override", 1, 23, 24)
    assert (variable.how, variable.span.line) == ("environment", 2)


@pytest.mark.parametrize(
    ("settings", "environment", "message"),
    [
        (["ddp"], [], "--set ddp: expected PATH=VALUE"),
        (["=1"], [], "--set =1: expected PATH=VALUE"),
        (["ddp..x=1"], [], "--set ddp..x=1: expected PATH=VALUE"),
        (["~ddp.x=1"], [], "--set ~ddp.x=1: settings cannot be deleted"),
        (["env.A=1"], [], "--set env.A=1: environment variables are given as --env NAME=VALUE"),
        (["ddp.x=[1"], [], "--set ddp.x=[1: Hydra cannot read the value"),
        (["ddp.x=a=b"], [], "--set ddp.x=a=b: Hydra cannot read the value"),
        ([], ["=1"], "--env =1: expected NAME=VALUE"),
        ([], ["A =1"], "--env A =1: expected NAME=VALUE"),
    ],
)
def test_what_is_no_override_is_wrong_usage(settings: list[str], environment: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_command_line(settings, environment)
    assert str(error.value).startswith(message)


def test_a_field_that_no_recipe_has_is_remarked_on() -> None:
    wrong = parse_command_line(["ddp.use_megatron_fdsp=true", "ddp.bucket_size=1"], [])
    assert misspelt_overrides([recipe()], wrong.overrides) == [
        "--set ddp.use_megatron_fdsp: ddp has no such field; did you mean ddp.use_megatron_fsdp?"
    ]


def test_nothing_is_remarked_on_where_the_fields_are_not_all_known() -> None:
    unheard_of = parse_command_line(["peft.rank=1", "ddp.rank=1"], ["A=1"])
    assert misspelt_overrides([recipe(partial=True)], unheard_of.overrides) == []
    assert misspelt_overrides([recipe({"ddp.bucket_size": Known(1)})], unheard_of.overrides) == []


def test_an_override_points_at_whatever_text_says_it() -> None:
    here = Origin(Span("launch.sh", 7, 20, 7, 42), "override", value=Known(4))
    launched = override(recipe(), [SettingOverride("ddp.bucket_size", Known(4), here)])
    again = override(launched, parse_command_line(["ddp.bucket_size=8"], []).overrides).variants[0]
    assert launched.variants[0].origin("ddp.bucket_size") == here
    assert again.value("ddp.bucket_size") == Known(8)
    assert [(path, origin.span.path) for path, origin in again.settings.history("ddp.bucket_size")] == [
        ("ddp.bucket_size", "launch.sh"),
        ("ddp.bucket_size", COMMAND_LINE),
    ]


def test_a_name_that_is_no_field_stays_one_under_overrides() -> None:
    misspelt = Undeclared("ddp.nccl_bu", "DdpConfig", ("nccl_ub",), Origin(Span("recipe.py", 1, 1, 1, 9), "assigned"))

    class Read(WrittenSettings):
        def undeclared(self) -> tuple[Undeclared, ...]:
            return (misspelt,)

    read = Recipe("r", "r", "recipe.py", 1, "function", (Variant(Read()),))

    def undeclared_under(*settings: str) -> tuple[Undeclared, ...]:
        return override(read, parse_command_line(settings, []).overrides).variants[0].settings.undeclared()

    assert undeclared_under("train.x=1") == (misspelt,)
    assert undeclared_under("ddp=null") == ()
