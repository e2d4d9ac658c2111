"""A launch that names a script of the tree is one run: the script with these words, in this environment."""

from __future__ import annotations

from typing import Any

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from tests.runs.project import Project

TRAIN = """\
import argparse
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file")
    parser.add_argument("--tp", type=int, default=4)
    parser.add_argument("--fsdp", action="store_true")
    args, overrides = parser.parse_known_args()
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = args.tp
    cfg.ddp.use_megatron_fsdp = args.fsdp
    cfg.logger.wandb_project = os.environ.get("PROJECT", "nobody's")
    cfg = process_config_with_overrides(cfg, args.config_file, overrides or None)
    pretrain(cfg, forward_step)


if __name__ == "__main__":
    main()
"""
TP = "model.tensor_model_parallel_size"


@pytest.fixture
def project(project: Project) -> Project:
    project.write("scripts/train.py", TRAIN)
    return project


def started(project: Project, command: str, script: str = "launch.sh") -> Recipe:
    project.write(script, f"{command}\n")
    (recipe,) = project.runs(script)
    return recipe


def value(project: Project, command: str, path: str = TP) -> Value:
    return started(project, command).setting(path).value


@pytest.mark.parametrize(
    "command",
    [
        "torchrun scripts/train.py --tp 2",
        "torchrun scripts/train.py --tp=2",
        "python scripts/train.py --t 2",
        "python -m scripts.train --tp 2",
        "cd scripts && python train.py --tp 2",
        "python scripts/train.py --tp 8 --tp 2",
        "TP=2; python scripts/train.py --tp $TP",
        "ARGS=(--tp 2); python scripts/train.py --fsdp ${ARGS[@]}",
        "python scripts/train.py model.tensor_model_parallel_size=2",
        "python scripts/train.py --tp 8 ++model.tensor_model_parallel_size=2 $EXTRA",
        'python scripts/train.py model.tensor_model_parallel_size=2 "$@"',
    ],
)
def test_the_script_sees_the_words_of_its_launch(project: Project, command: str) -> None:
    assert value(project, command) == Known(2)


def test_what_nobody_gives_is_the_default_of_the_script(project: Project) -> None:
    assert value(project, "python scripts/train.py") == Known(4)


@pytest.mark.parametrize("word", ["--tp $(nproc)", "model.tensor_model_parallel_size=$(nproc)", "--tp $HOSTS"])
def test_a_word_that_is_not_known_gives_a_value_that_is_not_known(project: Project, word: str) -> None:
    recipe = started(project, f"python scripts/train.py {word} checkpoint.ckpt_format=fsdp_dtensor")
    assert not isinstance(recipe.setting(TP).value, Known)
    assert recipe.setting("checkpoint.ckpt_format").value == Known("fsdp_dtensor")


def test_words_that_may_be_anything_leave_nothing_known(project: Project) -> None:
    project.write("launch.sh", "python scripts/train.py --tp 2 $(options)\n")
    assert not any(isinstance(recipe.setting(TP).value, Known) for recipe in project.runs("launch.sh"))


def test_a_file_lies_under_the_overrides_and_over_the_recipe(project: Project) -> None:
    project.write("conf.yaml", "model:\n  tensor_model_parallel_size: 8\n  pipeline_model_parallel_size: 2\n")
    recipe = started(
        project, "python scripts/train.py --tp 2 --config-file conf.yaml model.pipeline_model_parallel_size=4"
    )
    assert recipe.setting(TP).value == Known(8)
    assert recipe.setting("model.pipeline_model_parallel_size").value == Known(4)


def test_the_environment_is_that_of_the_moment_of_the_launch(project: Project) -> None:
    script = """\
export PROJECT=first CUDA_DEVICE_MAX_CONNECTIONS=1
unset CUDA_DEVICE_MAX_CONNECTIONS
PROJECT=second python scripts/train.py
export PROJECT=third
"""
    recipe = started(project, script)
    assert recipe.setting("logger.wandb_project").value == Known("second")
    assert recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == NONE


SIZES = """\
import os

import settings
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

cfg = llama3_8b_pretrain_config()
cfg.model.tensor_model_parallel_size = settings.TP
pretrain(cfg, forward_step)
"""


def test_a_module_is_imported_anew_where_a_variable_that_it_reads_is_another_one(project: Project) -> None:
    project.write("settings.py", 'import os\n\nTP = int(os.environ.get("TP", 1))\n')
    project.write("train.py", SIZES)
    starts = ["TP=2", "TP=4", "OTHER=1", "TP=2 OTHER=1"]
    project.write("launch.sh", "".join(f"{each} python train.py\n" for each in starts))
    assert [run.setting(TP).value for run in project.runs("launch.sh")] == [Known(each) for each in (2, 4, 1, 2)]


def test_a_module_that_reads_no_variable_is_imported_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Interpreter] = []
    make = Interpreter.__init__

    def noted(self: Interpreter, *given: Any) -> None:
        made.append(self)
        make(self, *given)

    monkeypatch.setattr(Interpreter, "__init__", noted)
    project.write("settings.py", "TP = 2\n")
    project.write("train.py", SIZES)
    project.write("launch.sh", "NAME=a python train.py\n")
    project.runs("launch.sh")
    alone = len(made)
    made.clear()
    project.write("launch.sh", "NAME=a python train.py\nNAME=b python train.py\nOTHER=1 python train.py\n")
    assert len(project.runs("launch.sh")) == 3
    assert len(made) == alone


def test_a_file_that_one_launch_overwrites_is_as_it_was_for_the_next(project: Project) -> None:
    project.write("sizes.yaml", "tp: 2\n")
    project.write(
        "settings.py",
        """\
import sys
from pathlib import Path

import yaml

FILE = Path(__file__).parent / "sizes.yaml"


def size():
    if len(sys.argv) > 1:
        FILE.write_text(str(sys.argv))
    return yaml.safe_load(FILE.read_text())["tp"]
""",
    )
    project.write("train.py", SIZES.replace("settings.TP", "settings.size()"))
    project.write("launch.sh", "python train.py --write\npython train.py\n")
    overwritten, next_one = project.runs("launch.sh")
    assert not isinstance(overwritten.setting(TP).value, Known)
    assert next_one.setting(TP).value == Known(2)


def test_two_launches_in_one_file_are_two_runs(project: Project) -> None:
    project.write("launch.sh", "python scripts/train.py --tp 2\npython scripts/train.py --tp 8\n")
    assert {each.qualified_name: each.setting(TP).value for each in project.runs("launch.sh")} == {
        "launch.sh[1]": Known(2),
        "launch.sh[2]": Known(8),
    }


def test_each_side_of_a_branch_is_a_way(project: Project) -> None:
    recipe = started(project, 'if [ "$BIG" = 1 ]; then TP=8; else TP=2; fi\npython scripts/train.py --tp $TP')
    assert {variant.value(TP) for variant in recipe.variants} == {Known(8), Known(2)}


def test_the_ranks_that_the_launcher_starts(project: Project) -> None:
    assert value(project, "torchrun --nproc_per_node 8 --nnodes 4 scripts/train.py", "run.world_size") == Known(32)


def test_a_value_is_said_where_the_word_is_written(project: Project) -> None:
    recipe = started(
        project, "SIZE=2\ntorchrun scripts/train.py \\\n  --fsdp checkpoint.ckpt_format=torch_dist --tp $SIZE"
    )
    places = {
        path: origin.places(lambda _: True)[0].span
        for path in (TP, "checkpoint.ckpt_format", "ddp.use_megatron_fsdp")
        if (origin := recipe.setting(path).origin)
    }
    assert [(path, span.path, span.line, span.column) for path, span in places.items()] == [
        (TP, "launch.sh", 1, 6),
        ("checkpoint.ckpt_format", "launch.sh", 3, 33),
        ("ddp.use_megatron_fsdp", "launch.sh", 3, 3),
    ]


def test_an_entry_that_is_taken_away_keeps_the_value_of_the_recipe(project: Project) -> None:
    assert value(project, "python scripts/train.py '~model.tensor_model_parallel_size'") == Known(4)


def test_overrides_behind_two_dashes_are_refused_as_hydra_does(project: Project) -> None:
    """argparse hands the dashes on to `process_config_with_overrides`, which takes them for an override."""
    project.write("launch.sh", "python scripts/train.py -- model.tensor_model_parallel_size=2\n")
    assert [recipe.kind for recipe in project.runs("launch.sh")] == ["overrides"]


UPSTREAM = "torchrun --nproc_per_node 8 /opt/Megatron-Bridge/scripts/training/run_recipe.py"


def test_upstreams_own_script_is_the_recipe_that_it_names(project: Project) -> None:
    command = f"{UPSTREAM} --recipe llama3_8b_pretrain_config ddp.use_megatron_fsdp=true"
    recipe = started(project, command)
    assert recipe.kind == "launch"
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch_dist")
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)


@pytest.mark.parametrize(
    "words",
    [
        "--recipe llama3_8b_peft_config",
        "--recipe no_such_pretrain_config",
        "--recipe llama3_8b_pretrain_config --no-such-flag 1",
        "--recipe $NAME",
    ],
)
def test_of_what_the_script_would_do_nothing_is_guessed_and_that_is_told(project: Project, words: str) -> None:
    project.write("launch.sh", f"{UPSTREAM} {words} ddp.use_megatron_fsdp=true\n")
    (run,) = project.runs("launch.sh")
    assert run.kind == "overrides"
    obstacle = run.variants[0].settings.obstacle("checkpoint.ckpt_format")
    assert obstacle is not None
    assert obstacle.text == "run_recipe.py"


def test_a_program_that_nobody_has_described_may_have_any_settings(project: Project) -> None:
    project.write("launch.sh", "torchrun ours.py --recipe ours ddp.use_megatron_fsdp=true\n")
    (run,) = project.runs("launch.sh")
    assert run.variants[0].settings.obstacle("checkpoint.ckpt_format") is None


def test_a_launch_that_surely_ends_with_an_exception_is_told(project: Project) -> None:
    project.write("launch.sh", "\npython scripts/train.py -- model.tensor_model_parallel_size=2\n")
    (told,) = project.unfollowed("launch.sh")
    assert (told.path, told.line, told.kind, told.why, told.error) == (
        "launch.sh",
        2,
        "launch",
        "raises",
        "OverridesError",
    )


def test_a_program_that_launches_twice_makes_two_runs(project: Project) -> None:
    once = "    pretrain(cfg, forward_step)\n"
    twice = f"{once}    cfg.model.tensor_model_parallel_size = 1\n{once}"
    project.write("scripts/train.py", TRAIN.replace(once, twice))
    project.write("launch.sh", "python scripts/train.py --tp 2\n")
    assert {each.name: each.setting(TP).value for each in project.runs("launch.sh")} == {
        "launch.sh[1]": Known(2),
        "launch.sh[2]": Known(1),
    }


CLICK = """\
import click

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@click.command()
@click.option("--tp", type=int, default=4)
def main(tp):
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = tp
    pretrain(cfg, forward_step)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("words", "value"), [("", Known(4)), ("--tp 2", Known(2))])
def test_click_takes_the_words_of_a_launch(project: Project, words: str, value: Value) -> None:
    project.write("scripts/clicked.py", CLICK)
    assert started(project, f"torchrun scripts/clicked.py {words}").variants[0].value(TP) == value


EITHER = """\
import sys

from megatron.bridge import AutoBridge
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides

cfg = llama3_8b_pretrain_config()
cfg.model = AutoBridge.from_hf_pretrained("company/model").to_megatron_provider(load_weights=False)
pretrain(process_config_with_overrides(cfg, None, sys.argv[1:]), forward_step)
"""


def test_a_model_of_one_of_several_classes_takes_what_all_of_them_have(project: Project) -> None:
    project.write("train.py", EITHER)
    project.write("run.sh", "#!/bin/bash\ntorchrun train.py model.seq_length=512\n")
    (found,) = project.runs("run.sh")
    assert {repr(each.value("model.seq_length")) for each in found.variants} == {repr(Known(512))}
    assert found.kind == "launch"


LOOPS = """\
for tp in 1 2 4 8; do
  for seed in %s; do
    torchrun scripts/train.py --fsdp --tp $tp rng.seed=$seed
  done
done
"""


def test_a_program_with_too_many_different_starts_is_told(project: Project) -> None:
    project.write("launch.sh", LOOPS % "1 2 3 4 5")
    (unfollowed,) = project.unfollowed("launch.sh")
    assert (unfollowed.line, unfollowed.why) == (3, "limit")
    assert unfollowed.message == "this command has more than 16 different starts, and the program is followed on none"


def test_sixteen_different_starts_are_followed(project: Project) -> None:
    project.write("launch.sh", LOOPS % "1 2 3 4")
    assert project.unfollowed("launch.sh") == ()
    (found,) = project.runs("launch.sh")
    assert {repr(each.value(TP)) for each in found.variants} == {repr(Known(tp)) for tp in (1, 2, 4, 8)}


def test_ways_that_start_a_program_alike_are_one_start(project: Project) -> None:
    asked = "[ -f a ] && echo a\n[ -f b ] && echo b\n"
    project.write("launch.sh", asked + LOOPS % "1 2 3 4")
    assert project.unfollowed("launch.sh") == ()


def test_a_launch_whose_program_refuses_its_arguments_is_told(project: Project) -> None:
    project.write("launch.sh", "python scripts/train.py --tp two\n")
    (told,) = project.unfollowed("launch.sh")
    assert (told.line, told.error, told.message) == (1, "SystemExit", "SystemExit: invalid value: 'two'")


@pytest.mark.parametrize(
    ("raises", "message"),
    [
        pytest.param('ValueError(f"{tp} ranks of {name!r}")', "ValueError: 3 ranks of ?", id="a part is not known"),
        pytest.param('SystemExit(f"no tp={tp}")', "SystemExit: no tp=3", id="the program ends"),
        pytest.param("RuntimeError", "RuntimeError", id="nothing is said"),
    ],
)
def test_what_a_program_raises_is_told_with_its_message(project: Project, raises: str, message: str) -> None:
    project.write(
        "check.py",
        "import argparse, socket\nfrom megatron.bridge.training.pretrain import pretrain\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--tp', type=int)\n"
        f"tp, name = parser.parse_args().tp, socket.gethostname()\nif tp == 3:\n    raise {raises}\n",
    )
    project.write("launch.sh", "python check.py --tp 3\n")
    (told,) = project.unfollowed("launch.sh")
    assert told.message == message


def test_a_run_that_another_program_starts_stands_at_the_command_of_the_script(project: Project) -> None:
    project.write(
        "start.py",
        """\
import os
import sys

os.execvpe(sys.executable, [sys.executable, "scripts/train.py", *sys.argv[1:]], dict(os.environ))
""",
    )
    project.write("launch.sh", "\ntorchrun --nproc_per_node 4 start.py --fsdp --tp 2\n")
    (found,) = project.runs("launch.sh")
    assert (found.line, found.setting(TP).value) == (2, Known(2))
    assert found.setting("run.world_size").value == Known(4)


def test_a_handler_for_an_exception_that_nothing_raised_does_not_run(project: Project) -> None:
    """What the program itself defines, a call out of sight does not raise."""
    project.write(
        "scripts/picked.py",
        """\
import company

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class NoSuchRecipe(ValueError):
    pass


def found(name):
    if name != "llama":
        raise NoSuchRecipe(name)
    company.note(name)
    return llama3_8b_pretrain_config()


try:
    cfg = found("llama")
except NoSuchRecipe:
    cfg = company.another()
pretrain(cfg, forward_step)
""",
    )
    (way,) = started(project, "torchrun scripts/picked.py").variants
    assert way.value(TP) == Known(1)


def test_what_upstream_keeps_in_a_module_until_it_is_started_does_not_end_the_run(project: Project) -> None:
    seeds = "from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed\n"
    started_first = TRAIN.replace("    cfg = llama3", "    model_parallel_cuda_manual_seed(0)\n    cfg = llama3")
    project.write("scripts/train.py", seeds + started_first)
    assert value(project, "torchrun scripts/train.py --tp 2") == Known(2)


EXPERIMENT = (
    "python /opt/Megatron-Bridge/scripts/training/setup_experiment.py --nodes 2 --gpus-per-node 8 --account a "
    "--partition p --container-image i.sqsh --recipe llama3_8b_pretrain_config ddp.use_megatron_fsdp=true"
)
CONNECTIONS = "env.CUDA_DEVICE_MAX_CONNECTIONS"


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("", UNKNOWN),
        ("--env HF_TOKEN", UNKNOWN),
        ("--env CUDA_DEVICE_MAX_CONNECTIONS", Known("1")),
        ("--env=CUDA_DEVICE_MAX_CONNECTIONS --env HF_TOKEN", Known("1")),
    ],
)
@pytest.mark.parametrize("front", ["export CUDA_DEVICE_MAX_CONNECTIONS=1\n", "CUDA_DEVICE_MAX_CONNECTIONS=1 "])
def test_a_job_that_upstream_submits_has_the_variables_that_are_named(
    project: Project, front: str, words: str, value: Value
) -> None:
    project.write("launch.sh", f"{front}{EXPERIMENT} {words}\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    assert run.kind == "launch"
    assert run.variants[0].value(CONNECTIONS) == value


def test_a_job_that_upstream_submits_has_its_ranks(project: Project) -> None:
    project.write("launch.sh", f"{EXPERIMENT}\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    assert run.variants[0].value(WORLD_SIZE) == Known(16)


def test_a_recipe_of_somebody_s_own_gets_no_more_variables_in_such_a_job(project: Project) -> None:
    command = EXPERIMENT.replace("llama3_8b_pretrain_config", "ours_pretrain_config")
    project.write("launch.sh", f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{command}\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    assert run.kind == "overrides"
    assert run.variants[0].value(CONNECTIONS) == UNKNOWN


def test_a_job_s_variable_is_named_without_a_value(project: Project) -> None:
    project.write("launch.sh", f"{EXPERIMENT} --env CUDA_DEVICE_MAX_CONNECTIONS=1\n")
    (told,) = project.unfollowed("launch.sh", bridge="0.6.0")
    assert (told.why, told.error) == ("raises", "ValueError")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("--recipe llama3_8b_pretrain_config", "GPTDatasetConfig"),
        ("--recipe llama3_8b_pretrain_config --dataset mock", "MockGPTDatasetConfig"),
        ("--recipe llama3_8b_pretrain_config --dataset megatron-indexed", "GPTDatasetConfig"),
        ("--recipe llama3_8b_sft_config --dataset squad", "GPTSFTDatasetConfig"),
        ("--recipe llama3_8b_sft_config --dataset local-jsonl", "GPTSFTDatasetConfig"),
    ],
)
def test_a_preset_is_the_dataset_that_upstream_makes_of_it(project: Project, words: str, kind: str) -> None:
    project.write("launch.sh", f"{UPSTREAM} {words} ddp.use_megatron_fsdp=true\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    known = run.variants[0].value("dataset.__class__")
    assert isinstance(known, Known)
    assert str(known.value).rpartition(".")[2] == kind
    # What such a dataset does not have is nobody's failure to say.
    settings = run.variants[0].settings
    assert [settings.obstacle(f"dataset.{name}") for name in ("enable_in_batch_packing", "no_such_field")] == [None] * 2


def test_a_preset_of_the_other_mode_ends_the_run(project: Project) -> None:
    project.write("launch.sh", f"{UPSTREAM} --recipe llama3_8b_pretrain_config --dataset squad a.b=1\n")
    (told,) = project.unfollowed("launch.sh", bridge="0.6.0")
    assert (told.why, told.error) == ("raises", "ValueError")


def test_what_the_description_of_a_program_leaves_open_is_told_of_the_program(project: Project) -> None:
    project.write("launch.sh", f"{UPSTREAM} --recipe qwen3_vl_8b_peft_config --mode lora --dataset cord-v2\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    obstacle = run.variants[0].settings.obstacle("dataset.enable_in_batch_packing")
    assert obstacle is not None
    assert obstacle.reason() == "`run_recipe.py` (launch.sh:1) sets it to what is not known here"


@pytest.mark.parametrize("bridge", ["0.5.1", "0.6.0"])
def test_a_recipe_that_the_release_does_not_have_is_told(project: Project, bridge: str) -> None:
    project.write("launch.sh", f"{UPSTREAM} --recipe llama3_8b_pretrain_2gpus_config ddp.use_megatron_fsdp=true\n")
    (told,) = project.unfollowed("launch.sh", bridge=bridge)
    assert (told.why, told.error, told.certain) == ("raises", "AttributeError", False)
    assert "llama3_8b_pretrain_2gpus_config" in told.message
    (run,) = project.runs("launch.sh", bridge=bridge)
    obstacle = run.variants[0].settings.obstacle("checkpoint.ckpt_format")
    assert obstacle is not None
    assert f"{obstacle.why}." == f"ends with {told.message}"


@pytest.mark.parametrize("front", ["export CUDA_DEVICE_MAX_CONNECTIONS=1\n", "CUDA_DEVICE_MAX_CONNECTIONS=1 "])
def test_a_variable_that_is_named_for_the_job_is_not_taken_away(project: Project, front: str) -> None:
    """Upstream's script refuses a name that is not set."""
    right = "checkpoint.ckpt_format=fsdp_dtensor ddp.average_in_collective=false"
    script = f"{front}{EXPERIMENT} {right} --env CUDA_DEVICE_MAX_CONNECTIONS\n"
    project.write("launch.sh", script)
    assert main(["--no-cache", "--target-bridge", "0.6.0", "--fix", "--unsafe-fixes", "launch.sh"]) == 1
    assert "CUDA_DEVICE_MAX_CONNECTIONS=1" in (text := (project.folder / "launch.sh").read_text())
    assert "unset" not in text
    assert "env -u" not in text
