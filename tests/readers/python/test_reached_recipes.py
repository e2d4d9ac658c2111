"""A recipe that is built on another recipe of its project is one, though no word of its text says so."""

# Statements are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import PythonRead, read_python
from mfsdp_lint.readers.relevance import Relevance, speaks_of_training
from mfsdp_lint.snapshots.knowledge import load_knowledge

LLAMA = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.pretrain import pretrain


def llama3_8b(steps=100):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.train.train_iters = steps
    return cfg


def go(cfg, step=None):
    pretrain(config=cfg, forward_step_func=step)


class Llama:
    iters = 10

    def build(self):
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = True
        cfg.train.train_iters = self.iters
        return cfg

    @classmethod
    def make(cls):
        return cls().build()


TABLE = {"8b": llama3_8b}
"""

BUILT = {
    "by a relative import": "from .llama import llama3_8b\ndef long():\n    return llama3_8b()\n",
    "under another name": "from .llama import llama3_8b as base\ndef long():\n    return base()\n",
    "by an absolute import": "from presets.llama import llama3_8b\ndef long():\n    return llama3_8b()\n",
    "by a dotted import": "import presets.llama\ndef long():\n    return presets.llama.llama3_8b()\n",
    "by a module's other name": "import presets.llama as base\ndef long():\n    return base.llama3_8b()\n",
    "by a star import": "from .llama import *\ndef long():\n    return llama3_8b()\n",
    "by an import in the function": "def long():\n    from .llama import llama3_8b\n    return llama3_8b()\n",
    "by an import in a class": "class Box:\n    from .llama import llama3_8b as make\ndef long(n):\n    return Box.make(n)\n",
    "by an import that may fail": (
        "try:\n    from .llama import llama3_8b\nexcept ImportError:\n    llama3_8b = None\n"
        "def long():\n    return llama3_8b()\n"
    ),
    "by import_module": (
        "import importlib\nbase = importlib.import_module('presets.llama')\ndef long():\n    return base.llama3_8b()\n"
    ),
    "by import_module with a relative name": (
        "import importlib\nbase = importlib.import_module('.llama', __package__)\n"
        "def long():\n    return base.llama3_8b()\n"
    ),
    "by the place of the file": (
        "import importlib.util\nfrom pathlib import Path\n"
        "spec = importlib.util.spec_from_file_location('base', Path(__file__).parent / 'llama.py')\n"
        "base = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(base)\n"
        "def long():\n    return base.llama3_8b()\n"
    ),
    "through its package": "from . import llama3_8b\ndef long():\n    return llama3_8b()\n",
    "through two other files": "from .far import shape\ndef long():\n    return shape(3)\n",
    "from a folder beside": "from shared.base import llama3_8b\ndef long():\n    return llama3_8b()\n",
    "from a folder on sys.path": (
        "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\nimport inner\n"
        "def long():\n    return inner.llama3_8b()\n"
    ),
    "with an argument": "from .llama import llama3_8b\ndef long(steps):\n    return llama3_8b(steps)\n",
    "with an argument, of a module": "from . import llama\ndef long(steps):\n    return llama.llama3_8b(steps)\n",
    "with an argument, of a class": "from .llama import Llama\ndef long(steps):\n    return Llama.make()\n",
    "with an argument, of a table": "from .llama import TABLE\ndef long(n):\n    return TABLE['8b'](n)\n",
    "handed on as a function": (
        "from .llama import llama3_8b\ndef call(make, n):\n    return make(n)\ndef long(n):\n    return call(llama3_8b, n)\n"
    ),
    "by an object": "from .llama import Llama\ndef long():\n    return Llama().build()\n",
    "by a lambda": "from .llama import llama3_8b\nlong = lambda: llama3_8b()\n",
    "by a lambda with an argument": "from .llama import llama3_8b\nlong = lambda n: llama3_8b(n)\n",
    "by a partial": "from functools import partial\nfrom .llama import llama3_8b\nlong = partial(llama3_8b, steps=5)\n",
    "by a function in a function": (
        "from .llama import llama3_8b\ndef make(n):\n    def inner():\n        return llama3_8b(n)\n    return inner\nlong = make(3)\n"
    ),
    "at the top level": "from .llama import llama3_8b\nlong = llama3_8b()\n",
    "launched by a wrapper": "from .llama import llama3_8b, go\ndef long(step):\n    go(llama3_8b(), step)\n",
    "launched by a script": "from .llama import llama3_8b, go\nif __name__ == '__main__':\n    go(llama3_8b())\n",
}

IN_CLASSES_AND_TABLES = {
    "Long.build": "from .llama import llama3_8b\nclass Long:\n    def build(self):\n        return llama3_8b()\n",
    "Long.make": (
        "from .llama import llama3_8b\nclass Long:\n    @classmethod\n    def make(cls):\n        return llama3_8b()\n"
    ),
    "TABLE.long": "from .llama import llama3_8b\nTABLE = {'long': lambda: llama3_8b(7)}\n",
    "TABLE.other": "from functools import partial\nfrom .llama import llama3_8b\nTABLE = {'other': partial(llama3_8b, 7)}\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {
        "pyproject.toml": "",
        "presets/__init__.py": "from .llama import llama3_8b\n",
        "presets/llama.py": LLAMA,
        "presets/far.py": "from .further import start\ndef shape(n):\n    cfg = start()\n    cfg.train.train_iters = n\n    return cfg\n",
        "presets/further.py": "from . import llama\ndef start():\n    return llama.llama3_8b()\n",
        "presets/lib/inner.py": LLAMA,
        "shared/__init__.py": "",
        "shared/base.py": LLAMA,
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(*paths: str) -> PythonRead:
    return read_python(paths, Sources(), load_knowledge(resolve_target("0.3.1")))


def recipes_of_long(*paths: str) -> list[tuple[str, object]]:
    switches = [
        (recipe.name, variant.settings.get("ddp.use_megatron_fsdp"))
        for recipe in read(*paths).recipes
        if recipe.path == "presets/long.py"
        for variant in recipe.variants
    ]
    return [(name, setting and setting.value) for name, setting in switches]


@pytest.mark.parametrize("text", BUILT.values(), ids=BUILT)
def test_a_recipe_is_built_on_another_one(project: Path, text: str) -> None:
    assert not speaks_of_training(text)
    (project / "presets/long.py").write_text(text)
    assert recipes_of_long("presets/long.py") == [("long", Known(True))]
    assert recipes_of_long("presets/llama.py", "presets/long.py") == [("long", Known(True))]


@pytest.mark.parametrize(("name", "text"), IN_CLASSES_AND_TABLES.items())
def test_a_recipe_is_a_method_or_an_item_of_a_table(project: Path, name: str, text: str) -> None:
    (project / "presets/long.py").write_text(text)
    assert recipes_of_long("presets/long.py") == [(name, Known(True))]


def test_a_class_has_the_recipes_that_it_inherits_from_a_file_nobody_named(project: Path) -> None:
    (project / "presets/long.py").write_text("from .llama import Llama\nclass Long(Llama):\n    iters = 1000\n")
    assert ("Long.build", Known(True)) in recipes_of_long("presets/long.py")


def test_a_relative_import_leads_above_the_folder_where_the_tool_is_started(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "presets/deep").mkdir()
    (project / "presets/deep/long.py").write_text(
        "from ..llama import llama3_8b\ndef long():\n    return llama3_8b()\n"
    )
    monkeypatch.chdir(project / "presets/deep")
    assert [recipe.name for recipe in read("long.py").recipes] == ["long"]


def test_what_cannot_be_followed_is_told(project: Path) -> None:
    text = "import more\nfrom .llama import TABLE\ndef long(name):\n    TABLE.update(more.recipes())\n    return TABLE[name]()\n"
    (project / "presets/long.py").write_text(text)
    assert [(each.name, each.path) for each in read("presets/long.py").unfollowed] == [("long", "presets/long.py")]


def test_a_file_that_cannot_be_parsed_matters_where_it_leads_to_a_recipe(project: Path) -> None:
    Path("broken.py").write_text("from presets.llama import llama3_8b\ndef long(:\n")
    Path("template.py").write_text("import json\ndef {{ name }}(:\n")
    assert [(each.path, each.foreign) for each in read("broken.py", "template.py").unreadable] == [("broken.py", False)]


def test_settings_that_any_program_changes_make_no_recipe(project: Path) -> None:
    Path("shapes.py").write_text("def deeper(cfg):\n    cfg.model.depth = 4\n    return cfg\n")
    assert read("shapes.py").recipes == []


COMMANDS = {
    "check": ("--output-format", "json"),
    "the hook": ("--force-exclude", "--output-format", "json"),
    "audit": ("audit", "--output-format", "json"),
    "what is not followed": ("--show-unfollowed", "--output-format", "json"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_every_command_reads_it_where_it_alone_is_named(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    text = "from .llama import llama3_8b\ndef long():\n    cfg = llama3_8b()\n    cfg.train.train_iters = 10\n    return cfg\n"
    (project / "presets/long.py").write_text(text)
    main([*arguments, "--target-bridge", "0.3.1", "presets/long.py"])
    told = json.loads(capsys.readouterr().out)
    assert "presets/long.py" in json.dumps(told)


@pytest.mark.parametrize("name", ["start.sh", "outer.sh", "Dockerfile", "job.yaml"])
def test_a_script_starts_a_program_that_leads_to_a_recipe(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    texts = {
        "run.py": "import sys\nfrom presets.llama import go, llama3_8b\n\ngo(llama3_8b(int(sys.argv[1])))\n",
        "start.sh": "#!/bin/bash\npython run.py 10\n",
        "outer.sh": "#!/bin/bash\nexport STEPS=5\nbash start.sh\n",
        "Dockerfile": 'FROM x\nCOPY . .\nCMD ["python", "run.py", "7"]\n',
        "job.yaml": "services:\n  one:\n    image: x\n    command: python run.py 8\n",
    }
    for path, text in texts.items():
        Path(path).write_text(text)
    main(["--output-format", "json", "--target-bridge", "0.3.1", name])
    assert json.loads(capsys.readouterr().out)["summary"]["recipes"] == 1


def test_what_reaches_what_is_recorded(project: Path) -> None:
    (project / "presets/long.py").write_text(BUILT["through two other files"])
    relevance = Relevance(Sources())
    assert relevance.reaches("presets/long.py")
    steps, here = relevance.next_step[speaks_of_training], "presets/long.py"
    way = [here]
    while (step := steps[way[-1]]) is not None:
        way.append(step)
    assert way[:2] == ["presets/long.py", "presets/far.py"]
    assert way[-1] in ("presets/llama.py", "presets/__init__.py")
