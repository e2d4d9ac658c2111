"""Installed packages: what is beside the project, told by the names of folders alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs.detect.declared import ProjectFolders
from mfsdp_lint.inputs.detect.present import in_site_packages


@pytest.fixture(autouse=True)
def nothing_active(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment is active, and there is nothing beside the tool."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sys.path", [])


def install(folder: Path, *names: str) -> Path:
    """An environment's site-packages with these distributions."""
    site = folder / "lib" / "python3.12" / "site-packages"
    for name in names:
        (site / f"{name}.dist-info").mkdir(parents=True)
    return site


def versions(*folders: Path, search_path: tuple[str, ...] = ()) -> list[tuple[str | None, str | None, str | None]]:
    found = in_site_packages(ProjectFolders(tuple(map(str, folders)), search_path))
    return sorted(((each.bridge, each.core, each.torch) for each in found), key=str)


def test_a_virtual_environment_beside_the_project_counts(tmp_path: Path) -> None:
    install(tmp_path / ".venv", "megatron_bridge-0.4.2", "megatron_core-0.17.1", "torch-2.11.0", "numpy-1.26")
    assert versions(tmp_path) == [("0.4.2", None, None), (None, "0.17.1", None), (None, None, "2.11.0")]


def test_the_search_path_counts(tmp_path: Path) -> None:
    site = install(tmp_path / "elsewhere", "megatron_bridge-0.5.1")
    assert versions(search_path=(str(site),)) == [("0.5.1", None, None)]


def test_source_on_the_search_path_counts(tmp_path: Path) -> None:
    package = tmp_path / "megatron" / "bridge"
    package.mkdir(parents=True)
    (package / "package_info.py").write_text("MAJOR = 0\nMINOR = 5\nPATCH = 1\n", encoding="utf-8")
    assert versions(search_path=(str(tmp_path),)) == [("0.5.1", None, None)]


def test_the_active_environment_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "conda", "megatron_core-0.16.1")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert versions() == [(None, "0.16.1", None)]


def test_what_is_installed_beside_the_tool_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = install(tmp_path / "usr", "mfsdp_lint-0.1.0", "megatron_bridge-0.3.1")
    monkeypatch.setattr("sys.path", [str(site)])
    assert versions() == [("0.3.1", None, None)]


def test_the_tools_own_dry_run_says_nothing_of_the_project(tmp_path: Path) -> None:
    install(tmp_path / ".venv", "mfsdp_lint-0.1.0", "megatron_core-0.16.1", "torch-2.13.0")
    assert versions(tmp_path) == []


def test_torch_alone_says_nothing(tmp_path: Path) -> None:
    install(tmp_path / ".venv", "torch-2.13.0")
    assert versions(tmp_path) == []
