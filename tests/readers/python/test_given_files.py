"""Files that a program is given to read: it is read with each file of the project of which it knows all keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main

PROGRAM = """import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import tomllib
import yaml
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from omegaconf import OmegaConf


@dataclass
class Run:
    name: str
    sharding: str = "optim_grads_params"
    format: str = "fsdp_dtensor"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run", {})
    {}
    run = Run(**raw)
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = run.sharding
    cfg.checkpoint.ckpt_format = run.format
    pretrain(cfg, forward_step)


if __name__ == "__main__":
    main()
"""
READ = {
    "a word": ("type=str", "raw = json.load(open(sys.argv[1]))", "json"),
    "a path of a word": ("type=str", "raw = json.loads(Path(sys.argv[1]).read_text())", "json"),
    "an argument": ("type=str", "raw = yaml.safe_load(open(parser.parse_args().run))", "yaml"),
    "an argument that is a path": ("type=Path", "raw = yaml.safe_load(parser.parse_args().run.read_text())", "yaml"),
    "a name": ("type=str", "raw = json.loads(Path('runs', f'{sys.argv[1]}.json').read_text())", "json"),
    "OmegaConf": ("type=str", "raw = OmegaConf.load(parser.parse_args().run)", "yaml"),
    "TOML": ("type=str", "raw = tomllib.load(open(sys.argv[1], 'rb'))", "toml"),
}
BAD = {
    "json": '{"name": "a", "format": "torch_dist"}\n',
    "yaml": "name: a\nformat: torch_dist\n",
    "toml": 'name = "a"\nformat = "torch_dist"\n',
}
OTHERS = {
    "json": '{"private": true, "format": "torch_dist"}\n',
    "yaml": "on: push\njobs: {}\n",
    "toml": "[tool.a]\nb=1\n",
}


def told(folder: Path, files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Lint the files, and return the places with a wrong format, each with how it is reached."""
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text(text)
    main(["--no-cache", "--target-bridge", "0.3.1", "--output-format", "concise", "--select", "MFSDP101", "."])
    return [each for each in capsys.readouterr().out.splitlines() if "MFSDP101" in each and " info " not in each]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("kind", "line", "suffix"), READ.values(), ids=READ)
def test_a_program_is_read_with_each_file_that_it_may_be_given(
    kind: str, line: str, suffix: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = BAD[suffix].replace("torch_dist", "fsdp_dtensor")
    files = {"train.py": PROGRAM.format(kind, line), f"runs/a.{suffix}": good, f"other.{suffix}": OTHERS[suffix]}
    assert told(folder, files, capsys) == []
    (found,) = told(folder, {f"runs/b.{suffix}": BAD[suffix]}, capsys)
    assert found.startswith(f"runs/b.{suffix}:")
    assert f"runs/b.{suffix}" in found.partition("MFSDP101")[2]


@pytest.mark.parametrize(
    "text",
    ['{"private": true, "format": "torch_dist"}', '{"format": "torch_dist"}', '["torch_dist"]', "{"],
    ids=["a key that the program does not know", "one that it needs is missing", "no mapping", "no JSON"],
)
def test_a_file_for_something_else_is_not_tried(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind, line, _ = READ["a word"]
    assert told(folder, {"train.py": PROGRAM.format(kind, line), "other.json": text}, capsys) == []


def test_of_very_many_files_none_is_tried(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind, line, suffix = READ["a word"]
    files = {f"runs/{number}.json": BAD[suffix] for number in range(20)}
    assert told(folder, {"train.py": PROGRAM.format(kind, line), **files}, capsys) == []


def test_a_default_that_the_program_has_is_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, line, suffix = READ["an argument"]
    program = PROGRAM.format("nargs='?', default='runs/a.yaml'", line)
    files = {"train.py": program, "runs/a.yaml": BAD[suffix].replace("torch_dist", "fsdp_dtensor")}
    assert told(folder, {**files, "runs/b.yaml": BAD[suffix]}, capsys) == []
