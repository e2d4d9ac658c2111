"""What Hydra composes of files of the tree is known; what it takes from elsewhere is not. (Values of hydra 1.3.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Plain, Value
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

HEAD = """\
import hydra
from hydra import compose, initialize
from omegaconf import OmegaConf
from dataclasses import dataclass, field

@dataclass
class DDP:
    use_megatron_fsdp: object = False

@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)

"""

COMPOSE = """
def recipe():
    cfg = ConfigContainer()
    with initialize(version_base="1.2", config_path="conf"):
        composed = compose("config", overrides={overrides!r})
    cfg.ddp.use_megatron_fsdp = OmegaConf.to_container(composed)
    return cfg
"""

GROUPS = {
    "config": "defaults:\n  - fsdp: full\n  - _self_\nk: 1\n",
    "fsdp/full": "use: true\nk: 2\n",
    "fsdp/off": "use: false\n",
}


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def read(folder: Path, text: str, files: dict[str, str]) -> Recipe:
    write_files(folder, files)
    program = folder / "train.py"
    program.write_text(HEAD + text)
    (recipe,) = (each for each in read_python([str(program)], Sources()).recipes if each.name in ("recipe", "main"))
    return recipe


# Files, overrides, and what is composed.
COMPOSED: dict[str, tuple[dict[str, str], list[str], Plain]] = {
    "a file without a list": ({"config": "k: 1\na: {b: 2}\n"}, [], {"k": 1, "a": {"b": 2}}),
    "an option goes under the name of its group": (GROUPS, [], {"fsdp": {"use": True, "k": 2}, "k": 1}),
    "its own values win where _self_ is last": (
        {"config": "defaults:\n  - other\n  - _self_\nk: 1\n", "other": "k: 2\n"}, [], {"k": 1},
    ),
    "and lose where it is first": (
        {"config": "defaults:\n  - _self_\n  - other\nk: 1\n", "other": "k: 2\n"}, [], {"k": 2},
    ),
    "without _self_ they win": ({"config": "defaults:\n  - other\nk: 1\n", "other": "k: 2\n"}, [], {"k": 1}),
    "the package of the element": (
        {"config": "defaults:\n  - a@p.q: x\n", "a/x": "k: 1\n"}, [], {"p": {"q": {"k": 1}}},
    ),
    "the package of the file's head": (
        {"config": "defaults:\n  - a: x\n", "a/x": "# @package _global_\nk: 1\n"}, [], {"k": 1},
    ),
    "a list inside an option": (
        {"config": "defaults:\n  - a: x\n", "a/x": "defaults:\n  - b: y\nk: 1\n", "a/b/y": "l: 2\n"},
        [],
        {"a": {"b": {"l": 2}, "k": 1}},
    ),
    "an option from the root": (
        {"config": "defaults:\n  - a: x\n", "a/x": "defaults:\n  - /b: y\n", "b/y": "l: 2\n"},
        [],
        {"a": {"b": {"l": 2}}},
    ),
    "a file of the list chooses for those in front": (
        {
            "config": "defaults:\n  - fsdp: off\n  - experiment: big\n".replace("off", '"off"'),
            "experiment/big": "# @package _global_\ndefaults:\n  - override /fsdp: full\n",
            "fsdp/full": "use: true\n",
            "fsdp/off": "use: false\n",
        },
        [],
        {"fsdp": {"use": True}},
    ),
    "none of a group": ({"config": "defaults:\n  - a: null\nk: 1\n", "a/x": "l: 1\n"}, [], {"k": 1}),
    "several of a group": (
        {"config": "defaults:\n  - a: [x, y]\n", "a/x": "k: 1\nl: 1\n", "a/y": "k: 2\n"}, [], {"a": {"k": 2, "l": 1}},
    ),
    "an option that depends on another": (
        {
            "config": "defaults:\n  - a: x\n  - b: ${a}_b\n",
            "a/x": "k: 1\n",
            "a/y": "k: 2\n",
            "b/x_b": "k: 3\n",
            "b/y_b": "k: 4\n",
        },
        ["a=y"],
        {"a": {"k": 2}, "b": {"k": 4}},
    ),
    "an optional file that is not there": ({"config": "defaults:\n  - optional a: x\nk: 1\n"}, [], {"k": 1}),
    "what configures hydra itself": (
        {"config": "defaults:\n  - override hydra/job_logging: none\nk: 1\nhydra:\n  run: {dir: .}\n"}, [], {"k": 1},
    ),
    "an override of a value": ({"config": "k: 1\n"}, ["k=5", "+l=6"], {"k": 5, "l": 6}),
    "an override of an option": (GROUPS, ["fsdp=off"], {"fsdp": {"use": False}, "k": 1}),
    "an option that is added": (
        {"config": "k: 1\n", "a/x": "l: 2\n"}, ["+a=x"], {"k": 1, "a": {"l": 2}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSED)
def test_what_is_composed(name: str, tmp_path: Path) -> None:
    files, overrides, value = COMPOSED[name]
    recipe = read(tmp_path, COMPOSE.format(overrides=overrides), files)
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(value)


def test_a_program_that_composes_with_the_words_of_its_launch(tmp_path: Path) -> None:
    text = COMPOSE.replace("{overrides!r}", "list(sys.argv[1:])") + "\nlaunch(recipe())\n"
    read(tmp_path, f"import sys\nfrom megatron.bridge.training.pretrain import pretrain as launch\n{text}", GROUPS)
    (tmp_path / "start.sh").write_text("#!/bin/bash\ntorchrun --nproc-per-node 8 train.py fsdp=off k=3\n")
    asked, _ = question(Options(paths=(str(tmp_path / "start.sh"),), target_bridge="0.3.1"))
    (recipe,) = (each for each in Linter(asked, (), ())(Sources()).recipes if each.kind == "launch")
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known({"fsdp": {"use": False}, "k": 3})


SWEPT = """
import subprocess

@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg):
    words = []
    for key, value in OmegaConf.to_container(cfg.run, resolve=True).items():
        if isinstance(value, bool):
            words += [f"--{key.replace('_', '-')}"] if value else []
        elif value is not None:
            words += [f"--{key.replace('_', '-')}", str(value)]
    subprocess.run(["torchrun", "pretrain_gpt.py", *words])

if __name__ == "__main__":
    main()
"""
RUN = "run: {save: '${hydra:runtime.output_dir}/c', ckpt_format: torch, use_megatron_fsdp: true}\n"
OF_FILE = "hydra: {sweeper: {params: {run.ckpt_format: 'torch_dist,fsdp_dtensor'}}}\n"
OPTUNA = "defaults: [_self_, {override hydra/sweeper: optuna}]\n"


@pytest.mark.parametrize(
    ("words", "config", "formats"),
    [
        pytest.param("", RUN, ["torch"], id="one run"),
        pytest.param("", RUN + OF_FILE, ["torch"], id="what a sweep would have"),
        pytest.param("-m run.ckpt_format=torch_dist,fsdp_dtensor", RUN, ["fsdp_dtensor", "torch_dist"], id="by words"),
        pytest.param("-m", RUN + OF_FILE, ["fsdp_dtensor", "torch_dist"], id="by the file"),
        pytest.param("-m run.ckpt_format=torch", RUN + OF_FILE, ["torch"], id="words in place of the file's"),
        pytest.param("-m", OPTUNA + RUN + OF_FILE, [], id="by another sweeper"),
    ],
)
def test_the_runs_of_a_sweep(words: str, config: str, formats: list[str], tmp_path: Path) -> None:
    write_files(tmp_path, {"config": config})
    (tmp_path / "sweep.py").write_text(HEAD + SWEPT)
    (tmp_path / "start.sh").write_text(f"#!/bin/bash\npython sweep.py {words}\n")
    asked, _ = question(Options(paths=(str(tmp_path / "start.sh"),), target_core="0.16.1"))
    runs = Linter(asked, (), ())(Sources()).recipes
    values = {variant.value("checkpoint.ckpt_format") for recipe in runs for variant in recipe.variants}
    assert sorted(str(each.value) for each in values if isinstance(each, Known)) == formats
    assert all(isinstance(each, Known) for each in values)


ENGINES = {
    "trainer": "defaults:\n  - engine: dp\n  - actor@actor_rollout_ref.actor: ${engine}_actor\n",
    "engine/dp": "# @package _global_\nengine: dp\n",
    "engine/megatron": "# @package _global_\nengine: megatron\n",
    "actor/dp_actor": "strategy: fsdp\n",
    "actor/megatron_actor": """\
strategy: megatron
megatron:
  use_megatron_fsdp: false
  vanilla_mbridge: false
  forward_only: false
  pipeline_model_parallel_size: 1
  tensor_model_parallel_size: ${oc.select:actor_rollout_ref.tp,2}
  override_ddp_config: {}
  override_transformer_config: {}
""",
}
ENGINE = "actor_rollout_ref.actor.megatron."

TRAINER = """
import ray

@hydra.main(config_path="conf", config_name="trainer", version_base=None)
def main(config):
    ray.init()
    ray.get(ray.remote(num_cpus=1)(Runner).remote().run.remote(config))

if __name__ == "__main__":
    main()
"""


def launches(folder: Path, words: str, module: str = "") -> tuple[list[Recipe], list[str]]:
    """Return the runs of a script that starts a framework's program, and all that is told about it."""
    write_files(folder, ENGINES)
    (folder / "platforms.py").write_text(module)
    (folder / "train.py").write_text(f"import platforms\n{HEAD}{TRAINER}")
    start = f"torchrun --nproc-per-node 8 train.py {words}"
    (folder / "start.sh").write_text(f"#!/bin/bash\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n{start}\n")
    asked, _ = question(Options(paths=(str(folder / "start.sh"),), target_bridge="0.5.1"))
    read = Linter(asked, (), ())(Sources())
    told = [*(each.message for each in read.unfollowed), *(each.message for each in read.raising)]
    return [each for each in read.recipes if each.kind == "launch"], told


def test_a_framework_s_program_is_read_from_the_files_that_it_composes(tmp_path: Path) -> None:
    (recipe,), told = launches(tmp_path, f"engine=megatron {ENGINE}use_megatron_fsdp=True")
    assert recipe.front_end.name == "verl"
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)
    assert recipe.setting("model.tensor_model_parallel_size").value == Known(2)
    assert recipe.setting("checkpoint.ckpt_format").value == Known("fsdp_dtensor")
    assert recipe.setting("run.world_size").value == Known(8)
    assert not told


@pytest.mark.parametrize(
    ("module", "value"),
    [
        pytest.param("", Known("1"), id="as the launch sets it"),
        pytest.param(
            'import os\nos.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "8"\n', Known("8"), id="set by the program"
        ),
        pytest.param(
            'import os\nimport elsewhere\nos.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = elsewhere.read()\n',
            UNKNOWN,
            id="set to what is not known",
        ),
        pytest.param(
            "import elsewhere\n\ndef ask(left):\n    if elsewhere.is_there():\n        return left\n"
            "    return ask(left - 1)\n\nask(20)\n",
            Known("1"),
            id="behind code that is not followed",
        ),
    ],
)
def test_a_framework_s_program_has_the_variables_of_its_launch(module: str, value: Value, tmp_path: Path) -> None:
    (recipe,), _ = launches(tmp_path, f"engine=megatron {ENGINE}use_megatron_fsdp=True", module)
    assert recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == value


def test_each_value_is_where_the_words_or_the_files_say_it(tmp_path: Path) -> None:
    (recipe,), _ = launches(tmp_path, f"engine=megatron {ENGINE}use_megatron_fsdp=True")
    places = [recipe.setting(f"model.{name}_model_parallel_size").origin for name in ("pipeline", "tensor")]
    assert [place and place.point.path.endswith("megatron_actor.yaml") for place in places] == [True, True]
    switch = recipe.setting("ddp.use_megatron_fsdp").origin
    assert switch is not None
    assert (switch.point.path.endswith("start.sh"), switch.point.line) == (True, 3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param("", [], id="an engine without Megatron is no run of it, and nothing is missed"),
        pytest.param(
            f"engine=megatron {ENGINE}use_megatron=True",
            [f"Could not override '{ENGINE}use_megatron'"],
            id="an override that Hydra refuses",
        ),
        pytest.param(
            "ray_init.num_cpus=16 added=1",
            ["Could not override 'ray_init.num_cpus'"],
            id="the first one that it refuses, with its whole key",
        ),
    ],
)
def test_a_framework_s_program_that_is_no_run(words: str, told: list[str], tmp_path: Path) -> None:
    recipes, messages = launches(tmp_path, words)
    assert not recipes
    assert len(messages) == len(told)
    assert all(said in message for said, message in zip(told, messages, strict=True))


OPEN: dict[str, tuple[dict[str, str], list[str]]] = {
    "a key that is no text": ({"config": "on: true\n"}, []),
    "an option that has to be given": ({"config": "defaults:\n  - a: ???\n", "a/x": "k: 1\n"}, []),
    "an option that depends on one that no list has": ({"config": "defaults:\n  - b: ${a}\n", "b/x": "k: 1\n"}, []),
    "a file that is not there": ({"config": "defaults:\n  - registered\nk: 1\n"}, []),
    "a group that no list has": ({**GROUPS, "other/x": "k: 1\n"}, ["other=x"]),
    "a group that is chosen twice": (
        {"config": "defaults:\n  - a: x\n  - a: y\n", "a/x": "k: 1\n", "a/y": "k: 2\n"}, [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_composed_of_files_of_the_tree_is_unknown(name: str, tmp_path: Path) -> None:
    files, overrides = OPEN[name]
    recipe = read(tmp_path, COMPOSE.format(overrides=overrides), files)
    assert not isinstance(recipe.setting("ddp.use_megatron_fsdp").value, Known)


MAIN = """
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(options):
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = options.fsdp.use
    return cfg
"""


def test_a_program_is_judged_without_overrides_and_says_what_may_change_it(tmp_path: Path) -> None:
    setting = read(tmp_path, MAIN, GROUPS).setting("ddp.use_megatron_fsdp")
    assert setting.value == Known(True)
    assert setting.origin is not None
    assert setting.origin.option == "fsdp.use="
    decisive = setting.origin.sources[-1].span
    assert (Path(decisive.path).relative_to(tmp_path).as_posix(), decisive.line) == ("conf/fsdp/full.yaml", 1)


STARTS = f"from megatron.bridge.training.pretrain import pretrain\n{MAIN}".replace("return cfg", "pretrain(cfg, None)")
BESIDE: dict[str, tuple[dict[str, str], list[bool | None]]] = {
    "a file that is built on the program's": (
        {"plain": "defaults:\n  - config\n  - _self_\nfsdp: {use: false}\n"},
        [True, False],
    ),
    "through another one, which is no run": (
        {
            "common": "defaults: [config, _self_]\nfsdp: {use: false}\n",
            "long": "defaults: [common, _self_]\nfsdp: {use: null}\n",
        },
        [True, None],
    ),
    "a file of another program": ({"export": "defaults:\n  - fsdp: off\n"}, [True]),
    "a part of it": ({"config": "defaults:\n  - base\n", "base": "defaults:\n  - fsdp: full\n"}, [True]),
    "one that Hydra refuses": ({"plain": "defaults: [config, nothing]\n"}, [True]),
}


@pytest.mark.parametrize("case", BESIDE)
def test_files_built_on_that_of_a_program_are_runs_of_it_as_well(case: str, tmp_path: Path) -> None:
    files, values = BESIDE[case]
    write_files(tmp_path, GROUPS | files)
    (tmp_path / "train.py").write_text(HEAD + STARTS)
    recipes = read_python([str(tmp_path / "train.py")], Sources()).recipes
    assert [each.setting("ddp.use_megatron_fsdp").value for each in recipes] == list(map(Known, values))


def test_a_program_without_a_folder_is_unknown(tmp_path: Path) -> None:
    recipe = read(tmp_path, MAIN.replace('config_path="conf"', "config_path=None"), GROUPS)
    assert recipe.setting("ddp.use_megatron_fsdp").value == UNKNOWN


def test_without_initialize_nothing_is_known(tmp_path: Path) -> None:
    text = COMPOSE.format(overrides=[]).replace('initialize(version_base="1.2", config_path="conf")', "open('x')")
    assert read(tmp_path, text, GROUPS).setting("ddp.use_megatron_fsdp").value == UNKNOWN
