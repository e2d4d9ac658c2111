"""ms-swift: options in a YAML file, and variables that hold where the caller sets no others."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known
from tests.megatron.front_ends.project import Project

RUN = """\
ENV:
  NPROC_PER_NODE: 8
model: Qwen/Qwen3-8B
tuner_type: full
use_megatron_fsdp: true
tensor_model_parallel_size: 2
sequence_parallel: true
no_save_optim: true
"""


def test_what_the_options_come_to(project: Project) -> None:
    project.write({"run.yaml": RUN})
    assert project.values(
        "run.yaml",
        "ddp.use_megatron_fsdp",
        "ddp.use_distributed_optimizer",
        "ddp.data_parallel_sharding_strategy",
        "model.tensor_model_parallel_size",
        "model.pipeline_model_parallel_size",
        "model.sequence_parallel",
        "checkpoint.save_optim",
        "checkpoint.ckpt_format",
        "env.NPROC_PER_NODE",
    ) == [Known(each) for each in (True, True, "optim_grads_params", 2, 1, True, False, "fsdp_dtensor", "8")]
    assert project.values("run.yaml", "env.CUDA_DEVICE_MAX_CONNECTIONS", "checkpoint.save") == [UNKNOWN, UNKNOWN]
    assert project.told(".") == []


def test_what_nobody_writes_is_as_its_class_has_it(project: Project) -> None:
    project.write({"run.yaml": RUN})
    assert project.values(
        "run.yaml", "optimizer.optimizer", "optimizer.optimizer_cpu_offload", "rng.data_parallel_random_init"
    ) == [Known("adam"), Known(False), Known(False)]


def test_sequence_parallelism_needs_tensor_parallelism(project: Project) -> None:
    project.write({"run.yaml": RUN.replace("tensor_model_parallel_size: 2\n", "")})
    assert project.values("run.yaml", "model.sequence_parallel") == [Known(False)]


def test_a_variable_that_its_own_check_refuses(project: Project) -> None:
    project.write({"run.yaml": RUN.replace("NPROC_PER_NODE: 8", "CUDA_DEVICE_MAX_CONNECTIONS: 1")})
    assert project.told(".") == ["run.yaml:2:32: error MFSDP501"]


def test_a_variable_that_is_taken_away_is_set_to_1_again(project: Project) -> None:
    """So there is no fix that takes it away."""
    written = RUN.replace("NPROC_PER_NODE: 8", "CUDA_DEVICE_MAX_CONNECTIONS: 1")
    project.write({"run.yaml": written})
    project.told(".", "--fix", "--unsafe-fixes")
    assert project.text("run.yaml") == written
    project.write({"run.sh": "unset CUDA_DEVICE_MAX_CONNECTIONS\nmegatron sft --use_megatron_fsdp true\n"})
    assert project.told("run.sh") == ["run.sh:2:34: error MFSDP501"]


LAUNCHER = """import os
import subprocess
import sys

import yaml

options = yaml.safe_load(open(sys.argv[1]))
env = {}
words = [word for key, value in options.items() for word in (f"--{{key}}", str(value).lower())]
subprocess.call(["megatron", "sft", *words], env=env)
"""
TAKEN = "env.pop('CUDA_DEVICE_MAX_CONNECTIONS', None)"


@pytest.mark.parametrize(
    ("env", "is_wrong"),
    [
        (f"os.environ.copy()\n{TAKEN}", True),
        (f"{{k: v for k, v in os.environ.items() if k != 'A'}}\n{TAKEN}", True),
        ("{k: v for k, v in os.environ.items() if k not in {'CUDA_DEVICE_MAX_CONNECTIONS', 'A'}}", True),
        ("{k: v for k, v in os.environ.items() if not k.startswith('CUDA_')} | {'A': '1'}", True),
        ("{k: v for k, v in os.environ.items() if not k.startswith('SLURM_')}", False),
        ("{k: v for k, v in os.environ.items() if v}", False),
        ("{k: v for k, v in os.environ.items() if k.split('_')[9] != 'A'}", False),
        ("{k: 'CUDA_' + v for k, v in os.environ.items() if not k.startswith('CUDA_')}", False),
        (f"dict(os.environ)\n{TAKEN}\nenv.update(site())", False),
        (f"dict(os.environ)\n{TAKEN}\nenv = {{**os.environ, **env}}", False),
        (f"dict(os.environ)\nif site():\n    {TAKEN}", False),
        (f"dict(os.environ)\n{TAKEN}\nenv.setdefault('CUDA_DEVICE_MAX_CONNECTIONS', '8')", False),
        ("dict(os.environ)", False),
    ],
)
def test_a_variable_that_a_copy_of_the_environment_loses(project: Project, env: str, is_wrong: bool) -> None:
    project.write({"run.py": LAUNCHER.format(env), "a.yaml": "model: x\nuse_megatron_fsdp: true\n"})
    assert project.told("run.py") == (["a.yaml:2:20: error MFSDP501"] if is_wrong else [])


@pytest.mark.parametrize(
    "first",
    [
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=8", id="set"),
        pytest.param("", id="whoever starts it may set it"),
        pytest.param("source cluster.sh", id="what is not at hand may set it"),
    ],
)
def test_a_launch_that_may_have_the_variable(project: Project, first: str) -> None:
    project.write({"run.sh": f"{first}\nmegatron sft --use_megatron_fsdp true\n"})
    assert project.told("run.sh") == []


@pytest.mark.parametrize(
    ("before", "options", "told"),
    [
        pytest.param("", "", [], id="the file's own variable"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\n", "", ["run.sh:1:36: error MFSDP501"], id="the caller's"),
        pytest.param(
            "export CUDA_DEVICE_MAX_CONNECTIONS=1\n", "--use_megatron_fsdp false", [], id="an option behind the file"
        ),
    ],
)
def test_a_file_that_a_launch_names_in_place_of_options(
    project: Project, before: str, options: str, told: list[str]
) -> None:
    project.write(
        {
            "run.sh": f"{before}megatron sft conf.yaml {options}\n",
            "conf.yaml": "ENV:\n  CUDA_DEVICE_MAX_CONNECTIONS: 32\nmodel: x\nuse_megatron_fsdp: true\n",
        }
    )
    assert project.told("run.sh") == told


def test_what_only_megatron_lm_validates_is_no_mistake(project: Project) -> None:
    project.write({"run.yaml": RUN + "optimizer_cpu_offload: true\ncalculate_per_token_loss: true\n"})
    assert [line for line in project.told(".") if "error" in line] == []


def test_other_files_with_the_same_key_are_not_ours(project: Project) -> None:
    project.write({"run.yaml": "use_megatron_fsdp: true\nmodel: x\n"})
    assert project.recipes("run.yaml") == []


PROGRAM = """\
import os
from dataclasses import asdict, dataclass

from swift.megatron import MegatronSftArguments, megatron_sft_main

@dataclass
class Sharding:
    use_megatron_fsdp: bool = True
    tensor_model_parallel_size: int = 2

def main():
    {environment}
    megatron_sft_main(MegatronSftArguments(model="Qwen/Qwen3-8B", **asdict(Sharding())))

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ('os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"', ["train.py:12:49: error MFSDP501"]),
        ('os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)', ["train.py:13:23: error MFSDP501"]),
        ('os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "32"', []),
        ("pass", []),
    ],
)
def test_arguments_in_python_are_options(project: Project, environment: str, told: list[str]) -> None:
    project.write({"train.py": PROGRAM.format(environment=environment)})
    assert project.told(".") == told


def test_a_launch_gives_the_program_its_environment(project: Project) -> None:
    start = "export CUDA_DEVICE_MAX_CONNECTIONS=1\ntorchrun --nproc_per_node 8 train.py\n"
    project.write({"train.py": PROGRAM.format(environment="pass"), "run.sh": start})
    assert project.told(".") == ["run.sh:1:36: error MFSDP501"]
