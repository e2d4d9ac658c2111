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
    assert found("helper.py") == ["run.sh", "train.py"]


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
