"""Several configurations of one function: each that it hands back, keeps or gives away is a recipe, with its values."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from mfsdp_lint.core.values import Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import PythonRead, read_python

CONFIG = """\
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False
    data_parallel_sharding_strategy: str = "no_shard"


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)


def _arm(strategy="no_shard"):
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = strategy
    return cfg
"""

HEAD = """\
import copy
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from config import ConfigContainer, _arm
from megatron.bridge.training.pretrain import pretrain

TWO = ("optim_grads", "optim_grads_params")


class Named(NamedTuple):
    name: str
    config: Any


@dataclass
class Arm:
    name: str
    config: Any
"""

STRATEGY = "ddp.data_parallel_sharding_strategy"
BOTH = [Known("optim_grads"), Known("optim_grads_params")]


def read(tmp_path: Path, text: str) -> PythonRead:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "config.py").write_text(CONFIG)
    path = tmp_path / "sweep.py"
    path.write_text(HEAD + dedent(text))
    return read_python([str(path)], Sources())


def strategies(tmp_path: Path, text: str) -> dict[str, Value]:
    return {each.name: each.setting(STRATEGY).value for each in read(tmp_path, text).recipes}


@pytest.mark.parametrize(
    "body",
    [
        "return [_arm(s) for s in TWO]",
        "return {s: _arm(s) for s in TWO}",
        "return tuple(zip(TWO, map(_arm, TWO)))",
        "return [Arm(s, _arm(s)) for s in TWO]",
        "return [Named(s, config=_arm(s)) for s in TWO]",
        "return {s: {'config': _arm(s), 'nodes': 8} for s in TWO}",
        "return [partial(pretrain, _arm(s), step) for s in TWO]",
        "return {s: partial(_arm, s) for s in TWO}",
        "return {s: lambda s=s: _arm(s) for s in TWO}",
        "for s in TWO:\n    yield s, _arm(s)",
        "out = []\nfor s in TWO:\n    out.append(_arm(s))\nreturn out",
        "out = OrderedDict()\nfor s in TWO:\n    out[s] = _arm(s)\nreturn out",
        "out = defaultdict(list)\nfor s in TWO:\n    out['all'].append(_arm(s))\nreturn out",
        "out = {}\nfor s in TWO:\n    out[user() + s] = _arm(s)\nreturn out",
        "base, out = _arm(), {}\n"
        "for s in TWO:\n"
        "    cfg = copy.deepcopy(base)\n"
        "    cfg.ddp.data_parallel_sharding_strategy = s\n"
        "    out.setdefault(s, cfg)\n"
        "return out",
    ],
)
def test_each_configuration_in_what_a_function_hands_back_is_a_recipe(tmp_path: Path, body: str) -> None:
    text = "from elsewhere import step, user\n\n\ndef arms():\n" + indent(body, "    ")
    found = strategies(tmp_path, text)
    assert list(found) == ["arms[1]", "arms[2]"]
    assert list(found.values()) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        "ARMS = {}\n\ndef arms():\n    for s in TWO:\n        ARMS[s] = _arm(s)",
        "ARMS = []\n\ndef arms():\n    for s in TWO:\n        ARMS.append(_arm(s))",
        "def arms(out):\n    for s in TWO:\n        out[s] = _arm(s)",
        "def arms(out):\n    for s in TWO:\n        out.append(_arm(s))",
        "from sdk import submit\n\ndef arms():\n    for s in TWO:\n        submit(_arm(s))",
    ],
)
def test_so_is_each_that_it_keeps_elsewhere_or_gives_to_code_out_of_sight(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert [each.setting(STRATEGY).value for each in found.recipes] == BOTH
    assert not found.unfollowed


def test_of_a_class_those_that_its_object_keeps_count(tmp_path: Path) -> None:
    text = """
        class Sweep:
            def __init__(self):
                self.arms = []

            def fill(self):
                for s in TWO:
                    self.arms.append(_arm(s))

        class Lazy:
            def __iter__(self):
                for s in TWO:
                    yield _arm(s)
    """
    found = strategies(tmp_path, text)
    assert list(found) == ["Sweep.fill[1]", "Sweep.fill[2]", "Lazy.__iter__[1]", "Lazy.__iter__[2]"]
    assert list(found.values()) == BOTH + BOTH


def test_a_modules_table_of_configurations_has_a_recipe_for_each(tmp_path: Path) -> None:
    assert strategies(tmp_path, "ARMS = {}\nfor s in TWO:\n    cfg = _arm(s)\n    ARMS[s] = cfg") == dict(
        zip(("ARMS[1]", "ARMS[2]"), BOTH, strict=True)
    )


def test_so_have_names_that_it_computes(tmp_path: Path) -> None:
    found = strategies(tmp_path, "for s in TWO:\n    globals()[f'llama_{s}'] = _arm(s)")
    assert found == {f"llama_{each}": Known(each) for each in ("optim_grads", "optim_grads_params")}


def test_a_generator_that_changes_one_configuration_launches_it_in_each_state(tmp_path: Path) -> None:
    text = """
        def _arms():
            cfg = _arm()
            for s in TWO:
                cfg.ddp.data_parallel_sharding_strategy = s
                yield cfg

        def main():
            for cfg in _arms():
                pretrain(cfg, None)
    """
    assert list(strategies(tmp_path, text).values()) == BOTH


def test_what_a_function_keeps_beside_its_recipe_is_none_of_its_recipes(tmp_path: Path) -> None:
    """A base that is made once is no run, nor are configurations of which another one is launched."""
    text = """
        CACHE = {}

        def _base():
            if "base" not in CACHE:
                CACHE["base"] = _arm()
            return CACHE["base"]

        def recipe():
            cfg = copy.deepcopy(_base())
            cfg.ddp.data_parallel_sharding_strategy = "optim"
            return cfg

        def main():
            arms = {s: _arm(s) for s in TWO}
            pretrain(arms["optim_grads"], None)
    """
    assert strategies(tmp_path, text) == {"recipe": Known("optim"), "main": Known("optim_grads")}
