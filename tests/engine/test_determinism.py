"""The same question has the same answer to the byte, whatever else differs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import mfsdp_lint

pytestmark = pytest.mark.xdist_group("determinism")

ROOT = Path(__file__).resolve().parents[2]
PATHS = ("llama3_8b_fsdp.py", "qwen25_7b_fsdp2.py", "fsdp_overrides.yaml")

Told = Callable[..., bytes]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Run the tool on examples in a folder of their own: nobody looks through this checkout for who reads them."""
    folder = tmp_path_factory.mktemp("examples")
    for name in PATHS:
        shutil.copy(ROOT / "examples" / name, folder)
    path = str(Path(mfsdp_lint.__file__).parents[1])

    def tell(*arguments: str, **environment: str) -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "mfsdp_lint", "--output-format", "json", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        return done.stdout

    return tell


@pytest.fixture(scope="module")
def usual(told: Told) -> bytes:
    return told(*PATHS)


SURROUNDINGS: Mapping[str, Mapping[str, str]] = {
    "another hash seed, no locale and a far time zone": {
        "PYTHONHASHSEED": "77",
        "LC_ALL": "C",
        "TZ": "Pacific/Kiritimati",
    },
    "Turkish, and no UTF-8": {
        "LC_ALL": "tr_TR.ISO-8859-9",
        "LANG": "tr_TR",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    },
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings_do_not_matter(name: str, told: Told, usual: bytes) -> None:
    assert told(*PATHS, **SURROUNDINGS[name]) == usual


def test_the_order_of_the_arguments_does_not_matter(told: Told, usual: bytes) -> None:
    assert told(*reversed(PATHS), PATHS[0]) == usual


def test_what_is_kept_of_earlier_runs_does_not_matter(told: Told, usual: bytes, tmp_path: Path) -> None:
    kept = ("--cache-dir", str(tmp_path / "kept"))
    assert told(*kept, *PATHS) == usual
    assert told(*kept, *PATHS) == usual
