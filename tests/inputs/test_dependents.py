"""Who uses a file: found in the text of the files of its project, the nearest first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.inputs.dependents import Importers, users
from mfsdp_lint.readers.registry import READERS

TYPES = [reader.type for reader in READERS]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml")


def write(path: str, text: str = "") -> None:
    Path(path).parent.mkdir(exist_ok=True, parents=True)
    Path(path).write_text(text, encoding="utf-8")


def found(*paths: str, enough: int = 40) -> list[str]:
    return list(users(paths, TYPES, enough))


def test_python_uses_what_it_imports_and_the_nearest_are_first() -> None:
    write("lib/helper.py", "def shard(cfg): ...\n")
    write("lib/middle.py", "from .helper import shard\n\nshard(None)\n")
    write("a_recipe.py", "import lib.middle\n")
    write("other.py", "import json\n")
    assert found("lib/helper.py") == ["lib/middle.py", "a_recipe.py"]


def test_a_package_that_hands_names_on_is_used_by_those_who_mean_them() -> None:
    write(
        "lib/__init__.py", '"""All."""\nfrom .one import *\nfrom .two import second as renamed\n\n__all__ = ["first"]\n'
    )
    write("lib/one.py", "def first(): ...\n\n\ndef _of(): ...\n\n\n__all__ = ['first']\n")
    write("lib/two.py", "def second(): ...\n")
    write("uses_none.py", "import lib\n\nprint(lib.__all__, '_of')\n")
    write("uses_one.py", "from lib import first\n")
    write("uses_two.py", "import lib\n\nlib.renamed()\n")
    assert found("lib/one.py") == ["lib/__init__.py", "uses_one.py"]
    assert found("lib/two.py") == ["lib/__init__.py", "uses_two.py"]
    assert Importers().of(["lib/one.py"]) == [
        "lib/__init__.py",
        "uses_none.py",
        "uses_one.py",
        "uses_two.py",
    ]  # a proof needs all


def test_a_package_with_code_of_its_own_may_use_any_name_for_any_other() -> None:
    write("lib/__init__.py", "from .one import first\n\nTABLE = {1: first}\n")
    write("lib/one.py", "def first(): ...\n")
    write("uses.py", "from lib import TABLE\n")
    assert found("lib/one.py") == ["lib/__init__.py", "uses.py"]


@pytest.mark.parametrize("more", ["", "LIMIT = 3\n"])
def test_what_a_star_takes_over_is_handed_on_by_name(more: str) -> None:
    write("lib/__init__.py", "from .inner import *\n" + more)
    write("lib/inner/__init__.py", "from .one import first\n")
    write("lib/inner/one.py", "def first(): ...\n\n\ndef second(): ...\n")
    write("uses.py", "import lib\n\nlib.first()\n")
    write("uses_none.py", "from lib import LIMIT\n")
    assert found("lib/inner/one.py") == ["lib/inner/__init__.py", "lib/__init__.py", "uses.py"]


REGISTRY = "TABLE = {}\n\n\ndef register(f):\n    TABLE[f.__name__] = f\n    return f\n"


@pytest.mark.parametrize(
    ("plugin", "is_used"),
    [
        ("from lib.registry import register\n\n\n@register\ndef tune(cfg): ...\n", True),
        ("import lib.registry\n\nlib.registry.TABLE['tune'] = print\n", True),
        ("from lib.registry import Base\n\n\nclass Tune(Base): ...\n", True),
        ("import os\n\nos.environ['A'] = '1'\n\n\ndef tune(cfg): ...\n", True),
        ("def tune(cfg): ...\n\n\ntune(None)\n", True),
        ("from dataclasses import dataclass\n\n\n@dataclass\nclass Tune: ...\n", False),
        ("import torch\n\ntorch.backends.cudnn.benchmark = True\n", False),
        ("import logging\n\nlogging.basicConfig()\nLOG = logging.getLogger()\n", False),
        ("def tune(cfg): ...\n", False),
    ],
)
def test_what_importing_a_file_changes_elsewhere_is_for_all_who_import_it(plugin: str, is_used: bool) -> None:
    write("lib/__init__.py")
    write("lib/registry.py", f"{REGISTRY}\n\nclass Base:\n    def __init_subclass__(cls): ...\n")
    write("lib/plugins/__init__.py", "from lib.plugins.plugin import *\n")
    write("lib/plugins/plugin.py", plugin)
    write("uses.py", "import lib.plugins\nfrom lib.registry import TABLE\n\nTABLE['tune'](None)\n")
    write("uses_none.py", "import lib.plugins\nfrom lib.registry import TABLE\n\nprint(TABLE)\n")
    assert ("uses_none.py" in found("lib/plugins/plugin.py")) == is_used


def test_what_a_package_does_is_for_all_who_import_a_module_in_it() -> None:
    write("pkg/__init__.py", "import os\n\nos.environ['A'] = '1'\n")
    write("pkg/inner.py", "def first(): ...\n")
    write("uses.py", "from pkg.inner import first\n")
    assert found("pkg/__init__.py") == ["pkg/inner.py", "uses.py"]


def test_a_star_takes_no_name_that_is_for_types_alone() -> None:
    write("lib/__init__.py", "from .one import *\n")
    write("lib/one.py", "if TYPE_CHECKING:\n    from other import Config\n\n\ndef first(): ...\n")
    write("uses.py", "from lib import first\n")
    write("uses_none.py", "from lib import Config\n")
    assert found("lib/one.py") == ["lib/__init__.py", "uses.py"]


@pytest.mark.parametrize(
    "text", ["FMT, SAVE = 'a', 'b'\n", "A = 1; FMT = 'a'\n", "if A:\n    def FMT(): ...\n", "_ = 1\nFMT: str = 'a'\n"]
)
def test_a_star_takes_every_name_that_a_module_binds(text: str) -> None:
    write("lib/__init__.py", "from .one import *\n")
    write("lib/one.py", text)
    write("uses.py", "from lib import FMT\n")
    assert found("lib/one.py") == ["lib/__init__.py", "uses.py"]


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\n\nNAME = 'lib.one'\nimportlib.import_module(NAME)\n",
        "from importlib import import_module as load\n\nload('lib.one')\n",
        "import runpy\n\nrunpy.run_path('lib/one.py')\n",
        "from importlib.util import spec_from_file_location\n\nspec_from_file_location('m', 'lib/one.py')\n",
    ],
)
def test_a_module_is_used_by_code_that_loads_it_by_a_name_that_is_said_elsewhere(text: str) -> None:
    write("lib/__init__.py")
    write("lib/one.py", "def first(): ...\n")
    write("loads.py", text)
    assert found("lib/one.py") == ["loads.py"]


def test_a_program_is_started_by_its_name_however_far_it_is() -> None:
    write("helper.py", "def first(): ...\n")
    write("middle.py", "from helper import first\n\n\ndef second():\n    first()\n")
    write("run.py", "from middle import second\n\nsecond()\n")
    write("pkg/__init__.py")
    write("pkg/__main__.py", "import helper\n\nhelper.first()\n")
    write("go.sh", "torchrun run.py\n")
    write("of_a_package.sh", "torchrun -m pkg\n")
    write("Makefile", "all:\n\tbash go.sh\n")
    assert found("helper.py") == ["middle.py", "pkg/__main__.py", "run.py", "go.sh", "of_a_package.sh", "Makefile"]


def test_a_program_uses_the_configuration_that_hydra_gives_it() -> None:
    write("conf/main.yaml", "defaults:\n  - base\n")
    write("conf/base.yaml", "a: 1\n")
    write("conf/ck/dist.yaml", "b: 1\n")
    write("train.py", "import hydra\n\n\n@hydra.main(config_path='conf', config_name='main')\ndef main(cfg): ...\n")
    write("go.sh", "python train.py ck=dist\n")
    assert found("conf/main.yaml") == ["train.py", "go.sh"]
    assert found("conf/base.yaml") == ["conf/main.yaml", "train.py", "go.sh"]
    assert found("conf/ck/dist.yaml") == ["go.sh"]


def test_a_file_is_used_by_a_link_to_it_and_by_files_whose_names_say_nothing(tmp_path: Path) -> None:
    write("shared/helper.py", "def first(): ...\n")
    write("recipes/uses.py", "from recipes.linked import first\n")
    (tmp_path / "recipes" / "linked.py").symlink_to("../shared/helper.py")
    assert found("shared/helper.py") == ["recipes/uses.py"]
    write("env.sh", "export A=1\n")
    write("train", "#!/bin/bash\nsource env.sh\n")
    write(".gitlab-ci.yml", "a:\n  script:\n    - source env.sh\n")
    assert found("env.sh") == [".gitlab-ci.yml", "train"]


MIDDLE = """\
import functools
from lib.one import first, {other}

LIMIT = 3


def uses():
    return first()


def uses_the_user():
    return uses()


def of_its_own():
    return LIMIT
"""


@pytest.mark.parametrize(
    ("more", "users_of_the_middle"),
    [
        ("", ["direct", "indirect"]),
        ("TABLE = {'of_its_own': uses}\n", ["direct", "indirect"]),
        ("LIMIT = first\n", ["direct", "indirect", "other"]),
        ("def of_its_own():\n    return globals()['us' + 'es']()\n", ["direct", "indirect", "other"]),
        ("def sets():\n    global LIMIT\n    LIMIT = first()\n", ["direct", "indirect", "other"]),
        ("first()\n", ["direct", "indirect", "other"]),
        ("LIST = register(uses)\n", ["direct", "indirect", "other"]),
        ("functools.kept = uses\n", ["direct", "indirect", "other"]),
        ("@functools.cache\ndef third():\n    return uses()\n", ["direct", "indirect", "other"]),
        ("class Third(functools.Base):\n    value = first\n", ["direct", "indirect", "other"]),
        ("def third(given=uses()): ...\n", ["direct", "indirect", "other"]),
        ("for each in first:\n    LIMIT = each\n", ["direct", "indirect", "other"]),
        ("try:\n    from lib.one import first as LIMIT\nexcept ImportError: ...\n", ["direct", "indirect", "other"]),
        ("def __getattr__(name): ...\n", ["direct", "indirect", "other"]),
        ("if __name__ == '__main__':\n    first()\n", ["direct", "indirect"]),
        ("broken(\n", ["direct", "indirect", "other"]),
    ],
)
def test_a_module_with_functions_is_used_by_those_who_mean_the_ones_that_use_the_file(
    more: str, users_of_the_middle: list[str]
) -> None:
    write("lib/__init__.py")
    write("lib/one.py", "def first(): ...\n")
    write("lib/middle.py", MIDDLE.format(other="second") + more)
    write("lib/direct.py", "from lib.middle import uses\n")
    write("lib/indirect.py", "from lib import middle\n\nmiddle.uses_the_user()\n")
    write("lib/other.py", "from lib.middle import of_its_own\n")
    assert found("lib/one.py") == ["lib/middle.py", *(f"lib/{each}.py" for each in users_of_the_middle)]


def test_a_module_that_is_imported_by_a_name_that_is_said_is_that_one() -> None:
    write("lib/__init__.py")
    write("lib/one.py")
    write("says.py", 'from importlib import import_module\n\nimport_module("lib.one")\n')
    write("says_another.py", 'from importlib import import_module\n\nimport_module("other.one", None)\n')
    write("computes.py", 'from importlib import import_module\n\nimport_module("other." + one)\n')
    assert found("lib/one.py") == ["computes.py", "says.py"]


def test_a_notebook_uses_what_it_imports_itself() -> None:
    cell: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    for name, source in (("near", ["from helper import (\n", "    shard,\n", ")"]), ("far", ["import recipe"])):
        write(f"{name}.ipynb", json.dumps({"cells": [cell | {"source": source}]}))
    write("helper.py", "def shard(cfg): ...\n")
    write("recipe.py", "import helper\n")
    assert found("helper.py") == ["near.ipynb", "recipe.py"]


def test_scripts_use_the_files_that_they_name_and_scripts_that_do() -> None:
    write("env.sh", "export A=1\n")
    write("train.sh", "source $(dirname $0)/env.sh\n")
    write("sweep.sh", "for i in 1 2; do bash $ROOT/train.sh; done\n")
    write("other.sh", "source other/env.sh\n")
    assert found("env.sh") == ["train.sh", "sweep.sh"]


def test_a_program_that_imports_a_helper_is_started_by_scripts() -> None:
    write("helper.py")
    write("train.py", 'import helper\n\nif __name__ == "__main__":\n    ...\n')
    write("run.sh", "torchrun train.py\n")
    write("job.yaml", "command: [python, -m, here.train]\n")
    assert found("helper.py") == ["train.py", "run.sh"]


def test_a_configuration_is_used_by_those_who_name_it() -> None:
    write("conf/ddp/fsdp.yaml", "use_megatron_fsdp: true\n")
    write("conf/run.yaml", "defaults:\n  - ddp: fsdp\n")
    write("conf/about.yaml", "# fsdp\n")
    write("load.py", 'OmegaConf.load("conf/ddp/fsdp.yaml")\n')
    write("recipe.py", "import load\n")
    assert found("conf/ddp/fsdp.yaml") == ["conf/run.yaml", "load.py", "recipe.py"]


def test_those_who_are_farther_away_than_enough_are_not_looked_for() -> None:
    write("helper.py")
    for name in ("a", "b"):
        write(f"{name}.py", "import helper\n\nhelper.shard(None)\n")
        write(f"far_{name}.py", f"import {name}\n")
    assert found("helper.py", enough=1) == ["a.py", "b.py"]
    assert found("helper.py", enough=2) == ["a.py", "b.py", "far_a.py", "far_b.py"]


def test_outside_of_a_project_no_folder_is_entered() -> None:
    Path("pyproject.toml").unlink()
    write("helper.py")
    write("beside.py", "import helper\n")
    write("below/recipe.py", "import helper\n")
    assert found("helper.py") == ["beside.py"]
