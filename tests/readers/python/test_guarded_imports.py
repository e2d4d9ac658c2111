"""Imports that may fail, and folders that a program puts on `sys.path`."""

# ruff: noqa: E501 (a program a line)

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

RECIPE = """
import os
import sys
from pathlib import Path
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

TOP

def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = VALUE
    return cfg
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"lib/settings.py": "N = 7\n", "pack/inner/mod.py": "N = 8\n", "beside.py": "M = 9\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def read(top: str, value: str = "N", version: str = "0.3.1") -> Recipe:
    Path("a.py").write_text(RECIPE.replace("TOP", top).replace("VALUE", value), encoding="utf-8")
    found = read_python(["a.py"], Sources({}), load_knowledge(resolve_target(version)))
    return next(recipe for recipe in found.recipes if recipe.name == "recipe")


def guarded(statement: str) -> str:
    return f"try:\n    {statement}\n    N = 1\nexcept ImportError:\n    N = 2"


RECIPES = "from megatron.bridge.recipes.llama"
OVERRIDES = "from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides"
CERTAIN = {
    "a module of the standard library": ("import json", "0.3.1", 1),
    "a module of the tree": ("from beside import M", "0.3.1", 1),
    "a module that is required": ("import omegaconf", "0.3.1", 1),
    "a name that the module lacks": ("from beside import NOTHING", "0.3.1", 2),
    "a relative module that is not there": ("from .local_settings import N", "0.3.1", 2),
    "a recipe that the release has": (f"{RECIPES} import llama32_1b_pretrain_config", "0.3.1", 1),
    "a recipe of a later release": (f"{RECIPES} import llama3_8b_sft_config", "0.2.0", 2),
    "a module of a later release": ("import megatron.bridge.training.callbacks", "0.2.0", 2),
    "a helper that the release has": (OVERRIDES, "0.3.1", 1),
    "a helper of a later release": (OVERRIDES, "0.2.0", 2),
    "a module that no release has": (f"{RECIPES}.llama3_8b import pretrain_config", "0.6.0", 2),
    "a module that no release has, by import": ("import megatron.bridge.recipes.llama.llama3_8b as m", "0.6.0", 2),
    "a name that no release has": (f"{RECIPES} import nobody_config", "0.6.0", 2),
    "all names of a module that no release has": (f"{RECIPES}.llama3_8b import *", "head", 2),
    "a name that the module imports itself": (
        "from megatron.bridge.training.config import CheckpointConfig",
        "0.6.0",
        1,
    ),
    "by importlib": (
        "import importlib; importlib.import_module('megatron.bridge.recipes.llama.llama3_8b')",
        "0.6.0",
        2,
    ),
}


@pytest.mark.parametrize(("statement", "version", "value"), CERTAIN.values(), ids=CERTAIN.keys())
def test_a_guarded_import_succeeds_or_fails_as_the_release_has_it(statement: str, version: str, value: int) -> None:
    assert read(guarded(statement), version=version).setting("train.train_iters").value == Known(value)


@pytest.mark.parametrize("statement", ["import nobody_knows", "from nobody_knows.parts import thing"])
def test_whether_another_package_is_installed_is_not_known(statement: str) -> None:
    found = read(guarded(statement))
    assert {variant.value("train.train_iters") for variant in found.variants} != {Known(1)}
    assert found.setting("train.train_iters").value not in (Known(1), Known(2))


FOUND = {
    "a folder beside the file": ("sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\nfrom settings import N", 7),
    "by pathlib": ("sys.path.append(str(Path(__file__).resolve().parent / 'lib'))\nfrom settings import N", 7),
    "by a literal": ("sys.path.append('lib')\nimport settings\nN = settings.N", 7),
    "several": ("sys.path.extend(['nowhere', 'lib'])\nfrom settings import *", 7),
    "in front": ("sys.path[:0] = []\nsys.path.insert(0, 'lib')\nfrom settings import N", 7),
    "a namespace package": ("from pack.inner.mod import N", 8),
    "a part of a namespace package": ("from pack.inner import mod\nN = mod.N", 8),
    "a namespace package by its name": ("import pack.inner.mod\nN = pack.inner.mod.N", 8),
    "a namespace package by another name": ("import pack.inner.mod as m\nN = m.N", 8),
    "by importlib": ("import importlib\nN = importlib.import_module('pack.inner.mod').N", 8),
    "by importlib in a namespace package": ("import importlib\nN = getattr(importlib.import_module('beside'), 'M')", 9),
}  # fmt: skip


@pytest.mark.parametrize(("top", "value"), FOUND.values(), ids=FOUND.keys())
def test_a_module_is_found(top: str, value: int) -> None:
    assert read(top).setting("train.train_iters").value == Known(value)


ASKED = {
    "a recipe that the release has": ("llama3_8b_sft_config", "0.3.1", {True}),
    "a recipe of a later release": ("llama3_8b_sft_config", "0.2.0", {False}),
}


@pytest.mark.parametrize(("name", "version", "answers"), ASKED.values(), ids=ASKED.keys())
def test_hasattr_of_an_upstream_module_answers_as_the_release(name: str, version: str, answers: set[bool]) -> None:
    top = f"from megatron.bridge.recipes import llama\nN = hasattr(llama, '{name}')"
    assert {variant.value("train.train_iters") for variant in read(top, version=version).variants} == set(
        map(Known, answers)
    )


NOT_KNOWN = {
    "a private name": ("from megatron.bridge.recipes import llama", "llama._nobody"),
    "a name of megatron-core": ("from megatron.core import distributed", "distributed.nobody"),
}


@pytest.mark.parametrize(("module", "name"), NOT_KNOWN.values(), ids=NOT_KNOWN.keys())
def test_whether_an_upstream_module_has_what_nothing_is_known_of_is_not_known(module: str, name: str) -> None:
    owner, _, attribute = name.partition(".")
    top = f"{module}\nN = 1 if hasattr({owner}, '{attribute}') else 2"
    assert read(top).setting("train.train_iters").value not in (Known(1), Known(2))
    top = f"{module}\ntry:\n    {name}\n    N = 1\nexcept AttributeError:\n    N = 2"
    assert read(top).setting("train.train_iters").value not in (Known(1), Known(2))


ANSWERED = {
    "no name that no release has": "hasattr(__import__('megatron.bridge.recipes.llama', fromlist=['x']), 'nobody_config')",
    "no module that no release has": "importlib.util.find_spec('megatron.bridge.recipes.llama.llama3_8b') is not None",
    "a module that the release has": "importlib.util.find_spec('megatron.bridge.recipes.llama') is None",
}


@pytest.mark.parametrize("question", ANSWERED.values(), ids=ANSWERED.keys())
def test_questions_about_modules_are_answered_as_imports_are(question: str) -> None:
    top = f"import importlib.util\nN = 1 if {question} else 2"
    assert read(top, version="0.6.0").setting("train.train_iters").value == Known(2)


def test_the_fallback_of_a_module_that_no_release_has_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.py").write_text(FALLBACK, encoding="utf-8")
    assert main(["check", "b.py", "--target-bridge", "0.6.0", "--output-format", "concise"]) == 1
    assert "b.py:9:33: error MFSDP101" in capsys.readouterr().out


FALLBACK = """\
try:
    from megatron.bridge.recipes.llama.llama3_8b import pretrain_config as base
except ModuleNotFoundError:
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base


def recipe():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = True
    return cfg
"""
