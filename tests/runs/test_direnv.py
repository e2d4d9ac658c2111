"""What is started in a folder has the variables that direnv exports there."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NONE, Known
from tests.runs.project import Project

DEVICES = "env.CUDA_DEVICE_MAX_CONNECTIONS"
LAUNCH = "torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format fsdp_dtensor"
PYTHON = f'#!/usr/bin/env python3\nimport os\nimport subprocess\n\nsubprocess.run("{LAUNCH}".split())\n'


def value(project: Project, envrc: str, script: str = LAUNCH, path: str = "jobs/run.sh") -> object:
    """Return the value of the variable in the run that a script of the project starts; None where it is not known."""
    project.write(".envrc", envrc)
    project.write(path, script)
    (recipe,) = project.runs(path)
    return variable(recipe)


def variable(recipe: Recipe) -> object:
    found = recipe.variants[0].settings.get(DEVICES)
    return found and found.value


EXPORT = "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"


@pytest.mark.parametrize(
    ("envrc", "expected"),
    [
        pytest.param(EXPORT, Known("1"), id="exported"),
        pytest.param(f"layout python\n{EXPORT}PATH_add bin\n", Known("1"), id="among functions of direnv"),
        pytest.param("N=1\nexport CUDA_DEVICE_MAX_CONNECTIONS=${N}\n", Known("1"), id="of another variable"),
        pytest.param(f"{EXPORT}source_env ../.envrc\n", None, id="which another file may change"),
        pytest.param(f"{EXPORT}dotenv_if_exists\n", None, id="which a list of variables may change"),
        pytest.param(f"if has nvidia-smi; then\n  {EXPORT}fi\n", None, id="on one way"),
        pytest.param("CUDA_DEVICE_MAX_CONNECTIONS=1\n", None, id="not exported"),
    ],
)
def test_a_script_has_the_variables_that_are_known(project: Project, envrc: str, expected: object) -> None:
    assert value(project, envrc) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(f"export CUDA_DEVICE_MAX_CONNECTIONS=8\n{LAUNCH}", Known("8"), id="set again"),
        pytest.param(f"unset CUDA_DEVICE_MAX_CONNECTIONS\n{LAUNCH}", NONE, id="taken away"),
        pytest.param(f"docker run image {LAUNCH}", None, id="in a container"),
    ],
)
def test_a_script_may_give_its_program_others(project: Project, script: str, expected: object) -> None:
    assert value(project, EXPORT, script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(f"direnv exec .. {LAUNCH}", Known("1"), id="by its path"),
        pytest.param(f'exec direnv exec "$(git rev-parse --show-toplevel)" {LAUNCH}', Known("1"), id="by git's own"),
        pytest.param(f"export CUDA_DEVICE_MAX_CONNECTIONS=8\ndirenv exec .. {LAUNCH}", Known("1"), id="over its own"),
        pytest.param(f"direnv exec .. env CUDA_DEVICE_MAX_CONNECTIONS=8 {LAUNCH}", Known("8"), id="under others"),
        pytest.param(f"direnv exec ../other {LAUNCH}", None, id="that is not at hand"),
        pytest.param(f'direnv exec "$1" {LAUNCH}', None, id="that is not known"),
    ],
)
def test_direnv_starts_a_command_with_those_of_a_folder(project: Project, script: str, expected: object) -> None:
    assert value(project, EXPORT, f"cd $(dirname $0)\n{script}") == expected


@pytest.mark.parametrize("path", ["bin/train", "launch.py"])
def test_a_launcher_in_python_has_them_as_well(project: Project, path: str) -> None:
    assert value(project, EXPORT, PYTHON, path) == Known("1")


def test_the_image_of_the_project_has_not(project: Project) -> None:
    project.write(".envrc", EXPORT)
    project.write("Dockerfile", f"FROM x\nCMD {LAUNCH}\n")
    (recipe,) = project.runs("Dockerfile")
    assert variable(recipe) is None


def test_a_finding_stands_at_the_export(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    value(
        project, f"# queues\n{EXPORT}", f"{LAUNCH} --use-distributed-optimizer --data-parallel-sharding-strategy optim"
    )
    project.lint(".")
    assert ".envrc:2:36: error MFSDP501" in capsys.readouterr().out
