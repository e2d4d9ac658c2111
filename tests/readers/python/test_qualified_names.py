"""A recipe's qualified name is the dotted name from the import root, from wherever the tool is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def recipe():
    return llama3_8b_pretrain_config()
"""


def name(path: Path, search_path: tuple[str, ...] = ()) -> str:
    knowledge = load_knowledge(resolve_target("0.3.1"))
    (recipe,) = read_python([str(path)], Sources(), knowledge, search_path=search_path).recipes
    return recipe.qualified_name


def lay_out(folder: Path, *packages: str) -> Path:
    """A project with a recipe in `src/team/llama.py`; `packages` have an `__init__.py`."""
    path = folder / "src/team/llama.py"
    path.parent.mkdir(parents=True)
    path.write_text(RECIPE)
    (folder / "pyproject.toml").write_text("")
    for package in packages:
        (folder / package / "__init__.py").write_text("")
    return path


def test_of_a_module_in_a_package(tmp_path: Path) -> None:
    assert name(lay_out(tmp_path, "src/team")) == "team.llama.recipe"


def test_of_a_package_without_init_below_a_root_on_the_search_path(tmp_path: Path) -> None:
    path = lay_out(tmp_path)
    assert name(path, (str(tmp_path / "src"),)) == "team.llama.recipe"


@pytest.mark.parametrize("start", [".", "src", "src/team"])
def test_it_does_not_depend_on_where_the_tool_is_started(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lay_out(tmp_path, "src/team")
    monkeypatch.chdir(tmp_path / start)
    assert name(path) == "team.llama.recipe"
    assert name(Path("llama.py") if start == "src/team" else path) == "team.llama.recipe"


def test_of_upstreams_own_module_where_it_imports_nothing_of_upstream(tmp_path: Path) -> None:
    path = tmp_path / "src/megatron/bridge/recipes/mine.py"
    path.parent.mkdir(parents=True)
    for package in (path.parent, path.parent.parent):
        (package / "__init__.py").write_text("")
    path.write_text("import torch\n\ndef recipe(cfg):\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n")
    assert name(path) == "megatron.bridge.recipes.mine.recipe"
