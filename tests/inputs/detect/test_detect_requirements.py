"""Lock and requirement files: every form in which a version is written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs.detect.declared import ProjectFolders, in_locks, in_requirements, version_or_range
from mfsdp_lint.megatron.versions import MEGATRON_BRIDGE


@pytest.mark.parametrize(
    ("specifiers", "meant"),
    [
        ("==0.3.1", "0.3.1"),
        ("== 0.3", "0.3.0"),
        ("===0.3.1", "0.3.1"),
        ("==0.4.*", "0.4.*"),
        (">=0.3,<0.5", ">=0.3.0,<0.5.0"),
        ("~=0.4.1", ">=0.4.1,<0.5"),
        ("~=0.4", ">=0.4.0,<1"),
        ("^0.4.1", ">=0.4.1,<0.5"),
        ("~0.4", ">=0.4.0,<0.5"),
        ("<=0.4", "<=0.4.0"),
        ("!=0.4.1,>=0.4", "!=0.4.1,>=0.4.0"),
        ("*", None),
        ("", None),
        ("at your own risk", None),
    ],
)
def test_specifiers_mean_what_the_installer_takes_them_for(specifiers: str, meant: str | None) -> None:
    assert version_or_range(specifiers) == meant


def test_a_line_with_a_star_is_all_its_releases() -> None:
    assert MEGATRON_BRIDGE.versions("0.4.*") == ("0.4.0", "0.4.1", "0.4.2")


@pytest.mark.parametrize(
    ("name", "text", "line", "bridge"),
    [
        ("requirements.txt", "numpy\nmegatron-bridge==0.3.1  # as tested\n", 2, "0.3.1"),
        (
            "requirements-train.txt",
            "Megatron_Bridge[recipes] >= 0.3, < 0.5 ; python_version > '3.9'\n",
            1,
            ">=0.3.0,<0.5.0",
        ),
        ("requirements.txt", "git+https://github.com/NVIDIA-NeMo/Megatron-Bridge.git@v0.4.2#egg=x\n", 1, "0.4.2"),
        (
            "requirements.txt",
            "megatron-bridge @ git+https://github.com/NVIDIA-NeMo/Megatron-Bridge@c810129341\n",
            1,
            "0.4.2",
        ),
        ("requirements.txt", "-e git+ssh://git@github.com/NVIDIA-NeMo/Megatron-Bridge.git@r0.5.0\n", 1, "0.5.0"),
        ("pyproject.toml", "[project]\ndependencies = [\n  'megatron-bridge~=0.4.0',\n]\n", 3, ">=0.4.0,<0.5"),
        ("pyproject.toml", 'megatron-bridge = "^0.4.1"\n', 1, ">=0.4.1,<0.5"),
        ("pyproject.toml", 'megatron-bridge = { version = "0.4.2", extras = ["x"] }\n', 1, ">=0.4.2,<0.5"),
        (
            "pyproject.toml",
            'megatron-bridge = { git = "https://github.com/NVIDIA-NeMo/Megatron-Bridge.git", tag = "v0.5.1" }\n',
            1,
            "0.5.1",
        ),
        ("environment.yml", "dependencies:\n  - pip:\n    - megatron-bridge==0.6.0\n", 3, "0.6.0"),
        ("environment.yml", "dependencies:\n  - megatron-bridge=0.3.1\n", 2, "0.3.1"),
        ("conda-gpu.yaml", "dependencies:\n  - pip:\n    - megatron-bridge==0.6.0\n", 3, "0.6.0"),
        ("requirements.lock", "# by uv\nmegatron-bridge==0.6.0\n", 2, "0.6.0"),
        ("train-requirements.txt", "megatron-bridge==0.5.1\n", 1, "0.5.1"),
        ("requirements/train.txt", "megatron-bridge==0.5.1\n", 1, "0.5.1"),
        ("constraints.txt", "megatron-bridge==0.4.2\n", 1, "0.4.2"),
        ("Pipfile", '[packages]\nmegatron-bridge = "==0.3.1"\n', 2, "0.3.1"),
    ],
)
def test_a_requirement_is_found_with_its_line(tmp_path: Path, name: str, text: str, line: int, bridge: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    (found,) = in_requirements(ProjectFolders((str(tmp_path),)))
    assert (found.place, found.bridge) == (f"{tmp_path / name}:{line}", bridge)


@pytest.mark.parametrize(
    "text",
    [
        "megatron-bridge\n",
        "# megatron-bridge==0.3.1\n",
        "megatron-bridge-extras==0.3.1\n",
        "https://github.com/somebody/else.git@v0.3.1\n",
        "git+https://github.com/NVIDIA-NeMo/Megatron-Bridge.git@my-branch\n",
        "torch>=2.6\n",
    ],
)
def test_what_pins_nothing_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "requirements.txt").write_text(text, encoding="utf-8")
    assert list(in_requirements(ProjectFolders((str(tmp_path),)))) == []


@pytest.mark.parametrize(
    ("name", "package", "bridge", "core"),
    [
        ("uv.lock", 'name = "megatron-bridge"\nversion = "0.3.1"\n', "0.3.1", None),
        (
            "uv.lock",
            'name = "megatron-bridge"\nversion = "0.4.0rc0"\nsource = { git = '
            '"https://github.com/NVIDIA-NeMo/Megatron-Bridge.git?rev=x#c810129341a84e58f4cbed3093f70668a088c028" }\n',
            "0.4.2",
            None,
        ),
        (
            "uv.lock",
            'name = "megatron-core"\n'
            'source = { git = "https://github.com/NVIDIA/Megatron-LM.git?tag=core_v0.16.1#0123456789" }\n',
            None,
            "0.16.1",
        ),
        ("uv.lock", 'name = "megatron-bridge"\nversion = "0.5.0"\nsource = { editable = "." }\n', "0.5.0", None),
        (
            "poetry.lock",
            'name = "megatron-bridge"\nversion = "0.0.0"\n\n[package.source]\ntype = "git"\n'
            'url = "https://github.com/NVIDIA-NeMo/Megatron-Bridge.git"\nreference = "v0.5.1"\n'
            'resolved_reference = "5cb3444c43f7499cf3872b2d46870cf8bc2e00ce"\n',
            "0.5.1",
            None,
        ),
    ],
)
def test_a_locked_package_is_found_with_its_line(
    tmp_path: Path, name: str, package: str, bridge: str | None, core: str | None
) -> None:
    other = '[[package]]\nname = "numpy"\nversion = "1.26"\n\n'
    (tmp_path / name).write_text(f"{other}[[package]]\n{package}\n{other}", encoding="utf-8")
    (found,) = in_locks(ProjectFolders((str(tmp_path),)))
    assert (found.place, found.bridge, found.core) == (f"{tmp_path / name}:6", bridge, core)


def test_a_version_of_thousands_of_digits_is_not_understood() -> None:
    from mfsdp_lint.inputs.detect.declared import version_or_range

    assert version_or_range("^" + "9" * 5000) is None
