"""Recipes on top of upstream's, with nothing but the tool's built-in knowledge at hand."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target, resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

BASE = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base\n"


def read(text: str, *targets: Target) -> dict[str, Recipe]:
    """The recipes of a file by their names."""
    Path("a.py").write_text(BASE + text, encoding="utf-8")
    targets = targets or (resolve_target("0.3.1"),)
    return {each.name: each for each in read_python(["a.py"], Sources({}), load_knowledge(*targets)).recipes}


def values(text: str, path: str, *targets: Target) -> set[Value]:
    """Return the values of a setting on the paths through the function `recipe`."""
    recipe = read(text, *targets).get("recipe")
    return set() if recipe is None else {variant.value(path) for variant in recipe.variants}
