"""The readers: which files they take, and how one is added."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.inputs.discover import FileType, FileTypes
from mfsdp_lint.readers import registry

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"

INI = """\
[dist]
use_megatron_fsdp = true
[ddp]
use_megatron_fsdp = true
[checkpoint]
save = /results
ckpt_format = torch_dist  # for now
"""


@pytest.fixture
def ini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the kind that CONTRIBUTING adds a reader for, with that reader in the registry."""
    section = CONTRIBUTING.read_text(encoding="utf-8").split("## Add a kind of file\n")[1]
    example: Any = ModuleType("ini_files")
    monkeypatch.setitem(sys.modules, example.__name__, example)
    exec(section.split("```python\n")[1].split("```\n")[0], example.__dict__)
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, example.IniFiles()))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.ini"
    path.write_text(INI, encoding="utf-8")
    return path


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[tuple[str, str]], str]:
    """Lints the working directory: the exit code, the place and code of each finding, and the remarks."""
    code = main([".", "--target-bridge", "0.3.1", "--output-format", "concise", *arguments])
    out, err = capsys.readouterr()
    return code, re.findall(r"^(\S+): \w+ (MFSDP\d+)", out, re.MULTILINE), err


@pytest.mark.usefixtures("ini")
def test_the_added_kind_of_file_is_found_read_and_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys)[:2] == (1, [("run.ini:7:15", "MFSDP101")])


def test_its_comments_silence(ini: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ini.write_text(INI.replace("# for now", "# mfsdp: ignore[MFSDP101] for now"), encoding="utf-8")
    assert lint(capsys)[:2] == (0, [])


def test_a_file_that_cannot_be_read_is_told(ini: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ini.write_bytes(b"[dist]\n\xff\n")
    assert lint(capsys)[:2] == (1, [("run.ini:2:1", "MFSDP901")])


def test_without_an_editor_nothing_is_fixed_and_that_is_told(ini: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, remarks = lint(capsys, "--fix", "--unsafe-fixes")
    assert (code, found) == (1, [("run.ini:7:15", "MFSDP101")])
    assert "an INI file is not edited: its findings have no fixes" in remarks
    assert ini.read_text(encoding="utf-8") == INI


@pytest.mark.usefixtures("ini")
def test_it_has_no_functions_to_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run.ini::f"]) == 2
    assert "an INI file has no functions; its address is run.ini" in capsys.readouterr().err


def test_every_kind_has_a_reader_of_its_own() -> None:
    names = [reader.type.name for reader in registry.READERS]
    assert len(names) == len(set(names))
    assert [registry.reader_of(name).type.name for name in names] == names


SHELL = FileType("shell", "a shell script", suffixes=(".sh",), first_line=re.compile(r"#!.*\b(?:ba)?sh\b"))
DOCKER = FileType("docker", "a Dockerfile", names=("Dockerfile",))
VALUES = FileType("values", "values of a chart", suffixes=(".yaml",), content=re.compile(r"^replicas:", re.MULTILINE))
YAML = FileType("yaml", "a YAML file", suffixes=(".yaml",))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("train.sh", "", "shell"),
        ("train", "#!/usr/bin/env bash\n", "shell"),
        ("train.slurm", "#!/bin/sh -l\n#SBATCH -N 4\n", "shell"),
        ("train", "#!/usr/bin/env python3\n# not sh\n", ""),
        ("train.yaml", "#!/bin/sh\n", "yaml"),
        ("images/Dockerfile", "FROM scratch\n", "docker"),
        ("a.yaml", "image: x\nreplicas: 2\n", "values"),
        ("a.yaml", "image: x\n", "yaml"),
        ("notes.txt", "bash\n", ""),
    ],
)
def test_a_file_is_known_by_its_name_its_first_line_or_its_content(
    tmp_path: Path, name: str, text: str, kind: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    found = FileTypes((SHELL, DOCKER, VALUES, YAML)).of(str(path))
    assert (found.name if found else "") == kind


def test_a_file_that_is_not_there_is_of_the_kind_that_its_name_tells(tmp_path: Path) -> None:
    types = FileTypes((SHELL, VALUES, YAML))
    assert types.of(str(tmp_path / "a.yaml")) is YAML
    assert types.of(str(tmp_path / "a")) is None
