"""Which variables of a script a program sees behind a scheduler, a container or another user's shell."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import Known
from tests.shell import only_recipe

NAME = "CUDA_DEVICE_MAX_CONNECTIONS"
EXPORT = f"export {NAME}=1\n"
LAUNCH = "torchrun pretrain_gpt.py --tensor-model-parallel-size 1 --use-megatron-fsdp\n"
JOB = "#!/bin/bash\n#SBATCH --export=NONE\n"


def is_seen(script: str) -> bool:
    return only_recipe(script).setting(f"env.{NAME}").value == Known("1")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"{EXPORT}srun {LAUNCH}", id="srun"),
        pytest.param(f"{EXPORT}srun --export=ALL,A=1 {LAUNCH}", id="all, and more"),
        pytest.param(f"{EXPORT}srun --export={NAME} {LAUNCH}", id="by its name"),
        pytest.param(f"srun --export=NONE,{NAME}=1 {LAUNCH}", id="set on the way"),
        pytest.param(f"{JOB}{EXPORT}{LAUNCH}", id="a job without srun"),
        pytest.param(f"{JOB}unset SLURM_EXPORT_ENV\n{EXPORT}srun {LAUNCH}", id="a job that passes all on again"),
        pytest.param(f"{EXPORT}apptainer exec x.sif {LAUNCH}", id="apptainer"),
        pytest.param(f"{EXPORT}apptainer exec --cleanenv --env {NAME}=1 x.sif {LAUNCH}", id="set for the container"),
        pytest.param(f"export APPTAINERENV_{NAME}=1\napptainer exec x.sif {LAUNCH}", id="by apptainer's own name"),
        pytest.param(
            f"export {NAME}=8 APPTAINERENV_{NAME}=1\napptainer exec --cleanenv x.sif {LAUNCH}",
            id="into a clean environment",
        ),
        pytest.param(
            f"export APPTAINERENV_{NAME}=1\napptainer exec --cleanenv x.sif bash -c '{LAUNCH}'", id="to a shell in one"
        ),
        pytest.param(f"export {NAME}=8\nbsub -env 'all, {NAME}=1' <<EOF\n{LAUNCH}EOF\n", id="bsub, another value"),
        pytest.param(f"{EXPORT}bsub -env 'HOME, {NAME}' <<EOF\n{LAUNCH}EOF\n", id="bsub, by its name"),
        pytest.param(f"{EXPORT}docker run -e {NAME} image {LAUNCH}", id="docker, by its name"),
        pytest.param(f"{EXPORT}docker run --env={NAME} image {LAUNCH}", id="docker, behind an equals sign"),
        pytest.param(f"{EXPORT}docker run -e {NAME} image bash -c '{LAUNCH}'", id="docker, to a shell in it"),
        pytest.param(f"{EXPORT}qsub -v HOME,{NAME} <<EOF\n{LAUNCH}EOF\n", id="qsub, by its name"),
        pytest.param(f"sudo {NAME}=1 {LAUNCH}", id="sudo, set on the way"),
        pytest.param(
            f"torchx run dist.ddp --env A=2,{NAME}=1 --script pretrain_gpt.py -- --use-megatron-fsdp", id="torchx"
        ),
    ],
)
def test_a_variable_is_passed_on(script: str) -> None:
    assert is_seen(script)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"{EXPORT}srun --export=NONE {LAUNCH}", id="none"),
        pytest.param(f"{EXPORT}srun --export=HOME,PATH {LAUNCH}", id="others, by their names"),
        pytest.param(f"{EXPORT}srun --export=NCCL_DEBUG=WARN {LAUNCH}", id="others, with values"),
        pytest.param(f"{JOB}{EXPORT}srun {LAUNCH}", id="a job that passes nothing on"),
        pytest.param(f"{EXPORT}apptainer exec --cleanenv x.sif {LAUNCH}", id="a clean environment"),
        pytest.param(f"{EXPORT}singularity exec --containall x.sif {LAUNCH}", id="nothing of the host"),
        pytest.param(f"{EXPORT}docker run -e OTHER image {LAUNCH}", id="docker, another one"),
        pytest.param(f"{EXPORT}docker run -e OTHER image bash -c '{LAUNCH}'", id="docker, another one to a shell"),
        pytest.param(f"{EXPORT}ssh node docker run -e {NAME} image {LAUNCH}", id="docker on another machine"),
        pytest.param(f"{EXPORT}qsub -v HOME <<EOF\n{LAUNCH}EOF\n", id="qsub, another one"),
        pytest.param(f"{EXPORT}bsub -env 'all, ~{NAME}' <<EOF\n{LAUNCH}EOF\n", id="bsub, taken away"),
        pytest.param(f"{EXPORT}bsub -env none <<EOF\n{LAUNCH}EOF\n", id="bsub, none"),
        pytest.param(
            f"export APPTAINERENV_{NAME}=1\napptainer exec --cleanenv x.sif env -u {NAME} {LAUNCH}",
            id="taken away inside",
        ),
    ],
)
def test_a_variable_is_not_passed_on(script: str) -> None:
    assert not is_seen(script)
