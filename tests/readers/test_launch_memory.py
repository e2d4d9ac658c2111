"""Launches of changed texts: a script that the change does not reach is not followed again, and no answer differs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.core.recipe import Origin, Recipe, Span
from mfsdp_lint.engine.read import Read, question, read
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats import python
from mfsdp_lint.readers.python.entries import running

FILES: Mapping[str, str] = {
    "pyproject.toml": "",
    "recipes.py": """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def small():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    return cfg


def large():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    return cfg
""",
    "train.py": """\
import argparse
import recipes
from megatron.bridge.training.pretrain import pretrain

parser = argparse.ArgumentParser()
parser.add_argument("--recipe")
args = parser.parse_args()
pretrain(getattr(recipes, args.recipe)(), print)
""",
    "small.sh": "python train.py --recipe small\n",
    "large.sh": "NVTE_DEBUG=1 python train.py --recipe large\n",
    "flags.sh": "source env.sh\ntorchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format $FORMAT\n",
    "env.sh": "FORMAT=torch_dist\n",
    "launch.py": """\
import subprocess

subprocess.run(["python", "train.py", "--recipe", "small"])
""",
}
LAUNCHED = {"small.sh", "large.sh", "flags.sh", "launch.py"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path, text in FILES.items():
        (tmp_path / path).write_text(text, encoding="utf-8")


def settings(found: Read) -> dict[str, list[Any]]:
    return {
        recipe.qualified_name: [
            (variant.when, [(path, variant.value(path), _places(variant.origin(path))) for path in variant.settings])
            for variant in recipe.variants
        ]
        for recipe in found.recipes
    }


def _places(origin: Origin | None) -> list[Span]:
    return [] if origin is None else [origin.span, *_places(origin.earlier)]


def launches(found: Read) -> list[Recipe]:
    return [recipe for recipe in found.recipes if recipe.path in LAUNCHED]


def kept_with(**changes: tuple[str, str]) -> set[str]:
    """Return the scripts that keep their results when texts are replaced in files; all answers are those of a new run.

    `recipes__py` names the file recipes.py.
    """
    asked, _ = question(Options(paths=(".",), target_bridge="0.3.1"))
    sources = Sources()
    first = read(asked, sources)
    assert {recipe.path for recipe in launches(first)} == LAUNCHED
    texts = {}
    for name, (old, new) in changes.items():
        path = name.replace("__", ".")
        assert old in FILES[path]
        texts[path] = FILES[path].replace(old, new, 1)
    second = read(asked, sources.with_texts(texts), before=first)
    assert settings(second) == settings(read(asked, Sources(texts)))
    # The overrides of the command line are laid over recipes each time: what a reader gave is in their settings.
    earlier = {id(variant.settings) for recipe in launches(first) for variant in recipe.variants}
    return {
        recipe.path
        for recipe in launches(second)
        if all(id(variant.settings) in earlier for variant in recipe.variants)
    }


def test_where_nothing_changes_every_script_keeps_its_result() -> None:
    assert kept_with() == LAUNCHED


def test_a_setting_in_a_function_concerns_the_scripts_that_run_it() -> None:
    kept = kept_with(
        recipes__py=(
            "use_megatron_fsdp = True\n    return cfg\n\n\n",
            "use_megatron_fsdp = False\n    return cfg\n\n\n",
        )
    )
    assert kept == {"large.sh", "flags.sh"}


def test_an_import_concerns_every_script() -> None:
    assert kept_with(recipes__py=("from megatron", "import os\nfrom megatron")) == set()


def test_a_sourced_script_concerns_those_that_source_it() -> None:
    assert kept_with(env__sh=("torch_dist", "fsdp_dtensor")) == LAUNCHED - {"flags.sh"}


def test_the_text_of_a_script_concerns_that_script() -> None:
    assert kept_with(small__sh=("small", "large")) == LAUNCHED - {"small.sh"}


def test_a_program_that_is_started_alike_on_several_ways_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[str] = []
    watched = python._watched

    def noted(path: str, *arguments: Any) -> Any:
        followed.append(path)
        return watched(path, *arguments)

    monkeypatch.setattr(python, "_watched", noted)
    start = "import subprocess\nimport sys\n\nsubprocess.run(['torchrun', 'pretrain_gpt.py', *sys.argv[1:]])\n"
    Path("start.py").write_text(start)
    Path("ways.sh").write_text(
        'if [ -n "$DEBUG" ]; then LOG=1; fi\npython start.py --use-megatron-fsdp\ntorchrun pretrain_gpt.py --log $LOG\n'
    )
    asked, _ = question(Options(paths=("ways.sh",), target_bridge="0.3.1"))
    assert read(asked, Sources()).recipes
    assert followed == ["start.py"]


def test_the_words_of_a_python_launch_concern_every_script() -> None:
    # It may be imported by any program.
    assert kept_with(launch__py=('"small"', '"large"')) == set()


VERSIONED = """\
{imports}
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.pretrain import pretrain

if {version}.startswith("0.17"):
    pretrain(llama3_8b_pretrain_config(), print)
"""
ASKING = {
    "the name": ("from megatron.core import __version__", "__version__"),
    "the module": ("import megatron.core", "megatron.core.__version__"),
    "the package": ("from importlib.metadata import version", 'version("megatron-core")'),
}


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the entry points that are evaluated."""
    names: list[str] = []
    evaluate = running.evaluate

    def noted(interp: Any, entry: Any, spans: Any, **keywords: Any) -> Any:
        names.append(entry.name)
        return evaluate(interp, entry, spans, **keywords)

    monkeypatch.setattr(running, "evaluate", noted)
    return names


def runs_by_core(*cores: str) -> list[int]:
    """Return the number of runs that versioned.sh starts, judged against each megatron-core in turn."""
    sources = Sources()
    found = []
    for core in cores:
        asked, _ = question(Options(paths=("versioned.sh",), target_bridge="0.3.1", target_core=core))
        found.append(len(read(asked, sources).recipes))
    return found


def test_a_start_that_comes_to_nothing_is_evaluated_once_for_all_releases(evaluated: list[str]) -> None:
    Path("versioned.py").write_text("import sys\n\nimport megatron.core\n\nprint(sys.argv, megatron.core)\n")
    Path("versioned.sh").write_text("torchrun versioned.py --use-megatron-fsdp --ckpt-format torch_dist\n")
    assert runs_by_core("0.15.3", "0.16.1", "0.17.1") == [1, 1, 1]  # its flags are those of a run
    assert evaluated == ["versioned"]


@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_one_that_asks_for_the_release_is_evaluated_for_each(asking: tuple[str, str], evaluated: list[str]) -> None:
    imports, version = asking
    Path("versioned.py").write_text(VERSIONED.format(imports=imports, version=version))
    Path("versioned.sh").write_text("torchrun versioned.py\n")
    assert runs_by_core("0.15.3", "0.16.1", "0.17.1") == [0, 0, 1]
    assert evaluated.count("versioned") >= 3
