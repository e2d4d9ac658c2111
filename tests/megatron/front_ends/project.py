"""Small projects of a framework, and what is read in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target, resolve_target
from mfsdp_lint.readers.yaml.document import Files
from mfsdp_lint.readers.yaml.read import read_yaml


class Project:
    """Files in a folder that is the current one."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def recipes(self, name: str, target: Target | None = None) -> list[Recipe]:
        return read_yaml(name, self.text(name), target or resolve_target("0.4.2"), Files(Sources()))

    def recipe(self, name: str) -> Recipe:
        (only,) = self.recipes(name)
        return only

    def values(self, name: str, *paths: str) -> list[Value]:
        return [self.recipe(name).variants[0].value(path) for path in paths]

    def place(self, name: str, path: str) -> str:
        """Where a setting was written: `file:line`."""
        origin = self.recipe(name).variants[0].origin(path)
        return f"{origin.span.path}:{origin.span.line}" if origin else ""

    def told(self, *arguments: str) -> list[str]:
        """The findings, one a line: `file:line:column: severity CODE`."""
        main([*arguments, "--output-format", "concise", "--target-bridge", "0.4.2"])
        lines = self.capsys.readouterr().out.splitlines()
        return [" ".join(line.split()[:3]) for line in lines if " MFSDP" in line]
