"""verl as most people have it, installed: a script starts its program, whose own files are not at hand."""

from __future__ import annotations

import re

import pytest

from mfsdp_lint.cli import main
from tests.megatron.front_ends.project import Project

PPO = "python3 -m verl.trainer.main_ppo"
ACTOR = "actor_rollout_ref.actor.megatron"
FSDP = f"{ACTOR}.use_megatron_fsdp=True {ACTOR}.vanilla_mbridge=False"
PIPELINE = f"{ACTOR}.pipeline_model_parallel_size=2"
SFT = "torchrun --nproc_per_node 8 -m verl.trainer.sft_trainer"

ENGINE = """\
defaults:
  - sft_trainer_engine
  - override engine: megatron
  - _self_
engine:
  use_megatron_fsdp: true
  vanilla_mbridge: false
"""


def told(project: Project, script: str, **files: str) -> list[str]:
    project.write({"train.sh": script, **{f"config/{name}.yaml": text for name, text in files.items()}})
    main(["--no-cache", "--target-bridge", "0.6.0", "--output-format", "concise", "."])
    found = re.finditer(r"^(\S+?:\d+):\d+: (\w+) (MFSDP\d+)", project.capsys.readouterr().out, re.MULTILINE)
    return [f"{each[1]} {each[2]} {each[3]}" for each in found]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param(f"model_engine=megatron {FSDP} {PIPELINE}", ["train.sh:1 error MFSDP350"], id="the engine"),
        pytest.param(
            f"--config-path=config --config-name='ppo_megatron_trainer.yaml' {FSDP} {PIPELINE} \"$@\"",
            ["train.sh:1 error MFSDP350"],
            id="the file that has the engine",
        ),
        pytest.param(
            f"model_engine=megatron {FSDP} {PIPELINE} {'a.' * 20_000}a=1",
            ["train.sh:1 error MFSDP350"],
            id="beside a key without end",
        ),
        pytest.param(f"{FSDP} {PIPELINE}", [], id="any engine"),
        pytest.param(f"model_engine=megatron {FSDP} {PIPELINE} {ACTOR}.pipeline_model_parallel_size=1", [], id="twice"),
        pytest.param(f"model_engine=megatron {FSDP} {PIPELINE} $MORE", ["train.sh:1 error MFSDP350"], id="nothing"),
        pytest.param(f"model_engine=megatron {FSDP} {PIPELINE} $(cat more)", [], id="any words behind"),
        pytest.param(
            f"model_engine=megatron {FSDP.replace('False', 'True')} {PIPELINE}",
            ["train.sh:1 warning MFSDP705"],
            id="not used",
        ),
        pytest.param(f"model_engine=megatron {ACTOR}.use_megatron_fsdp=True {PIPELINE}", [], id="changed in 0.9"),
        pytest.param(f"model_engine=megatron {FSDP} {PIPELINE} ~{ACTOR}.use_megatron_fsdp", [], id="taken away"),
    ],
)
def test_a_launch_of_the_installed_program(project: Project, words: str, found: list[str]) -> None:
    assert told(project, f"{PPO} {words}\n") == found


def test_a_file_of_the_project_lies_over_what_is_installed(project: Project) -> None:
    launch = f'{SFT} --config-path="$PWD/config" --config-name=sft\n'
    assert told(project, launch, sft=ENGINE) == []
    assert told(project, f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{launch}", sft=ENGINE) == [
        "train.sh:1 warning MFSDP501"
    ]
    wrong = f"{ENGINE}  pipeline_model_parallel_size: 2\n"
    assert told(project, launch, sft=wrong) == ["config/sft.yaml:8 error MFSDP350"]
    assert told(project, launch.replace("=sft", "=sft engine.use_megatron_fsdp=false"), sft=ENGINE) == []


def test_another_program_is_not_verls(project: Project) -> None:
    assert told(project, f"python3 -m mine.main_ppo model_engine=megatron {FSDP} {PIPELINE}\n") == []
