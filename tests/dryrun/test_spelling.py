"""The words that give an attribute of a command line's parsed arguments a value."""

from __future__ import annotations

import argparse
import enum
from typing import Any

import pytest

from mfsdp_lint.dryrun.worker.validate import NoFlag, NoSpelling, plain_arguments, spelled, words_of


class Backend(enum.Enum):
    """What an upstream enumeration looks like."""

    flash = 1
    fused = 2


def frequency(text: str) -> Any:
    """A conversion such as upstream's: a number, or a list that is written as Python."""
    return [int(each) for each in text.strip("[]").split(",")] if "[" in text else int(text)


def parser() -> argparse.ArgumentParser:
    """One flag of each kind that Megatron-LM has."""
    made = argparse.ArgumentParser(allow_abbrev=False)
    made.add_argument("--use-megatron-fsdp", action="store_true")
    made.add_argument("--no-gradient-accumulation-fusion", action="store_false", dest="gradient_accumulation_fusion")
    made.add_argument("--overlap", action=argparse.BooleanOptionalAction, default=None)
    made.add_argument("--ckpt-format", default="torch_dist", choices=["torch", "torch_dist", "fsdp_dtensor"])
    made.add_argument("--main-grads-dtype", default="fp32", choices=["fp32", "bf16"])
    made.add_argument("--lr", type=float)
    made.add_argument("--num-layers", type=int)
    made.add_argument("--recompute-modules", nargs="*")
    made.add_argument("--sizes", nargs=2, type=int)
    made.add_argument("--attention-backend", type=lambda text: Backend[text], default=Backend.flash)
    made.add_argument("--moe-layer-freq", type=frequency, default=1)
    made.add_argument("--flag", type=bool, default=True)
    made.add_argument("--yaml-cfg")
    return made


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("use_megatron_fsdp", True, ["--use-megatron-fsdp"]),
        ("gradient_accumulation_fusion", False, ["--no-gradient-accumulation-fusion"]),
        ("overlap", True, ["--overlap"]),
        ("overlap", False, ["--no-overlap"]),
        ("ckpt_format", "torch", ["--ckpt-format=torch"]),
        ("main_grads_dtype", "torch.bfloat16", ["--main-grads-dtype=bf16"]),
        ("lr", 1e-05, ["--lr=1e-05"]),
        ("num_layers", 32, ["--num-layers=32"]),
        ("recompute_modules", ["core_attn", "moe"], ["--recompute-modules", "core_attn", "moe"]),
        ("recompute_modules", [], ["--recompute-modules"]),
        ("sizes", [2, 4], ["--sizes", "2", "4"]),
        ("attention_backend", "fused", ["--attention-backend=fused"]),
        ("moe_layer_freq", [0, 1, 1], ["--moe-layer-freq=[0,1,1]"]),
        ("flag", False, ["--flag="]),
    ],
)
def test_the_words_are_read_as_the_value(attribute: str, value: Any, words: list[str]) -> None:
    made = parser()
    assert spelled(made, attribute, value) == words
    read = getattr(made.parse_args(words), attribute)
    assert value in (read, getattr(read, "name", None), "torch.bfloat16")


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("use_megatron_fsdp", False),
        ("ckpt_format", "torch_dist"),
        ("attention_backend", "flash"),
        ("lr", None),
        ("moe_layer_freq", 1),
    ],
)
def test_the_default_takes_no_words(attribute: str, value: Any) -> None:
    assert spelled(parser(), attribute, value) == []


def test_a_text_that_the_flag_does_not_take_is_for_the_parser_to_refuse() -> None:
    assert spelled(parser(), "ckpt_format", "zarr") == ["--ckpt-format=zarr"]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("gradient_accumulation_fusion", None),
        ("num_layers", 1.5),
        ("recompute_modules", ["-x"]),
        ("sizes", [1]),
        ("lr", {"a": 1}),
    ],
)
def test_what_no_words_are_read_as_cannot_be_spelled(attribute: str, value: Any) -> None:
    with pytest.raises(NoSpelling):
        spelled(parser(), attribute, value)


def test_what_the_parser_does_not_have_has_no_flag() -> None:
    with pytest.raises(NoFlag):
        spelled(parser(), "megatron_fsdp_version", 2)


# -- a whole command line ------------------------------------------------------------------------------------------


def test_settings_become_a_command_line_that_says_what_validation_needs() -> None:
    found = words_of(parser(), {"ddp.fsdp": True}, {"ddp.fsdp": ["gone", "use_megatron_fsdp"]}, {})
    assert found.words == ["--use-megatron-fsdp", "--num-layers=32"]


def test_what_is_given_is_not_said_again() -> None:
    found = words_of(parser(), {"model.num_layers": 4}, {"model.num_layers": ["num_layers"]}, {})
    assert found.words == ["--num-layers=4"]


def test_what_it_cannot_say_is_told() -> None:
    settings = {"a.no_flag": 1, "b.no_words": None, "args.yaml_cfg": "run.yaml", "c.twin": True, "d.twin": False}
    attributes = {
        "a.no_flag": ["nothing"],
        "b.no_words": ["gradient_accumulation_fusion"],
        "args.yaml_cfg": ["yaml_cfg"],
        "c.twin": ["use_megatron_fsdp"],
        "d.twin": ["use_megatron_fsdp"],
    }
    found = words_of(parser(), settings, attributes, {})
    assert found.no_field == ["a.no_flag"]
    assert found.left_out == ["b.no_words", "args.yaml_cfg", "d.twin"]


def test_a_flag_of_another_version_is_given_all_the_same() -> None:
    foreign = {"args.old": "--old", "args.older": "--older", "args.off": "--off"}
    settings = {"args.old": True, "args.older": 2, "args.off": None}
    found = words_of(parser(), settings, {path: [path.partition(".")[2]] for path in settings}, foreign)
    assert found.words == ["--old", "--older", "2", "--num-layers=32"]
    assert found.no_field == []


def test_only_plain_arguments_are_told_and_members_by_their_names() -> None:
    arguments = {"a": 1, "b": Backend.flash, "c": [Backend.flash, Backend.fused], "d": object(), "e": [], "f": None}
    assert plain_arguments(arguments) == {"a": 1, "b": "flash", "c": ["flash", "fused"], "e": [], "f": None}
