"""What a program finds in a package of the tree by its name: `pkgutil`, `importlib.import_module`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from tests.readers.python.several_files import CONFIG

FIND = """\
import importlib
import pkgutil

import zoo
from config import ConfigContainer, sized


def find(name):
    for info in pkgutil.iter_modules(zoo.__path__):
        if not info.ispkg or info.name.startswith("_"):
            continue
        where = f"{zoo.__name__}.{info.name}.big"
        try:
            module = importlib.import_module(where)
        except ModuleNotFoundError as error:
            if error.name != where:
                raise
            continue
        found = getattr(module, name, None)
        if callable(found):
            return found
    return None


def recipe() -> ConfigContainer:
"""


@pytest.fixture(autouse=True)
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with three families of recipes, one of which has no large ones."""
    big = "from config import sized\n\n\ndef {}_big():\n    return sized({})\n"
    for name, text in {
        "pyproject.toml": "",
        "config.py": CONFIG,
        "zoo/__init__.py": "",
        "zoo/alone.py": "",
        "zoo/ant/__init__.py": "",
        "zoo/bee/__init__.py": "",
        "zoo/bee/big.py": big.format("bee", 5),
        "zoo/cat/__init__.py": "",
        "zoo/cat/big.py": big.format("cat", 7),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


def bucket_size(body: str) -> Value:
    """What the recipe with this body sets."""
    Path("train.py").write_text(f"{FIND}{body}")
    (found,) = [each for each in read_python(["train.py"], Sources({})).recipes if each.name == "recipe"]
    (variant,) = found.variants
    return variant.value("ddp.bucket_size")


def test_a_recipe_is_found_in_the_families_of_a_package() -> None:
    assert bucket_size("    return find('cat_big')()\n") == Known(7)


def test_a_package_may_be_walked_to_its_end() -> None:
    names = ["zoo.alone", "zoo.ant", "zoo.bee", "zoo.bee.big", "zoo.cat", "zoo.cat.big"]
    walked = "[each.name for each in pkgutil.walk_packages(zoo.__path__, 'zoo.')]"
    assert bucket_size(f"    return sized({walked} == {names})\n") == Known(True)


def test_plug_ins_that_a_top_level_loads_enter_themselves_into_its_registry() -> None:
    Path("zoo/__init__.py").write_text("SIZES = []\n\n\ndef add(size):\n    SIZES.append(size)\n")
    Path("zoo/alone.py").write_text("from zoo import add\n\nadd(11)\n")
    load = "for info in pkgutil.iter_modules(zoo.__path__):\n    importlib.import_module(f'zoo.{info.name}')\n"
    assert bucket_size(f"    return sized(zoo.SIZES[0])\n\n\n{load}") == Known(11)


def test_plug_ins_that_a_function_loads_enter_themselves_into_its_registry() -> None:
    Path("zoo/__init__.py").write_text("SIZES = {}\n\n\ndef add(name, size):\n    SIZES[name] = size\n")
    Path("zoo/alone.py").write_text("from zoo import add\n\nadd('alone', 11)\n")
    load = "    for info in pkgutil.iter_modules(zoo.__path__):\n        importlib.import_module(f'zoo.{info.name}')\n"
    assert bucket_size(f"{load}    return sized(zoo.SIZES['alone'])\n") == Known(11)


@pytest.mark.parametrize(
    "size",
    [
        "len(list(pkgutil.iter_modules(importlib.import_module('numpy').__path__)))",
        "len(list(pkgutil.iter_modules()))",
        "len(list(pkgutil.iter_modules(None)))",
    ],
)
def test_what_is_not_in_the_tree_is_not_known(size: str) -> None:
    assert not isinstance(bucket_size(f"    return sized({size})\n"), Known)
