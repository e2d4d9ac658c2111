"""Installed packages: what is beside the project, told by the names of folders alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs.detect.declared import ProjectFolders
from mfsdp_lint.inputs.detect.present import in_site_packages, source_of


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


def write_source(folder: Path, bridge: str, core: str = "") -> Path:
    """A folder in which imports find these versions of Megatron."""
    for package, version in (("bridge", bridge), ("core", core)):
        if version:
            parts = dict(zip(("MAJOR", "MINOR", "PATCH"), version.split("."), strict=True))
            info = folder / "megatron" / package / "package_info.py"
            info.parent.mkdir(parents=True)
            info.write_text("".join(f"{name} = {part}\n" for name, part in parts.items()), encoding="utf-8")
    return folder


def source(*folders: Path, bridge: str = "0.3.1", search_path: tuple[str, ...] = ()) -> tuple[str, ...]:
    return source_of(ProjectFolders(tuple(map(str, folders)), search_path), bridge, "0.16.1")


@pytest.mark.parametrize("place", [".venv/lib/python3.12/site-packages", "Megatron-Bridge/src", "megatron-bridge"])
def test_source_of_the_target_beside_the_project_is_found(place: str, tmp_path: Path) -> None:
    write_source(tmp_path / place, "0.3.1", "0.16.1")
    assert source(tmp_path) == (str(tmp_path / place),)


def test_the_megatron_lm_of_a_checkout_is_found_with_it(tmp_path: Path) -> None:
    write_source(tmp_path / "third/bridge/src", "0.3.1")
    pinned = write_source(tmp_path / "third/bridge/3rdparty/Megatron-LM", "", "0.16.1")
    (tmp_path / ".gitmodules").write_text('[submodule "b"]\n\tpath = third/bridge\n\turl = x\n', encoding="utf-8")
    assert source(tmp_path) == (str(tmp_path / "third/bridge/src"), str(pinned))


@pytest.mark.parametrize(("bridge", "core"), [("0.4.2", "0.16.1"), ("0.3.1", "0.17.1"), ("", "0.16.1")])
def test_source_of_other_versions_is_left_alone(bridge: str, core: str, tmp_path: Path) -> None:
    write_source(tmp_path / ".venv/lib/python3.12/site-packages", bridge, core)
    assert source(tmp_path) == ()


def test_source_that_imports_find_anyway_is_not_looked_for(tmp_path: Path) -> None:
    write_source(tmp_path / ".venv/lib/python3.12/site-packages", "0.3.1")
    own = write_source(tmp_path / "own", "0.2.0")
    assert source(tmp_path, search_path=(str(own),)) == ()
    assert source(tmp_path, own) == ()
