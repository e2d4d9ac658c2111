"""Scripts for zsh are read as zsh reads them; of shells of another language only command lines are understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, OneOf
from tests.readers.test_started_by_others import GOOD, NAME, RUN
from tests.shell import only_recipe, recipes

LAUNCH = "torchrun pretrain_gpt.py --tensor-model-parallel-size 1 "


def fmt(script: str, arguments: str) -> object:
    """The checkpoint format of a launch behind a script."""
    return only_recipe(f"{script}\n{LAUNCH}{arguments}\n").setting("checkpoint.ckpt_format").value


@pytest.mark.parametrize(
    ("script", "arguments", "value"),
    [
        pytest.param("A=(--bf16 --ckpt-format torch)", "$A", Known("torch"), id="an array is all of its elements"),
        pytest.param("A=(torch fsdp_dtensor)", "--ckpt-format ${A[1]}", Known("torch"), id="which are counted from 1"),
        pytest.param("A=(torch x)", "--ckpt-format ${A[-2]}", Known("torch"), id="and from the end"),
        pytest.param('A="--ckpt-format torch"', "${=A}", Known("torch"), id="a string that is split on request"),
        pytest.param("F=torch", "--ckpt-format $F", Known("torch"), id="a word"),
        pytest.param("A=(x torch)", "--ckpt-format $A[2]", NOT_NONE, id="an element without braces is not known"),
        pytest.param("A=(x torch)", "--ckpt-format ${A:1}", NOT_NONE, id="a part of an array is not known"),
        pytest.param(
            'setopt sh_word_split\nA="--ckpt-format torch"', "$A", UNKNOWN, id="options that change it are not known"
        ),
        pytest.param(
            'emulate -LR zsh\nA="--ckpt-format torch"', "${=A}", Known("torch"), id="its own way may be said, too"
        ),
        pytest.param('emulate sh\nA="--ckpt-format torch"', "$A", UNKNOWN, id="that of another shell is not known"),
    ],
)
def test_zsh_reads_variables_in_its_own_way(script: str, arguments: str, value: object) -> None:
    assert fmt(f"#!/usr/bin/env zsh\n{script}", arguments) == value


def test_a_string_is_one_word_in_zsh_and_several_in_bash() -> None:
    script = f'A="/c --bf16"\n{LAUNCH} --save $A\n'
    assert only_recipe(script).setting("checkpoint.save").value == Known("/c")
    assert only_recipe(f"#!/bin/zsh\n{script}").setting("checkpoint.save").value == Known("/c --bf16")


@pytest.mark.parametrize(("shell", "value"), [("bash", "fsdp_dtensor"), ("zsh", "torch")])
def test_a_script_is_read_by_the_shell_that_starts_it(shell: str, value: str) -> None:
    inner = f"A=(torch fsdp_dtensor)\n{LAUNCH} --ckpt-format ${{A[1]}}\n"
    recipe = only_recipe(f"{shell} inner.sh\n", {"inner.sh": inner})
    assert recipe.setting("checkpoint.ckpt_format").value == Known(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("a.fish", f"set -gx {NAME} 1\n{RUN} {GOOD}\n", id="fish, by its name"),
        pytest.param("a", f"#!/bin/tcsh\nsetenv {NAME} 1\n{RUN} {GOOD}\n", id="tcsh, by its first line"),
    ],
)
def test_what_a_shell_of_another_language_sets_is_told(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    main(["--no-cache", "--target-core", "0.16.1", "--show-unfollowed", "."])
    assert f"{name} could not be followed: what a script for" in capsys.readouterr().err


VALUES = ("torch", "fsdp_dtensor")


@pytest.mark.parametrize(
    ("script", "values"),
    [
        pytest.param(f"parallel {LAUNCH} --ckpt-format {{}} ::: torch fsdp_dtensor", VALUES, id="a mark"),
        pytest.param(f"parallel -j 2 '{LAUNCH} --ckpt-format {{1}}' ::: torch fsdp_dtensor", VALUES, id="in a text"),
        pytest.param(f"parallel {LAUNCH} --ckpt-format ::: torch fsdp_dtensor", VALUES, id="behind the command"),
        pytest.param(
            f"parallel {LAUNCH} --seed {{2}} --ckpt-format {{1}} ::: torch fsdp_dtensor :::+ 1 2", VALUES, id="in pairs"
        ),
        pytest.param(
            f"parallel {LAUNCH} --ckpt-format {{2}}{{1}} ::: dtensor :::: names.txt", ("fsdp_dtensor",), id="of a file"
        ),
        pytest.param(
            f"one() {{ {LAUNCH} --ckpt-format $1; }}\nexport -f one\nparallel one ::: torch fsdp_dtensor",
            VALUES,
            id="a function that is exported",
        ),
        pytest.param(
            f"one() {{ {LAUNCH} --ckpt-format $1; }}\nexport -f one\n"
            "printf '%s\\n' torch fsdp_dtensor | xargs -n1 bash -c 'one \"$@\"' _",
            VALUES,
            id="a function that xargs starts",
        ),
        pytest.param(
            f"one() {{ {LAUNCH} --seed $1 --ckpt-format $2; }}\nexport -f one\n"
            "printf '1 torch\\n2 fsdp_dtensor\\n' | xargs -P 1 -L 1 bash -c 'one \"$@\"' _",
            VALUES,
            id="a function that xargs starts for each line",
        ),
    ],
)
def test_a_command_is_started_once_for_each_value(script: str, values: tuple[str, ...]) -> None:
    found = [each.setting("checkpoint.ckpt_format").value for each in recipes(script, {"names.txt": "fsdp_\n"})]
    # (Launches from one place are one recipe.)
    assert found in ([Known(value) for value in values], [OneOf(values)])


def test_a_function_that_is_not_exported_is_unknown_to_other_shells() -> None:
    assert recipes(f"one() {{ {LAUNCH} --ckpt-format $1; }}\nparallel one ::: torch") == []
