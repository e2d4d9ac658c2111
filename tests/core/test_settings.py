"""Settings, and layers over them: whoever asks a layer gets an answer from below where the layer says nothing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from mfsdp_lint.core.recipe import Origin, Setting, Settings, Span, Undeclared
from mfsdp_lint.core.settings import Layer, WrittenSettings
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.startup.resolve import Resolved
from mfsdp_lint.readers.overrides import OverriddenSettings, SettingOverride
from mfsdp_lint.rules.judging import GivenSettings

FIRST = Origin(Span("recipe.py", 3, 1, 3, 9), "argument")
SECOND = Origin(Span("recipe.py", 5, 1, 5, 9), "assigned", earlier=FIRST, order=1)
MISSPELT = Undeclared("ddp.nccl_bu", "DdpConfig", ("nccl_ub",), SECOND)


class Below(WrittenSettings):
    """Settings of a reader that knows more than values."""

    def value(self, path: str) -> Value:
        return NONE if path == "env.NOBODY_SETS" else super().value(path)

    def history(self, path: str) -> list[tuple[str, Origin]]:
        return [("ddp", FIRST), *super().history(path)]

    def undeclared(self) -> tuple[Undeclared, ...]:
        return (MISSPELT,)


BELOW = Below({"ddp.nccl_ub": Setting("ddp.nccl_ub", Known(True), SECOND)})
LAYERS = {
    "a layer that changes nothing": Layer(BELOW),
    "overrides of something else": OverriddenSettings(BELOW, [SettingOverride("train.x", Known(1), FIRST)]),
    "start-up without steps": Resolved(BELOW, {}, ()),
}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_a_layer_is_as_what_lies_below_where_it_says_nothing(layer: Layer) -> None:
    path = "ddp.nccl_ub"
    assert layer.value(path) == Known(True)
    assert layer.value("env.NOBODY_SETS") == NONE
    assert layer.get(path) == BELOW.get(path)
    assert layer.origin(path) == SECOND
    assert layer.history(path) == [("ddp", FIRST), (path, FIRST), (path, SECOND)]
    assert layer.undeclared() == (MISSPELT,)
    assert path in layer
    assert "ddp.unheard_of" not in layer
    assert next(iter(layer)) == path


@pytest.mark.parametrize("kind", [Layer, OverriddenSettings, Resolved])
def test_a_layer_passes_on_every_method_that_settings_have(kind: type[Settings]) -> None:
    derived = {"__contains__", "origin", "differing", "taken_from", "is_like", "_is_like_at"}  # they ask the others
    methods = {name for name, found in vars(Settings).items() if inspect.isfunction(found)} - derived
    assert all(getattr(kind, name) is not getattr(Settings, name) for name in methods)


def test_what_nobody_wrote_has_no_history_and_is_unknown() -> None:
    settings = WrittenSettings.of({"ddp.nccl_ub": Known(True)})
    assert settings.history("ddp.nccl_ub") == []
    assert settings.value("ddp.unheard_of") == UNKNOWN
    assert settings.get("ddp.unheard_of") is None
    assert settings.undeclared() == ()


def test_a_value_may_be_known_of_a_setting_that_nobody_gives() -> None:
    assert GivenSettings({}, partial_environment=False).value("env.NAME") == NONE
    assert "env.NAME" not in GivenSettings({}, partial_environment=False)


def test_settings_have_to_say_what_they_are() -> None:
    class Mute(Settings):
        def __iter__(self) -> Iterator[str]:
            return iter(())

    with pytest.raises(TypeError, match="get"):
        Mute()  # type: ignore[abstract]  # that is what is shown
