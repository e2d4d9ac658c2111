"""Tools that people run already, on the same files: pinned in benchmarks/peers.txt, in an environment of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from speed.place import Place

ENVIRONMENT = Path(".venv-bench")

_CST = (
    "import libcst, pathlib, sys\nfor path in sys.argv[1:]:\n    libcst.parse_module(pathlib.Path(path).read_bytes())"
)

PEERS: Mapping[str, tuple[str, ...]] = {
    "ruff check": ("ruff", "check", "--no-cache", "--isolated", "--exit-zero"),
    "pyupgrade": ("pyupgrade", "--py310-plus", "--exit-zero-even-if-changed"),
    "libcst.parse_module": ("python", "-c", _CST),
    "flake8": ("flake8", "--isolated", "--jobs=1", "--exit-zero"),
    "pylint, one check": ("pylint", "--jobs=1", "--disable=all", "--enable=unused-import", "--exit-zero"),
}
"""Each by its name in the chart; the files follow."""


def against_peers(here: Place) -> dict[str, float]:
    """Return multiples of what `ast.parse` takes for the recipes; empty if the environment is not there."""
    programs = ENVIRONMENT.absolute() / "bin"
    if not programs.is_dir():
        return {}
    found = {}
    with here.copied() as copy:  # some of them write
        files = [str(copy / os.path.relpath(path, here.repository)) for path in here.recipe_files]
        for name, (program, *arguments) in PEERS.items():
            spent = here.typical([str(programs / program), *arguments, *files], folder=str(copy))
            found[name] = spent.processor / here.parsing_recipes
    return found
