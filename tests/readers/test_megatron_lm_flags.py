"""Megatron-LM's flags, from words wherever they were written."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, OneOf, Value
from mfsdp_lint.readers.megatron_lm_flags import GivenFlags, Word, settings_from_flags


class At:
    """The versions that are judged against."""

    bridge = "head"
    core = "0.16.1"


def place(line: int) -> Span:
    return Span("train.sh", line, 3, line, 9)


def given(*words: str | Word) -> GivenFlags:
    """What a command line gives that has one word on each line."""
    return settings_from_flags(
        [word if isinstance(word, Word) else Word(Known(word), place(line)) for line, word in enumerate(words, 1)], At()
    )


def unknown(value: Value = UNKNOWN, may_be_flags: bool = False) -> Word:
    return Word(value, place(99), may_be_flags=may_be_flags)


def value(path: str, *words: str | Word) -> Value:
    return given(*words).settings[path].value


@pytest.mark.parametrize(
    ("words", "path", "expected"),
    [
        (["--use-megatron-fsdp"], "ddp.use_megatron_fsdp", True),
        (["--no-gradient-accumulation-fusion"], "model.gradient_accumulation_fusion", False),
        (["--ckpt-format", "fsdp_dtensor"], "checkpoint.ckpt_format", "fsdp_dtensor"),
        (["--ckpt-format=fsdp_dtensor"], "checkpoint.ckpt_format", "fsdp_dtensor"),
        (["--save", "/a=b"], "checkpoint.save", "/a=b"),
        (["--lr", "1e-4", "--bf16"], "optimizer.lr", 1e-4),
        (["--seed", "-1"], "rng.seed", -1),
        (["--not-a-flag"], "args.not_a_flag", True),
        (["--not-a-flag", "a", "b"], "args.not_a_flag", "a b"),
    ],
)
def test_a_flag_sets_what_argparse_makes_of_the_words_behind_it(words: list[str], path: str, expected: object) -> None:
    assert value(path, *words) == Known(expected)  # type: ignore[arg-type]  # the table above has plain values


@pytest.mark.parametrize("words", [["--use-megatron-fsdp", "true"], ["--ckpt-format"], ["--ckpt-format", "a", "b"]])
def test_what_argparse_would_refuse_is_unknown(words: list[str]) -> None:
    assert {setting.value for setting in given(*words).settings.values()} == {UNKNOWN}


def test_flags_are_not_abbreviated() -> None:
    assert "checkpoint.ckpt_format" not in given("--ckpt-form", "torch_dist").settings


def test_of_a_flag_that_is_given_twice_the_last_counts_and_the_first_is_remembered() -> None:
    setting = given("--ckpt-format", "torch_dist", "--ckpt-format", "torch").settings["checkpoint.ckpt_format"]
    assert setting.value == Known("torch")
    assert setting.origin is not None
    assert setting.origin.earlier is not None
    assert (setting.origin.span.line, setting.origin.earlier.span.line) == (3, 1)


def test_a_setting_is_where_its_words_are() -> None:
    settings = given("--bf16", "--ckpt-format", "torch").settings
    switch, option = settings["model.bf16"].origin, settings["checkpoint.ckpt_format"].origin
    assert switch is not None
    assert option is not None
    assert switch.point == place(1)
    assert (option.span, option.point) == (Span("train.sh", 2, 3, 3, 9), place(3))


@pytest.mark.parametrize(
    ("word", "expected"),
    [(NOT_NONE, NOT_NONE), (UNKNOWN, UNKNOWN), (OneOf(("torch", "torch_dist")), OneOf(("torch", "torch_dist")))],
)
def test_a_word_that_is_not_quite_known_makes_no_value_known(word: Value, expected: Value) -> None:
    found = given("--ckpt-format", unknown(word), "--use-megatron-fsdp")
    assert found.settings["checkpoint.ckpt_format"].value == expected
    assert found.settings["ddp.use_megatron_fsdp"].value == Known(True)
    assert not found.open


def test_words_that_may_be_flags_leave_nothing_known_but_what_comes_later() -> None:
    found = given("--ckpt-format", "torch", unknown(may_be_flags=True), "--use-megatron-fsdp")
    assert found.open
    assert found.settings["checkpoint.ckpt_format"].value == UNKNOWN
    assert found.settings["ddp.use_megatron_fsdp"].value == Known(True)
