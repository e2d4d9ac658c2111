"""A finding in a notebook stands in a cell for people, and in the file for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.lines import split_lines
from tests.inputs.test_notebooks import SPELLED, notebook

RECIPE = notebook(
    "#md Llama with FSDP\n",
    "%env CUDA_DEVICE_MAX_CONNECTIONS=8\n"
    "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
    "from megatron.bridge.training.pretrain import pretrain\n",
    'cfg = llama3_8b_pretrain_config()\ncfg.train.name = "x"; cfg.dist.use_megatron_fsdp = True\ndisplay(cfg)\n',
    "pretrain(cfg, print)\n",
)


@pytest.fixture(params=list(SPELLED.values()), ids=list(SPELLED))
def written(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The recipe in every way that JSON can spell it, in the working directory."""
    spell: Callable[[str], str] = request.param
    _write(tmp_path, spell(RECIPE))
    monkeypatch.chdir(tmp_path)
    return spell(RECIPE)


def _write(folder: Path, text: str) -> None:
    (folder / "llama.ipynb").write_bytes(text.encode())


def _told(output_format: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(["--no-cache", "--select", "MFSDP101", "--target-bridge", "0.3.1", "--output-format", output_format, "."])
    return capsys.readouterr().out


@pytest.mark.usefixtures("written")
def test_people_see_the_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert _told("concise", capsys).startswith("llama.ipynb:cell 3:2:52: error MFSDP101 ")


@pytest.mark.usefixtures("written")
def test_people_see_the_line_as_the_cell_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    told = _told("full", capsys)
    assert "--> llama.ipynb:cell 3:2:52\n" in told
    assert '2 | cfg.train.name = "x"; cfg.dist.use_megatron_fsdp = True\n' in told


def test_programs_see_the_place_in_the_file(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    (finding,) = json.loads(_told("json", capsys))["findings"]
    assert split_lines(written)[finding["line"] - 1][finding["column"] - 1 :].startswith("Tr")


def test_a_notebook_is_never_written(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--no-cache", "--fix", "--unsafe-fixes", "."])
    assert "a notebook is not edited: its findings have no fixes" in capsys.readouterr().err
    assert Path("llama.ipynb").read_bytes() == written.encode()


@pytest.mark.parametrize("spell", SPELLED.values(), ids=list(SPELLED))
def test_a_comment_in_a_cell_silences(
    spell: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    silenced = "= True  # mfsdp: ignore[MFSDP101] converted before it is loaded"
    _write(tmp_path, spell(RECIPE.replace("= True", silenced)))
    monkeypatch.chdir(tmp_path)
    assert "0 findings" in _told("concise", capsys)


def test_a_comment_that_silences_nothing_is_told_and_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = RECIPE.replace("= True", "= False  # mfsdp: ignore[MFSDP101] no longer")
    _write(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    main(["--no-cache", "--target-bridge", "0.3.1", "--fix", "--output-format", "concise", "."])
    assert "llama.ipynb:cell 3:2:59: info MFSDP903" in capsys.readouterr().out
    assert Path("llama.ipynb").read_bytes() == text.encode()


AT = "cfg.dist.use_megatron_fsdp = True"


def test_an_audit_tells_the_line_of_the_file(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--settings", "dist.use_megatron_fsdp", "llama.ipynb"])
    line = next(number for number, line in enumerate(split_lines(written), 1) if "Tr" in line)
    assert f"yes  llama.ipynb:{line}\n" in capsys.readouterr().out


def test_an_audit_for_programs_tells_the_place_in_the_file(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--settings", "dist.use_megatron_fsdp", "--output-format", "json", "llama.ipynb"])
    (recipe,) = json.loads(capsys.readouterr().out)["recipes"]
    origin = recipe["settings"]["dist.use_megatron_fsdp"]["origin"]
    assert re.search(r"Tr|; c", split_lines(written)[origin["line"] - 1])


@pytest.mark.usefixtures("written")
def test_why_tells_the_cell_and_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    main(["why", "llama.ipynb", "dist.use_megatron_fsdp"])
    told = capsys.readouterr().out
    assert "llama.ipynb:cell 3:2" in told
    assert AT in told


def test_why_for_programs_tells_the_place_in_the_file(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["why", "llama.ipynb", "dist.use_megatron_fsdp", "--output-format", "json"])
    write = json.loads(capsys.readouterr().out)["stories"][0]["writes"][-1]
    assert split_lines(written)[write["line"] - 1][write["column"] - 1 :].startswith(("c", "T"))
    assert AT in write["code"][0]
