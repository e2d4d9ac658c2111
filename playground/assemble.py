"""Puts together what the playground runs: `python playground/assemble.py FETCHED INTO`.

FETCHED has the packages and wheels that `make playground` fetched, each as its lock says; INTO is a folder of the
site. The linter is built from this checkout. libcst and PyYAML come in wheels for another machine, of which only the
Python is taken: libcst then reads with its own parser in Python, and PyYAML with its own scanner.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent

FROM_PACKAGES = {
    "pyodide": ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip"),
    "web-tree-sitter": ("web-tree-sitter.js", "web-tree-sitter.wasm"),
    "tree-sitter-bash": ("tree-sitter-bash.wasm",),
}

NATIVE = re.compile(r"\.cpython-\d+-x86_64-linux-gnu\.so$")
UNUSED = re.compile(r"/$|^libcst/(codemod|tests|testing|tool\.py)|/tests/|^mfsdp_lint/(dryrun|server)/")
"""What nothing in the page imports."""

ARCHIVE = "linter.zip"


def assemble(fetched: Path, into: Path) -> None:
    """Writes everything. Raises OSError, and CalledProcessError where the linter cannot be built."""
    into.mkdir(parents=True, exist_ok=True)
    for package, names in FROM_PACKAGES.items():
        for name in names:
            shutil.copyfile(fetched / "node_modules" / package / name, into / name)
    with tempfile.TemporaryDirectory() as scratch:
        wheels = [*sorted((fetched / "wheels").glob("*.whl")), built(Path(scratch))]
        with zipfile.ZipFile(into / ARCHIVE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in [*from_wheels(wheels), *stand_ins()]:
                archive.writestr(name, data)


def built(folder: Path) -> Path:
    """The linter's wheel, of this checkout."""
    building = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*building, "--wheel-dir", str(folder), str(HERE.parent)], check=True)
    return next(folder.glob("*.whl"))


def from_wheels(wheels: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Every file of theirs that is used, by its path."""
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                if not NATIVE.search(name) and not UNUSED.search(name):
                    yield name, wheel.read(name)


def stand_ins() -> Iterator[tuple[str, bytes]]:
    """The modules beside this one that are for the page."""
    for path in sorted((HERE / "python").glob("*.py")):
        yield path.name, path.read_bytes()


if __name__ == "__main__":
    assemble(*map(Path, sys.argv[1:]))
