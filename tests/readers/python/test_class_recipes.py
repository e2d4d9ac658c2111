"""Recipes written as classes: a method that hands back a configuration is a recipe of every class that has it."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

CONFIG = """\
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)


"""


def recipes(tmp_path: Path, text: str) -> dict[str, Recipe]:
    path = tmp_path / "recipes.py"
    path.write_text(CONFIG + text)
    return {recipe.name: recipe for recipe in read_python([str(path)], Sources()).recipes}


def test_a_method_that_says_it_returns_a_container(tmp_path: Path) -> None:
    text = """\
class Llama:
    sharded = True

    def build(self) -> ConfigContainer:
        cfg = ConfigContainer()
        cfg.ddp.use_megatron_fsdp = self.sharded
        return cfg


class Whole(Llama):
    sharded = False
"""
    found = recipes(tmp_path, text)
    assert {name: recipe.setting("ddp.use_megatron_fsdp").value for name, recipe in found.items()} == {
        "Llama.build": Known(True),
        "Whole.build": Known(False),
    }


def test_a_method_without_annotation_that_sets_sections(tmp_path: Path) -> None:
    text = """\
class Llama:
    def __init__(self, sharded=True):
        self.sharded = sharded

    def config(self):
        cfg = ConfigContainer()
        cfg.ddp.use_megatron_fsdp = self.sharded
        return cfg

    def name(self):
        return "llama"
"""
    found = recipes(tmp_path, text)
    assert list(found) == ["Llama.config"]
    assert found["Llama.config"].setting("ddp.use_megatron_fsdp").value == Known(True)


WORKER = """\
class Worker:
    def __init__(self):
        self.cfg = ConfigContainer()
        self.cfg.ddp.use_megatron_fsdp = True

    def move(self, device):
        self.where(device, self.cfg)

    def score(self, batch):
        return self.move(batch)
"""


def test_a_configuration_of_the_constructor_is_followed_with_the_method_that_hands_it_back(tmp_path: Path) -> None:
    found = recipes(tmp_path, WORKER + "\n    def config(self):\n        return self.cfg\n")
    assert list(found) == ["Worker.config"]
    assert found["Worker.config"].setting("ddp.use_megatron_fsdp").value == Known(True)


def test_a_launch_in_the_constructor_is_followed_with_the_first_method_alone(tmp_path: Path) -> None:
    launch = "        from megatron.bridge.training.pretrain import pretrain\n        pretrain(self.cfg, None)\n"
    text = WORKER.replace("= True\n", f"= True\n{launch}", 1)
    found = recipes(tmp_path, text)
    assert list(found) == ["Worker.move"]


def test_a_method_that_a_recipe_function_calls_is_no_recipe_of_its_own(tmp_path: Path) -> None:
    text = """\
class Llama:
    def build(self) -> ConfigContainer:
        return ConfigContainer()


def llama_config():
    return Llama().build()
"""
    assert list(recipes(tmp_path, text)) == ["llama_config"]


def test_an_object_that_a_module_has_and_that_can_be_called(tmp_path: Path) -> None:
    text = """\
class Experiment:
    def __init__(self, **changes):
        self.changes = changes

    def __call__(self):
        cfg = ConfigContainer()
        for name, value in self.changes.items():
            setattr(cfg.ddp, name, value)
        return cfg


whole = Experiment()
sharded = Experiment(use_megatron_fsdp=True)
"""
    found = recipes(tmp_path, text)
    assert {name: recipe.setting("ddp.use_megatron_fsdp").value for name, recipe in found.items()} == {
        "whole": Known(False),
        "sharded": Known(True),
    }


def test_fields_say_by_their_metadata_which_setting_they_are_for(tmp_path: Path) -> None:
    text = """\
from dataclasses import fields


@dataclass
class Knobs:
    name: str = "llama"
    fsdp: bool = field(default=True, metadata={"path": "ddp.use_megatron_fsdp"})

    def apply(self, cfg):
        for each in fields(self):
            if "path" in each.metadata:
                section, name = each.metadata["path"].split(".")
                setattr(getattr(cfg, section), name, getattr(self, each.name))
        return cfg


def recipe():
    return Knobs().apply(ConfigContainer())
"""
    assert recipes(tmp_path, text)["recipe"].setting("ddp.use_megatron_fsdp").value == Known(True)
