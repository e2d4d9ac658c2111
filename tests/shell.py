"""Recipes of scripts that tests write."""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.shell.read import read_shell


def recipes(script: str, files: Mapping[str, str] | None = None, path: str = "train.sh") -> list[Recipe]:
    """The runs that a script starts, with other files beside it."""
    return read_shell(path, script, sources=Sources({path: script, **(files or {})})).recipes


def only_recipe(script: str, files: Mapping[str, str] | None = None) -> Recipe:
    """The one run that a script starts."""
    (recipe,) = recipes(script, files)
    return recipe
