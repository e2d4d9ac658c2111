"""Variables of the process that importing a module sets: whoever runs behind that finds them, as in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.python.several_files import agrees

RECIPE = """\
import os
{imports}
from config import ConfigContainer, sized

{globals}


def recipe() -> ConfigContainer:
    {body}
"""


def recipe(imports: str = "", names: str = "", body: str = 'return sized(os.environ.get("SIZE", "none"))') -> str:
    return RECIPE.format(imports=imports, globals=names, body=body)


SETS = 'import os\n\nos.environ["SIZE"] = "set"\n'
DEFAULTS = 'import os\n\nos.environ.setdefault("SIZE", "default")\n'
ASKS = 'import os\n\nSIZE = os.environ.get("SIZE", "none")\n'
SAID = "return sized(SIZE)"

PROGRAMS = {
    "a module that is only imported": {"setup.py": SETS, "main.py": recipe("import setup")},
    "asked for by the top level": {
        "setup.py": SETS,
        "main.py": recipe("import setup", 'SIZE = os.environ.get("SIZE", "none")', SAID),
    },
    "asked for by a third module": {
        "setup.py": SETS,
        "asks.py": ASKS,
        "main.py": recipe("import setup\nfrom asks import SIZE", "", SAID),
    },
    "asked for by a module before": {
        "setup.py": SETS,
        "asks.py": ASKS,
        "main.py": recipe("from asks import SIZE\nimport setup", "", SAID),
    },
    "set by the importer of a module that asks": {
        "asks.py": ASKS,
        "main.py": recipe('os.environ["SIZE"] = "own"\nfrom asks import SIZE', "", SAID),
    },
    "asked for by a function that is called later": {
        "asks.py": 'import os\n\n\ndef size():\n    return os.environ.get("SIZE", "none")\n',
        "main.py": recipe('os.environ["SIZE"] = "own"\nfrom asks import size', "", "return sized(size())"),
    },
    "asked for by a function that a third module calls when it is imported": {
        "asks.py": 'import os\n\n\ndef size():\n    return os.environ.get("SIZE", "none")\n',
        "calls.py": "from asks import size\n\nSIZE = size()\n",
        "main.py": recipe('os.environ["SIZE"] = "own"\nfrom calls import SIZE', "", SAID),
    },
    "asked for by a class, between its methods": {
        "asks.py": """\
import os


class Asks:
    def before(
        self,
    ):
        return "before"

    SIZE = os.environ.get("SIZE", "none")

    def behind(self):
        return "behind"
""",
        "main.py": recipe('os.environ["SIZE"] = "own"\nfrom asks import Asks', "", "return sized(Asks.SIZE)"),
    },
    "asked for by a default of a function": {
        "asks.py": 'import os\n\n\ndef size(value=os.environ.get("SIZE", "none")):\n    return value\n',
        "main.py": recipe('os.environ["SIZE"] = "own"\nfrom asks import size', "", "return sized(size())"),
    },
    "asked for as a part of all": {
        "asks.py": 'import os\n\nSIZE = dict(os.environ).get("SIZE", "none")\n',
        "main.py": recipe('os.environ["SIZE"] = "own"\nfrom asks import SIZE', "", SAID),
    },
    "asked for as a part of all by a function of another module": {
        "asks.py": "import os\n\n\ndef every():\n    return dict(os.environ)\n",
        "calls.py": 'from asks import every\n\nSIZE = every().get("SIZE", "none")\n',
        "main.py": recipe('os.environ["SIZE"] = "own"\nfrom calls import SIZE', "", SAID),
    },
    "within a function": {
        "setup.py": SETS,
        "main.py": recipe(body='import setup\n    return sized(os.environ.get("SIZE", "none"))'),
    },
    "within another function": {"setup.py": SETS, "main.py": recipe() + "\n\ndef other():\n    import setup\n"},
    "by a module of a module": {"setup.py": SETS, "outer.py": "import setup\n", "main.py": recipe("import outer")},
    "a default behind an assignment": {
        "setup.py": SETS,
        "second.py": DEFAULTS,
        "main.py": recipe("import setup, second"),
    },
    "a default before an assignment": {
        "setup.py": SETS,
        "second.py": DEFAULTS,
        "main.py": recipe("import second, setup"),
    },
    "own text behind the import": {"setup.py": SETS, "main.py": recipe("import setup", 'os.environ["SIZE"] = "own"')},
    "an import that was made before": {
        "setup.py": SETS,
        "outer.py": 'import os\nimport setup\n\nos.environ["SIZE"] = "outer"\n',
        "main.py": recipe("import outer\nimport setup"),
    },
    "by a function of another module": {
        "setup.py": 'import os\n\n\ndef prepare():\n    os.environ["SIZE"] = "set"\n',
        "main.py": recipe("from setup import prepare", "prepare()"),
    },
    "taken away": {"setup.py": SETS, "main.py": recipe("import setup", 'del os.environ["SIZE"]')},
    "taken away by a module": {
        "setup.py": 'import os\n\nos.environ.pop("SIZE", None)\n',
        "main.py": recipe('os.environ["SIZE"] = "own"\nimport setup'),
    },
    "under another name": {
        "setup.py": 'from os import environ as variables\n\nvariables["SIZE"] = "set"\n',
        "main.py": recipe("import setup"),
    },
    "from a table": {
        "setup.py": 'import os\n\nfor name in ["SIZE"]:\n    os.environ.setdefault(name, "set")\n',
        "main.py": recipe("import setup"),
    },
    "by the package": {
        "pack/__init__.py": SETS,
        "pack/main.py": recipe(),
    },
    "by the package of a package, and it counts last": {
        "pack/__init__.py": SETS,
        "pack/inner/__init__.py": 'import os\n\nos.environ["SIZE"] += "+inner"\n',
        "pack/inner/main.py": recipe(),
    },
    "by the package of an imported module": {
        "pack/__init__.py": SETS,
        "pack/empty.py": "",
        "main.py": recipe("import pack.empty"),
    },
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIZE", raising=False)


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_recipe_finds_the_variables_that_python_finds(files: dict[str, str]) -> None:
    agrees(files)
