"""What yields no recipe though it makes, changes or launches a configuration is told, with its place and the reason."""

# Statements are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

IMPORTS = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import ConfigContainer, LoggerConfig
from megatron.bridge.training.pretrain import pretrain

"""


def unfollowed(folder: Path, text: str) -> list[Unfollowed]:
    path = folder / "recipes.py"
    path.write_text(IMPORTS + text)
    knowledge = load_knowledge(resolve_target("0.3.1"))
    return list(read_python([str(path)], Sources(), knowledge).unfollowed)


def text_at(found: Unfollowed) -> str:
    """What the place of an unfollowed piece underlines."""
    span = found.point
    line = Path(span.path).read_text().splitlines()[span.line - 1]
    return line[span.column - 1 : span.end_column - 1] if span.line == span.end_line else line[span.column - 1 :]


def test_a_recipe_is_not_unfollowed(tmp_path: Path) -> None:
    assert unfollowed(tmp_path, "def recipe():\n    return llama3_8b_pretrain_config()\n") == []


def test_a_refused_keyword_is_told_with_its_place(tmp_path: Path) -> None:
    (found,) = unfollowed(tmp_path, "def recipe():\n    return llama3_8b_pretrain_config(use_fsdp=True)\n")
    assert (found.name, found.line, found.why, found.error) == ("recipe", 5, "raises", "TypeError")
    assert found.message == "TypeError: llama3_8b_pretrain_config() got an unexpected keyword argument 'use_fsdp'"
    assert text_at(found) == "use_fsdp=True"


def test_the_name_that_may_have_been_meant_is_told(tmp_path: Path) -> None:
    text = "def build(tensor_size=1):\n    return llama3_8b_pretrain_config()\n\ndef recipe():\n    return build(tensor_sise=2)\n"
    (found,) = unfollowed(tmp_path, text)
    assert (found.name, found.nearest) == ("recipe", "tensor_size")


def test_a_field_that_a_class_does_not_have_is_refused_by_its_constructor(tmp_path: Path) -> None:
    (found,) = unfollowed(
        tmp_path,
        "def recipe():\n    cfg = llama3_8b_pretrain_config()\n    cfg.logger = LoggerConfig(log_intervall=1)\n    return cfg\n",
    )
    assert found.message == "TypeError: LoggerConfig.__init__() got an unexpected keyword argument 'log_intervall'"
    assert (found.nearest, text_at(found)) == ("log_interval", "log_intervall=1")


def test_a_keyword_that_may_not_be_given_is_not_refused(tmp_path: Path) -> None:
    text = (
        "def recipe(levels=None):\n    more = {}\n    if levels:\n        more['log_intervall'] = 1\n"
        "    cfg = llama3_8b_pretrain_config()\n    cfg.logger = LoggerConfig(**more)\n    return cfg\n"
    )
    assert unfollowed(tmp_path, text) == []


def test_a_class_with_a_base_out_of_sight_may_have_more_fields(tmp_path: Path) -> None:
    text = (
        "from elsewhere import Base\nfrom dataclasses import dataclass\n@dataclass\nclass Mine(Base):\n    a: int = 1\n"
    )
    assert unfollowed(tmp_path, f"{text}def recipe():\n    Mine(b=2)\n    return llama3_8b_pretrain_config()\n") == []


def test_the_place_is_in_the_files_at_hand(tmp_path: Path) -> None:
    (found,) = unfollowed(
        tmp_path,
        "def recipe():\n    cfg = llama3_8b_pretrain_config()\n    cfg.model.no_such_method.x.y()\n    cfg.nothing.at.all = 1\n    return cfg\n",
    )
    assert found.error == "AttributeError"
    assert text_at(found).startswith("cfg.")


def test_a_container_without_its_required_parts(tmp_path: Path) -> None:
    (found,) = unfollowed(tmp_path, "def recipe():\n    return ConfigContainer(logger=LoggerConfig())\n")
    assert found.why == "raises"
    assert "'model'" in found.message
    assert "'dataset'" in found.message
    assert text_at(found) == "ConfigContainer(logger=LoggerConfig())"


def test_a_script_that_raises(tmp_path: Path) -> None:
    (found,) = unfollowed(
        tmp_path,
        "if __name__ == '__main__':\n    cfg = llama3_8b_pretrain_config()\n    pretrain(cfg.no_such_section, None)\n",
    )
    assert (found.name, found.kind, found.why) == ("recipes", "script", "raises")


def test_too_many_ways(tmp_path: Path) -> None:
    ways = "".join(
        f"    if flags[{n}]:\n        return llama3_8b_pretrain_config() if flags['a'] else {n}\n" for n in range(9)
    )
    (found,) = unfollowed(tmp_path, f"def recipe(flags):\n{ways}")
    assert found.why == "limit"


def test_a_configuration_that_goes_nowhere(tmp_path: Path) -> None:
    (found,) = unfollowed(tmp_path, "def main():\n    cfg = llama3_8b_pretrain_config()\n    print(cfg.ddp)\n")
    assert (found.name, found.why) == ("main", "kept")


def test_a_test_that_launches_nothing_loses_no_run(tmp_path: Path) -> None:
    text = "def test_format(flag):\n    cfg = llama3_8b_pretrain_config()\n    if flag.x():\n        assert cfg.ddp\n"
    assert unfollowed(tmp_path, text) == []
    launching = "def train(self):\n    pretrain(self.cfg, None)\n\ndef test_training(runner):\n    train(runner)\n"
    assert "test_training" in {each.name for each in unfollowed(tmp_path, launching)}


def test_a_method_whose_object_nobody_makes(tmp_path: Path) -> None:
    (found,) = unfollowed(tmp_path, "class Trainer:\n    def train(self, steps):\n        pretrain(self.cfg, steps)\n")
    assert (found.name, found.line, found.why) == ("Trainer.train", 6, "argument")


def test_a_function_inside_another_that_nobody_calls(tmp_path: Path) -> None:
    text = "def main(callbacks):\n    def train():\n        pretrain(llama3_8b_pretrain_config(), None)\n    callbacks['fit'] = train\n"
    (found,) = unfollowed(tmp_path, text)
    assert (found.name, found.line, found.why) == ("main.train", 6, "not reached")


def test_a_helper_of_a_recipe_is_part_of_it(tmp_path: Path) -> None:
    text = "def _shard(cfg):\n    cfg.ddp.use_megatron_fsdp = True\n\ndef recipe():\n    cfg = llama3_8b_pretrain_config()\n    _shard(cfg)\n    return cfg\n"
    assert unfollowed(tmp_path, text) == []


def test_what_has_nothing_to_do_with_configurations(tmp_path: Path) -> None:
    assert (
        unfollowed(
            tmp_path,
            "def helper(x):\n    raise ValueError(x)\n\nclass Tool:\n    def run(self, x):\n        return x.y\n",
        )
        == []
    )


def test_a_lambda_that_a_function_calls(tmp_path: Path) -> None:
    text = "width = lambda text: len(text)\n\n\ndef shown(text):\n    return width(text)\n"
    assert unfollowed(tmp_path, text) == []


def test_what_launches_late_is_followed_to_the_launch(tmp_path: Path) -> None:
    text = """\
def main(steps):
    total = 0
    for step in range(2000):
        total += step
    pretrain(llama3_8b_pretrain_config(), None)
"""
    assert unfollowed(tmp_path, text) == []


def test_a_call_that_takes_too_many_steps_may_assign_the_globals_of_other_modules(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text(
        "FORMAT = None\n\n\ndef keep(value):\n    global FORMAT\n    FORMAT = value\n\n\n"
        "def kept():\n    assert FORMAT is not None\n    return FORMAT\n"
    )
    (tmp_path / "start.py").write_text(
        "import state\n\n\ndef start():\n    number = 0\n    while number < 5000:\n        number += 1\n"
        "    state.keep('fsdp_dtensor')\n"
    )
    recipe = "    cfg = llama3_8b_pretrain_config()\n    start.start()\n    cfg.checkpoint.ckpt_format = state.kept()\n    return cfg\n"
    assert unfollowed(tmp_path, f"import start\nimport state\n\n\ndef recipe():\n{recipe}") == []
