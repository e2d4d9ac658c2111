"""A configuration with no file behind it, as settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.rules.judging import NotAConfiguration, variant_of


class Scope(Enum):
    full_iteration = 3


@dataclass
class Section:
    value: Any = None
    own: dict[str, Any] = field(default_factory=dict)


@dataclass
class Container:
    model: Any = None
    env_vars: dict[str, Any] = field(default_factory=dict)


def dtype(name: str) -> object:
    """What torch.bfloat16 looks like from outside."""
    kind = type("dtype", (), {"__repr__": lambda self: name, "__module__": "torch", "__slots__": ()})
    kind.__module__ = "torch"
    found: object = kind()
    return found


def value(configuration: object, path: str) -> Value:
    return variant_of(configuration).value(path)


@pytest.mark.parametrize(
    ("live", "plain"),
    [
        (1.5, 1.5),
        (Scope.full_iteration, "full_iteration"),
        ([Scope.full_iteration], ["full_iteration"]),
        ((1, "a"), [1, "a"]),
        (dtype("torch.bfloat16"), "torch.bfloat16"),
        (dtype, f"<function {__name__}.dtype>"),
        (len, "<function builtins.len>"),
    ],
)
def test_what_stands_for_itself_is_spelled(live: object, plain: Plain) -> None:
    assert value(Container(Section(live)), "model.value") == Known(plain)


def test_an_object_is_set_and_has_the_name_of_its_class() -> None:
    container = Container(Section())
    assert value(container, "model") == NOT_NONE
    assert value(container, "model.__class__") == Known(f"{__name__}.Section")
    assert value(container, "model.value") == NONE
    assert value(container, "model.other") == UNKNOWN


def test_what_was_written_into_an_object_beside_its_fields_counts() -> None:
    container = Container(Section())
    container.model.misspelt = True
    assert value(container, "model.misspelt") == Known(True)


def test_what_has_no_spelling_is_only_known_to_be_set() -> None:
    assert value(Container(Section(object())), "model.value") == NOT_NONE
    assert value(Container(Section([object()])), "model.value") == NOT_NONE


def test_an_object_that_holds_itself_is_walked_once() -> None:
    container = Container(Section())
    container.model.value = container.model
    assert value(container, "model.value") == NOT_NONE
    assert value(container, "model.value.value") == UNKNOWN


def test_a_recipes_own_variables_are_one_setting() -> None:
    container = Container(env_vars={"NCCL_DEBUG": "INFO"})
    assert value(container, "env_vars") == Known({"NCCL_DEBUG": "INFO"})


def test_dotted_names_and_nested_mappings_mean_the_same() -> None:
    for given in ({"ddp.nccl_ub": True}, {"ddp": {"nccl_ub": True}}):
        assert value(given, "ddp.nccl_ub") == Known(True)
        assert value(given, "ddp") == NOT_NONE
    assert value({"env": {"A": "1"}}, "env.A") == Known("1")


def test_a_name_in_place_of_a_section_leaves_no_fields() -> None:
    given = {"mixed_precision.bf16": False, "mixed_precision": "bf16_mixed"}
    assert value(given, "mixed_precision") == Known("bf16_mixed")
    assert value(given, "mixed_precision.bf16") == UNKNOWN


def test_of_two_settings_that_are_one_flag_of_megatron_lm_one_tells_the_other() -> None:
    loss, gradients = "rerun_state_machine.check_for_nan_in_loss", "ddp.check_for_nan_in_grad"
    assert value({gradients: False}, loss) == Known(False)
    assert value({gradients: False, loss: True}, loss) == Known(True)
    assert value({}, loss) == UNKNOWN


def test_what_only_inference_sets_is_unset() -> None:
    assert value({}, "model.inference_cuda_graph_scope") == NONE
    assert value({"model.inference_cuda_graph_scope": "block"}, "model.inference_cuda_graph_scope") == Known("block")


def test_the_environment_is_complete_unless_it_is_said_to_be_partial() -> None:
    assert variant_of({"env.A": "1"}).value("env.B") == NONE
    assert variant_of({"env.A": "1"}, partial_environment=True).value("env.B") == UNKNOWN


@pytest.mark.parametrize("nothing", [None, 3, "ddp", [], {1: 2}, Section, object()])
def test_what_is_no_configuration_is_refused(nothing: object) -> None:
    with pytest.raises(NotAConfiguration):
        variant_of(nothing)
