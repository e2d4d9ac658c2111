"""A finding in a notebook stands in a cell for people, and in the file for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.inputs.test_notebooks import notebook

RECIPE = notebook(
    "#md Llama with FSDP\n",
    "%env CUDA_DEVICE_MAX_CONNECTIONS=8\n"
    "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
    "from megatron.bridge.training.pretrain import pretrain\n",
    'cfg = llama3_8b_pretrain_config()\ncfg.train.name = "x"; cfg.dist.use_megatron_fsdp = True\ndisplay(cfg)\n',
    "pretrain(cfg, print)\n",
)


@pytest.fixture
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "llama.ipynb").write_text(RECIPE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def _told(output_format: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(["--no-cache", "--select", "MFSDP101", "--target-bridge", "0.3.1", "--output-format", output_format, "."])
    return capsys.readouterr().out


@pytest.mark.usefixtures("_in_folder")
def test_people_see_the_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert _told("concise", capsys).startswith("llama.ipynb:cell 3:2:52: error MFSDP101 ")


@pytest.mark.usefixtures("_in_folder")
def test_people_see_the_line_as_the_cell_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    told = _told("full", capsys)
    assert "--> llama.ipynb:cell 3:2:52\n" in told
    assert '2 | cfg.train.name = "x"; cfg.dist.use_megatron_fsdp = True\n' in told


@pytest.mark.usefixtures("_in_folder")
def test_programs_see_the_place_in_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    (finding,) = json.loads(_told("json", capsys))["findings"]
    line = RECIPE.split("\n")[finding["line"] - 1]
    assert line[finding["column"] - 1 :].startswith("True")


@pytest.mark.usefixtures("_in_folder")
def test_a_notebook_is_never_written() -> None:
    main(["--no-cache", "--fix", "--unsafe-fixes", "."])
    assert Path("llama.ipynb").read_text(encoding="utf-8") == RECIPE


def test_a_comment_in_a_cell_silences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    silenced = "= True  # mfsdp: ignore[MFSDP101] converted before it is loaded"
    (tmp_path / "llama.ipynb").write_text(RECIPE.replace("= True", silenced), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "0 findings" in _told("concise", capsys)
