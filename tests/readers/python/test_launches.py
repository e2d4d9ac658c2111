"""Launches: only a launcher ends a recipe, every launch is one, and the state before it is what counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

FSDP = "ddp.use_megatron_fsdp"
ON, OFF = Known(True), Known(False)

CONFIG = """\
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)


def sharded():
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = True
    return cfg
"""

HEAD = """\
from config import ConfigContainer, sharded
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.pretrain import pretrain
"""

LAUNCHER = """\
def pretrain(config, forward_step_func):
    while config.unknown():
        config.ddp.use_megatron_fsdp = not config.ddp.use_megatron_fsdp


def finetune(config, forward_step_func):
    pretrain(config, forward_step_func)
"""


def recipes(tmp_path: Path, text: str) -> list[Recipe]:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "config.py").write_text(CONFIG)
    path = tmp_path / "train.py"
    path.write_text(HEAD + text)
    return read_python([str(path)], Sources()).recipes


def values(found: list[Recipe]) -> dict[str, Value]:
    return {recipe.name: recipe.setting(FSDP).value for recipe in found}


# -- what is no launch --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["cfg = finalize(cfg)", "finalize(cfg)", "cfg = tools.finalize(config=cfg)"])
def test_after_a_call_out_of_sight_nothing_is_known_that_it_could_reach(tmp_path: Path, call: str) -> None:
    text = f"""
import tools
from tools import finalize

def main():
    cfg = sharded()
    {call}
    pretrain(cfg, None)
"""
    assert values(recipes(tmp_path, text)) == {"main": UNKNOWN}


def test_what_is_set_after_a_call_out_of_sight_is_known(tmp_path: Path) -> None:
    text = """
from tools import finalize

def main():
    cfg = finalize(ConfigContainer())
    cfg.ddp.use_megatron_fsdp = True
    pretrain(cfg, None)
"""
    found = recipes(tmp_path, text)
    assert values(found) == {"main": ON}
    assert not found[0].partial


def test_a_configuration_that_only_code_out_of_sight_gets_is_a_recipe_as_it_is_then(tmp_path: Path) -> None:
    text = "from tools import Trainer\n\ndef main():\n    Trainer(sharded()).fit()\n"
    assert values(recipes(tmp_path, text)) == {"main": ON}


def test_what_comes_from_code_out_of_sight_is_not_what_went_there(tmp_path: Path) -> None:
    text = "from tools import Trainer\n\ndef main():\n    pretrain(Trainer(sharded()).cfg, None)\n"
    assert values(recipes(tmp_path, text)) == {"main": UNKNOWN}


def test_a_function_of_a_launchers_name_is_none(tmp_path: Path) -> None:
    text = """
def distill(cfg):
    cfg.ddp.use_megatron_fsdp = False

def main():
    cfg = sharded()
    distill(cfg)
    return cfg
"""
    assert values(recipes(tmp_path, text)) == {"main": OFF}


# -- every launch is a recipe -------------------------------------------------------------------------------------


def test_two_launches_are_two_recipes_each_where_it_stands(tmp_path: Path) -> None:
    found = recipes(tmp_path, "\ndef main():\n    pretrain(sharded(), None)\n    finetune(ConfigContainer(), None)\n")
    assert values(found) == {"main[1]": ON, "main[2]": OFF}
    assert [recipe.line for recipe in found] == [6, 7]
    assert [recipe.qualified_name for recipe in found] == ["train.main[1]", "train.main[2]"]


def test_two_launches_of_which_one_sets_a_list(tmp_path: Path) -> None:
    found = recipes(
        tmp_path,
        """
def main():
    first, second = sharded(), ConfigContainer()
    first.model = Model()
    first.model.recompute_modules = ["core_attn"]
    pretrain(first, None)
    finetune(second, None)


class Model:
    pass
""",
    )
    assert values(found) == {"main[1]": ON, "main[2]": OFF}


def test_launches_through_a_helper_stand_where_the_helper_is_called(tmp_path: Path) -> None:
    text = """
def launch(cfg):
    pretrain(cfg, None)

def main():
    launch(sharded())
    launch(ConfigContainer())
"""
    found = recipes(tmp_path, text)
    assert [(recipe.line, recipe.setting(FSDP).value) for recipe in found] == [(9, ON), (10, OFF)]


def test_every_turn_of_a_loop_is_one(tmp_path: Path) -> None:
    text = """
def main():
    for fsdp in (True, False):
        cfg = ConfigContainer()
        cfg.ddp.use_megatron_fsdp = fsdp
        pretrain(cfg, None)
"""
    assert values(recipes(tmp_path, text)) == {"main[1]": ON, "main[2]": OFF}


def test_the_same_configuration_launched_again_unchanged_is_one_recipe(tmp_path: Path) -> None:
    text = """
def main(peft):
    cfg = sharded()
    if peft:
        finetune(cfg, None)
    else:
        pretrain(cfg, None)
"""
    assert values(recipes(tmp_path, text)) == {"main": ON}


def test_launches_on_different_paths(tmp_path: Path) -> None:
    text = """
def main(peft):
    cfg = ConfigContainer()
    if peft:
        cfg.ddp.use_megatron_fsdp = True
        finetune(cfg, None)
    else:
        pretrain(cfg, None)
"""
    found = recipes(tmp_path, text)
    assert values(found) == {"main[1]": ON, "main[2]": OFF}
    assert [recipe.variants[0].when for recipe in found] == [("peft",), ("not (peft)",)]


def test_paths_that_part_behind_a_launch_have_it_in_common(tmp_path: Path) -> None:
    text = """
def main(again):
    pretrain(sharded(), None)
    if again:
        cfg = ConfigContainer()
        finetune(cfg, None)
"""
    found = recipes(tmp_path, text)
    assert values(found) == {"main[1]": ON, "main[2]": OFF}
    assert found[0].variants[0].when == ()


@pytest.mark.parametrize(
    "behind",
    [
        "cfg.ddp.use_megatron_fsdp = False",
        "raise RuntimeError",
        "cfg = None",
        "return cfg",
        "other(cfg)",
        "while other():\n        cfg.ddp.use_megatron_fsdp = other()",
    ],
)
def test_what_happens_after_the_launch_does_not_matter(tmp_path: Path, behind: str) -> None:
    text = f"from tools import other\n\ndef main():\n    cfg = sharded()\n    pretrain(cfg, None)\n    {behind}\n"
    assert values(recipes(tmp_path, text)) == {"main": ON}


# -- what is given to be started ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "started",
    [
        "Thread(target=pretrain, args=(cfg, None)).start()",
        "pool.submit(pretrain, cfg, None)",
        "cluster.run(cluster.Partial(pretrain, config=cfg, forward_step_func=None))",
        "cluster.run(partial(pretrain, cfg, None))",
        "cluster.run(lambda: pretrain(cfg, None))",
        "cluster.spawn(worker, args=(cfg,), nprocs=8)",
        "cluster.spawn(worker, nprocs=8, kwargs={'cfg': cfg}, args=())",
    ],
)
def test_whoever_is_given_a_launcher_to_start(tmp_path: Path, started: str) -> None:
    text = f"""
from functools import partial
from threading import Thread
import cluster

pool = cluster.Pool()

def worker(rank, cfg):
    pretrain(cfg, None)

def main():
    cfg = sharded()
    {started}
"""
    assert values(recipes(tmp_path, text)) == {"main": ON}


def test_asynchronous_code_launches_when_it_is_awaited(tmp_path: Path) -> None:
    text = """
async def main():
    for build in (sharded, ConfigContainer):
        pretrain(build(), None)
"""
    assert values(recipes(tmp_path, text)) == {"main[1]": ON, "main[2]": OFF}


def test_an_asynchronous_function_that_is_given_away_to_be_started(tmp_path: Path) -> None:
    text = """
import cluster

async def _worker(cfg):
    pretrain(cfg, None)

def main():
    cluster.run(_worker, sharded())
"""
    assert values(recipes(tmp_path, text)) == {"main": ON}


# -- scripts ------------------------------------------------------------------------------------------------------


def test_a_script_and_the_function_that_it_calls_are_one_recipe(tmp_path: Path) -> None:
    found = recipes(
        tmp_path, "\ndef main():\n    pretrain(sharded(), None)\n\nif __name__ == '__main__':\n    main()\n"
    )
    assert [(recipe.name, recipe.kind, recipe.line) for recipe in found] == [("main", "script", 5)]


def test_a_script_that_launches_something_else_than_the_default(tmp_path: Path) -> None:
    text = """
def main(fsdp=False):
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = fsdp
    pretrain(cfg, None)

if __name__ == "__main__":
    main(True)
"""
    assert values(recipes(tmp_path, text)) == {"main": OFF, "train": ON}


@pytest.mark.parametrize("behind", ["", "cfg.ddp.use_megatron_fsdp = False\n", "cfg = None\n", "exit()\n"])
def test_a_flat_script_is_one_recipe_as_it_is_before_the_launch(tmp_path: Path, behind: str) -> None:
    found = recipes(tmp_path, f"cfg = sharded()\npretrain(cfg, None)\n{behind}")
    assert [(recipe.kind, recipe.setting(FSDP).value) for recipe in found] == [("script", ON)]


def test_a_file_of_configurations_is_no_script(tmp_path: Path) -> None:
    found = recipes(tmp_path, "import logging\n\nlogging.basicConfig()\ncfg = sharded()\nother = ConfigContainer()\n")
    assert [(recipe.name, recipe.kind) for recipe in found] == [("cfg", "module"), ("other", "module")]


def test_a_guard_that_changes_a_global_before_the_launch(tmp_path: Path) -> None:
    text = """
cfg = ConfigContainer()
if __name__ == "__main__":
    cfg.ddp.use_megatron_fsdp = True
    pretrain(cfg, None)
"""
    assert values(recipes(tmp_path, text)) == {"train": ON}


def test_a_script_finds_its_own_file(tmp_path: Path) -> None:
    text = """
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    pretrain(sharded(), HERE)
"""
    assert values(recipes(tmp_path, text)) == {"train": ON}


# -- functions inside functions, upstream's source ----------------------------------------------------------------


def test_a_function_that_is_handed_back_is_what_builds(tmp_path: Path) -> None:
    text = """
def make(fsdp=True):
    def recipe():
        cfg = ConfigContainer()
        cfg.ddp.use_megatron_fsdp = fsdp
        return cfg

    return recipe
"""
    assert values(recipes(tmp_path, text)) == {"make": ON}


def test_launchers_are_known_where_their_source_is_at_hand(tmp_path: Path) -> None:
    folder = tmp_path / "megatron" / "bridge" / "training"
    folder.mkdir(parents=True)
    for package in (folder, *list(folder.parents)[:2]):
        (package / "__init__.py").write_text("")
    (folder / "pretrain.py").write_text(LAUNCHER)
    (folder / "finetune.py").write_text(LAUNCHER)
    found = recipes(tmp_path, "\ndef main():\n    pretrain(sharded(), None)\n    finetune(ConfigContainer(), None)\n")
    assert values(found) == {"main[1]": ON, "main[2]": OFF}


def test_a_call_into_another_file_that_takes_too_long_costs_only_what_it_could_reach(tmp_path: Path) -> None:
    body = "cfg.ddp.use_megatron_fsdp = not cfg.ddp.use_megatron_fsdp"
    (tmp_path / "library.py").write_text(f"def endless(cfg):\n    for _ in range(9_000):\n        {body}\n")
    text = """
from library import endless

def main():
    cfg, other = sharded(), sharded()
    endless(cfg)
    pretrain(cfg, None)
    pretrain(other, None)
"""
    assert values(recipes(tmp_path, text)) == {"main[1]": UNKNOWN, "main[2]": ON}
