"""Subject of the measurements: the files of one upstream tree, and how the tool is started over them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from speed.processes import Cost, cost, typical

FORMATS = ("concise", "github", "full", "json")

CLEAN = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
recipe = llama3_8b_pretrain_config()
"""

PARSED = """\
import ast, contextlib, pathlib, sys
for path in sys.argv[1:]:
    with contextlib.suppress(OSError, SyntaxError, ValueError):  # some that people have are no Python
        ast.parse(pathlib.Path(path).read_bytes())
"""


@dataclass(frozen=True)
class Place:
    """`repository` is an upstream tree, `recipes` are folders of it with recipes alone, both as they were unpacked."""

    repository: Path
    recipes: tuple[Path, ...]
    runs: int

    @cached_property
    def recipe_files(self) -> list[str]:
        """The Python files of the recipes."""
        return _python_files(self.recipes)

    @cached_property
    def parsing_recipes(self) -> float:
        """Seconds that `ast.parse` takes for the recipes, without starting Python."""
        return self._parsing(self.recipe_files)

    @cached_property
    def parsing_repository(self) -> float:
        """Seconds that `ast.parse` takes for the whole tree, without starting Python."""
        return self._parsing(_python_files((self.repository,)))

    def _parsing(self, files: list[str]) -> float:
        python = [sys.executable, "-c", PARSED]
        started = self.typical(python)
        return self.typical([*python, *files]).processor - started.processor

    def typical(self, command: list[str], folder: str | None = None, **environment: str) -> Cost:
        """Measure a command, started in the tree unless another folder is named."""
        return typical(self.runs, lambda: cost(command, folder or str(self.repository), environment))

    def lint(self, *arguments: str, folder: str | None = None) -> Cost:
        """Measure the tool without any earlier run."""
        return self.typical([*TOOL, "--no-cache", *arguments], folder)

    def audit(self) -> Cost:
        """Measure showing the effective configurations of the recipes."""
        return self.typical([*TOOL, "audit", *map(str, self.recipes)])

    @cache  # noqa: B019
    def recipes_as(self, output_format: str) -> Cost:
        """Measure a cold check of the recipes in a format. `concise` needs no proofs."""
        return self.lint("--output-format", output_format, *map(str, self.recipes))

    @cached_property
    def whole(self) -> Cost:
        """Measure a cold check of the whole tree."""
        return self.lint("--output-format", "concise", ".")

    def again(self, *paths: str) -> Cost:
        """Measure the second run, and those after it."""
        with TemporaryDirectory() as folder:
            command = [*TOOL, "--output-format", "concise", "--cache-dir", folder, *paths]
            cost(command, str(self.repository))
            return self.typical(command)

    def after_a_change(self, paths: list[str], changed: str) -> Cost:
        """Measure a run behind an edit of one file of a copy of the tree; every run follows an edit of its own."""
        with self.copied() as copy, TemporaryDirectory() as folder:
            command = [*TOOL, "--output-format", "concise", "--cache-dir", folder, *paths]
            cost(command, str(copy))

            def once() -> Cost:
                with (copy / changed).open("a") as file:
                    file.write("# changed\n")
                return cost(command, str(copy))

            return typical(self.runs, once)

    @contextmanager
    def copied(self) -> Iterator[Path]:
        """Copy the tree, to be changed."""
        with TemporaryDirectory() as folder:
            copy = Path(folder) / "tree"
            shutil.copytree(self.repository, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            (copy / ".git").mkdir()  # what stands above it does not belong to it
            yield copy

    @contextmanager
    def clean_file(self) -> Iterator[str]:
        """Make the folder of one recipe without any mistake."""
        with TemporaryDirectory() as folder:
            (Path(folder) / "recipe.py").write_text(CLEAN)
            yield folder


TOOL = (
    [sys.executable, "-P", "-m", "mfsdp_lint"] if sys.version_info >= (3, 11) else [sys.executable, "-m", "mfsdp_lint"]
)


def _python_files(folders: tuple[Path, ...]) -> list[str]:
    return sorted(str(path) for folder in folders for path in folder.rglob("*.py"))
