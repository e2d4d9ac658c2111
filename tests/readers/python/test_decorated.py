"""A decorated function is a recipe by what its decorators make of it, under its own name and at its own line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

HEAD = """\
import functools
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False
    strategy: str = "no_shard"


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)


def build(strategy="no_shard"):
    return ConfigContainer(ddp=DDP(strategy=strategy))

"""

WRAPPERS = {
    "without wraps": """
def sharded(build):
    def inner(*args, **kwargs):
        cfg = build(*args, **kwargs)
        cfg.ddp.use_megatron_fsdp = True
        return cfg
    return inner
""",
    "with wraps": """
def sharded(build):
    @functools.wraps(build)
    def inner(*args, **kwargs):
        cfg = build(*args, **kwargs)
        cfg.ddp.use_megatron_fsdp = True
        return cfg
    return inner
""",
    "update_wrapper": """
def sharded(build):
    def inner():
        cfg = build()
        cfg.ddp.use_megatron_fsdp = True
        return cfg
    return functools.update_wrapper(inner, build)
""",
    "a class": """
class sharded:
    def __init__(self, build):
        self.build = build
    def __call__(self):
        cfg = self.build()
        cfg.ddp.use_megatron_fsdp = True
        return cfg
""",
    "a method of a registry": """
class Registry:
    def __init__(self):
        self.known = {}
    def sharded(self, build):
        def inner(**kwargs):
            cfg = build(**kwargs)
            cfg.ddp.use_megatron_fsdp = True
            return cfg
        self.known[build.__name__] = inner
        return inner
sharded = Registry().sharded
""",
    "a partial": """
def wrap(build, value):
    def inner():
        cfg = build()
        cfg.ddp.use_megatron_fsdp = value
        return cfg
    return inner
sharded = functools.partial(wrap, value=True)
""",
}


def read(folder: Path, text: str) -> dict[str, Recipe]:
    path = folder / "recipes.py"
    path.write_text(HEAD + text)
    return {recipe.name: recipe for recipe in read_python([str(path)], Sources()).recipes}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_the_decorator_changes_is_changed(tmp_path: Path, wrapper: str) -> None:
    text = WRAPPERS[wrapper] + "\n@sharded\ndef recipe():\n    return build()\n"
    found = read(tmp_path, text)["recipe"]
    assert found.variants[0].value("ddp.use_megatron_fsdp") == Known(True)
    assert found.line == (HEAD + text).splitlines().index("def recipe():") + 1


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_decorator_is_a_part_of_what_it_decorates(tmp_path: Path, wrapper: str) -> None:
    text = WRAPPERS[wrapper] + "\n@sharded\ndef recipe():\n    return build()\n"
    assert set(read(tmp_path, text)) - {"build"} == {"recipe"}


def test_required_arguments_go_through_the_wrapper(tmp_path: Path) -> None:
    text = WRAPPERS["with wraps"] + "\n@sharded\ndef recipe(name):\n    return build()\n"
    assert read(tmp_path, text)["recipe"].variants[0].value("ddp.use_megatron_fsdp") == Known(True)


def test_a_wrapper_that_gives_an_argument_itself(tmp_path: Path) -> None:
    text = """
def with_base(change):
    def inner(**kwargs):
        return change(build("optim_grads"), **kwargs)
    return inner

@with_base
def recipe(cfg, fsdp=True):
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
"""
    found = read(tmp_path, text)["recipe"].variants[0]
    assert found.value("ddp.use_megatron_fsdp") == Known(True)
    assert found.value("ddp.strategy") == Known("optim_grads")


def test_a_function_that_a_function_makes(tmp_path: Path) -> None:
    text = """
def make(fsdp):
    def recipe():
        cfg = build()
        cfg.ddp.use_megatron_fsdp = fsdp
        return cfg
    return recipe

sharded = make(True)
plain = make(False)
"""
    found = read(tmp_path, text)
    assert found["sharded"].variants[0].value("ddp.use_megatron_fsdp") == Known(True)
    assert found["plain"].variants[0].value("ddp.use_megatron_fsdp") == Known(False)


def test_a_function_under_a_condition(tmp_path: Path) -> None:
    text = "import os\nif os.environ.get('FAST'):\n    def recipe():\n        return build()\n"
    assert "recipe" in read(tmp_path, text)


def test_a_decorated_method(tmp_path: Path) -> None:
    text = (
        WRAPPERS["with wraps"]
        + """
class Recipes:
    @sharded
    def small(self) -> ConfigContainer:
        return build()
"""
    )
    found = read(tmp_path, text)["Recipes.small"]
    assert found.variants[0].value("ddp.use_megatron_fsdp") == Known(True)


def test_a_decorator_of_upstream_from_another_module_keeps_its_local_names(tmp_path: Path) -> None:
    """Modules of upstream do not change each other; what a decorator makes is no change of its own module."""
    bridge = tmp_path / "megatron" / "bridge"
    bridge.mkdir(parents=True)
    (bridge / "decorators.py").write_text(
        "def counted(function):\n"
        "    strategy = function.__name__ + 's'\n"
        "    def inner(cfg):\n"
        "        cfg.ddp.strategy = strategy\n"
        "        return function(cfg)\n"
        "    return inner\n"
    )
    (bridge / "plain.py").write_text(
        "from megatron.bridge.decorators import counted\n\n\n@counted\ndef optim_grad(cfg):\n    return cfg\n"
    )
    head = "from megatron.bridge.plain import optim_grad\n"
    path = tmp_path / "recipes.py"
    path.write_text(head + HEAD + "\n\ndef recipe():\n    return optim_grad(build())\n")
    found = read_python([str(path)], Sources(), load_knowledge(resolve_target("0.3.1")))
    recipes = {each.name: each for each in found.recipes}
    assert recipes["recipe"].variants[0].value("ddp.strategy") == Known("optim_grads")


def test_a_class_that_a_decorator_out_of_sight_was_given_may_have_more_than_it_shows(tmp_path: Path) -> None:
    text = """
import ray

@ray.remote
class Worker:
    pass

def recipe() -> ConfigContainer:
    worker = Worker.options(num_gpus=1).remote()
    return build(worker.strategy)
"""
    (variant,) = read(tmp_path, text)["recipe"].variants
    assert variant.value("ddp.strategy") == UNKNOWN
    assert "recipe" not in read(tmp_path, text.replace("@ray.remote", "@dataclass"))


BINDERS = {
    "on a function": """
@gin.configurable
def strategy(name="optim", *, fsdp=True):
    return name
def recipe():
    return build(strategy())
""",
    "on a class": """
@gin.configurable
class Sharding:
    def __init__(self, name="optim"):
        self.name = name
def recipe():
    return build(Sharding().name)
""",
    "on a dataclass": """
@gin.configurable
@dataclass
class Sharding:
    name: str = "optim"
def recipe():
    return build(Sharding().name)
""",
    "of a parameter without a default": """
@gin.configurable
def strategy(name):
    return name
def recipe():
    return build(strategy())
""",
    "by an object out of sight": """
experiment = gin.Experiment()
@experiment.capture
def strategy(name="optim"):
    return name
def recipe():
    return build(strategy())
""",
}


@pytest.mark.parametrize("binder", BINDERS)
def test_a_decorator_out_of_sight_may_give_the_arguments_that_a_call_leaves_out(tmp_path: Path, binder: str) -> None:
    found = read(tmp_path, "import gin\n" + BINDERS[binder])["recipe"].variants[0]
    assert not isinstance(found.value("ddp.strategy"), Known)
    obstacle = found.settings.obstacle("ddp.strategy")
    assert obstacle is not None
    assert obstacle.text in ("gin.configurable", "experiment.capture")


def test_an_argument_of_the_call_stands_before_those_of_a_decorator(tmp_path: Path) -> None:
    text = BINDERS["on a function"].replace("strategy())", "strategy('no_shard'))")
    assert read(tmp_path, "import gin\n" + text)["recipe"].variants[0].value("ddp.strategy") == Known("no_shard")


@pytest.mark.parametrize(
    ("decorated", "decorator"),
    [
        ("on a function", "@torch.no_grad()"),
        ("on a function", "@functools.cache"),
        ("on a class", "@typing.final"),
        ("on a dataclass", "@attr.s(auto_attribs=True)"),
    ],
)
def test_a_decorator_that_is_known_gives_no_arguments(decorated: str, decorator: str, tmp_path: Path) -> None:
    text = "import attr, torch, typing\n" + BINDERS[decorated].replace("@gin.configurable", decorator)
    assert read(tmp_path, text)["recipe"].variants[0].value("ddp.strategy") == Known("optim")


def test_functions_that_another_file_makes_under_names_in_a_loop(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(
        HEAD + "def make(strategy):\n    def recipe():\n        return build(strategy)\n    return recipe\n"
    )
    text = "\nimport made\n\nfor name in ('optim', 'no_shard'):\n    globals()[name] = made.make(name)\n"
    found = read(tmp_path, text)
    assert {name: found[name].variants[0].value("ddp.strategy") for name in ("optim", "no_shard")} == {
        "optim": Known("optim"),
        "no_shard": Known("no_shard"),
    }
    assert {found[name].line for name in ("optim", "no_shard")} == {(HEAD + text).splitlines().index("import made") + 4}
