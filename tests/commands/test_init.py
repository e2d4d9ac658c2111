"""`mfsdp-lint init`: a start, and nothing that is there is changed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mfsdp_lint.cli import main
from mfsdp_lint.commands.init import HOOK
from mfsdp_lint.inputs.configuration import read_configuration


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_it_writes_is_a_configuration_and_a_hook(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert capsys.readouterr().out == "mfsdp-lint.toml: written\n.pre-commit-config.yaml: written\n"
    assert read_configuration() == {}
    (repository,) = yaml.safe_load(Path(".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    (hook,) = repository["hooks"]
    assert (hook["entry"], hook["files"]) == (
        "mfsdp-lint --force-exclude --",
        r"\.(py|ipynb|ya?ml|sh|bash|zsh|ksh|slurm|sbatch)$",
    )
    assert main([]) == 0


def test_a_target_is_written_down() -> None:
    assert main(["init", "--target-bridge", ">=0.4,<0.6", "--no-hook"]) == 0
    assert read_configuration()["target_bridge"] == ">=0.4,<0.6"
    assert not Path(".pre-commit-config.yaml").exists()


def test_a_target_that_is_none_is_refused_and_nothing_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--target-bridge", "new"]) == 2
    assert "--target-bridge: " in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_what_is_there_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text("[tool.mfsdp-lint]\n", encoding="utf-8")
    Path(".pre-commit-config.yaml").write_text("repos: []\n", encoding="utf-8")
    assert main(["init"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("pyproject.toml: has a configuration already\n")
    assert ".pre-commit-config.yaml: add to its list of repositories:\n  - repo: local\n" in said
    assert Path(".pre-commit-config.yaml").read_text(encoding="utf-8") == "repos: []\n"
    assert not Path("mfsdp-lint.toml").exists()


def test_a_second_time_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["init"])
    capsys.readouterr()
    assert main(["init"]) == 0
    assert capsys.readouterr().out == (
        "mfsdp-lint.toml: has a configuration already\n.pre-commit-config.yaml: has the hook already\n"
    )


def test_the_hook_takes_the_files_that_the_published_one_takes() -> None:
    published = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())[0]
    (written,) = yaml.safe_load(f"repos:\n{HOOK}")["repos"][0]["hooks"]
    for key in ("entry", "files", "types_or", "require_serial"):
        assert written[key] == published[key]
