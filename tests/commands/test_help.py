"""Help that teaches: a page for each command, and whatever is misspelt named with what is nearest."""

from __future__ import annotations

import shlex
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest

from mfsdp_lint.cli import COMMANDS, main
from mfsdp_lint.commands.arguments import parser_for, word_first


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_that_begins_with_one_line_of_usage(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("usage: mfsdp-lint")
    assert second == ""
    assert "examples:" in rest


@pytest.mark.parametrize("name", COMMANDS)
def test_its_examples_can_be_typed(name: str) -> None:
    command = import_module(f"mfsdp_lint.commands.{name.replace('-', '_')}")
    assert command.EXAMPLES
    for line, _ in command.EXAMPLES:
        words = shlex.split(line.rpartition("| ")[2])
        assert words.pop(0) == "mfsdp-lint"
        called = words.pop(0) if words and words[0] in COMMANDS else "check"
        theirs = import_module(f"mfsdp_lint.commands.{called.replace('-', '_')}")
        parser = parser_for("mfsdp-lint", theirs.SUMMARY, theirs.EXAMPLES)
        theirs.add_arguments(parser)
        parser.parse_args(word_first(words) if called == "explain" else words)


RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def pretrain():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.load = "/results/checkpoints"
    return cfg
"""
ELSEWHERE = {
    "--since": "takes a repository with that revision",
    "dry-run": "takes torch and Megatron",
    "--confirm": "takes torch and Megatron",
    "server": "waits for an editor",
    "checkpoint": "takes a checkpoint",
}
EVERY_EXAMPLE = [
    line for name in COMMANDS for line, _ in import_module(f"mfsdp_lint.commands.{name.replace('-', '_')}").EXAMPLES
]


@pytest.mark.parametrize("line", [line for line in EVERY_EXAMPLE if not ELSEWHERE.keys() & {*line.split()}])
def test_its_examples_do_what_they_say(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "llama.py").write_text(RECIPE, encoding="utf-8")
    (tmp_path / "jobs").mkdir()
    launch = "torchrun pretrain_gpt.py --use-megatron-fsdp --num-layers 2\n"
    (tmp_path / "jobs" / "all.sh").write_text(f"#!/bin/bash\n{launch}{launch}", encoding="utf-8")
    question = '{"settings": {"ddp.use_megatron_fsdp": true}}'
    (tmp_path / "configurations.jsonl").write_text(question, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", StringIO(question))
    assert main(shlex.split(line.rpartition("| ")[2])[1:]) in (0, 1), capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["--fxi"], "--fix"),
        (["--ouptut-format=json"], "--output-format"),
        (["audit", "--setings", "ddp"], "--settings"),
        (["--preset", "stric"], "strict"),
        (["--output-format", "sarf"], "sarif"),
        (["--group-by", "recipes"], "recipe"),
        (["--select", "fsdp-checkpoint-fromat"], "fsdp-checkpoint-format"),
        (["audti"], "audit"),
        (["recipse/"], "recipes"),
        (["recipes/llama3.py"], "llama.py"),
    ],
)
def test_what_is_misspelt_is_named_with_what_is_nearest(
    arguments: list[str],
    meant: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "llama.py").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert f"did you mean {meant}?" in said or f"the nearest is {meant}" in said
