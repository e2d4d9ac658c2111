"""What misleads in real scripts: texts that look like settings and are none, and settings that look like none."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known
from tests.shell import only_recipe, recipes

FSDP = "ddp.use_megatron_fsdp"
FORMAT = "checkpoint.ckpt_format"


def run(script: str) -> str:
    """A script of which RUN is the launch of a model that is split by nothing."""
    return script.replace("RUN", "torchrun pretrain_gpt.py --tensor-model-parallel-size 1") + "\n"


@pytest.mark.parametrize(
    ("script", "path", "value"),
    [
        pytest.param(
            "# ARGS='--use-megatron-fsdp --ckpt-format torch_dist'\nRUN $ARGS",
            FSDP,
            Known(False),
            id="only in a comment",
        ),
        pytest.param(
            "# To use FSDP:\n# export CUDA_DEVICE_MAX_CONNECTIONS=1\nRUN",
            "env.CUDA_DEVICE_MAX_CONNECTIONS",
            UNKNOWN,
            id="a variable in a comment",
        ),
        pytest.param(
            "A=(\n--bf16\n# --use-megatron-fsdp\n--ckpt-format torch_dist # or fsdp_dtensor\n)\nRUN ${A[@]}",
            FSDP,
            Known(False),
            id="a comment among the elements of an array",
        ),
        pytest.param(
            "A=(\n--bf16\n# --use-megatron-fsdp\n--ckpt-format torch_dist # or fsdp_dtensor\n)\nRUN ${A[@]}",
            FORMAT,
            Known("torch_dist"),
            id="a comment behind an element",
        ),
        pytest.param("RUN --use-megatron-fsdp-v2", FSDP, Known(False), id="a flag that only begins like another"),
        pytest.param(
            "RUN --no-gradient-accumulation-fusion",
            "model.gradient_accumulation_fusion",
            Known(False),
            id="a flag that says no",
        ),
        pytest.param(
            "RUN --ckpt-format torch_dist --ckpt-format fsdp_dtensor",
            FORMAT,
            Known("fsdp_dtensor"),
            id="of two the last",
        ),
        pytest.param(
            'A="--bf16\n--use-megatron-fsdp\n--ckpt-format fsdp_dtensor"\nRUN $A',
            FORMAT,
            Known("fsdp_dtensor"),
            id="a quoted text of several lines needs no backslash",
        ),
        pytest.param(
            "cat <<EOF > job.sh\nRUN\n  --use-megatron-fsdp\nEOF\nsbatch job.sh",
            FSDP,
            Known(False),
            id="a script in a heredoc does",
        ),
        pytest.param(
            "cat <<'EOF' > job.sh\nRUN \\\n  --use-megatron-fsdp\nEOF\nsbatch job.sh",
            FSDP,
            Known(True),
            id="and has it",
        ),
        pytest.param("if false; then A=--use-megatron-fsdp; fi\nRUN $A", FSDP, Known(False), id="never true"),
        pytest.param('if [ 0 = 1 ]; then A=--use-megatron-fsdp; fi\nRUN "$A"', FSDP, Known(False), id="never equal"),
        pytest.param("if true; then A=--use-megatron-fsdp; fi\nRUN $A", FSDP, Known(True), id="always true"),
        pytest.param(
            "go() { local PP=${11}; RUN --pipeline-model-parallel-size $PP; }\ngo 1 2 3 4 5 6 7 8 9 10 2",
            "model.pipeline_model_parallel_size",
            Known(2),
            id="the eleventh argument",
        ),
        pytest.param(
            "go() { RUN --pipeline-model-parallel-size $11; }\ngo 4 2 3 4 5 6 7 8 9 10 2",
            "model.pipeline_model_parallel_size",
            Known(41),
            id="which without braces is the first and a one",
        ),
        pytest.param("A=(\"--split '99,1,0'\")\nRUN ${A[@]}", "args.split", Known("'99,1,0'"), id="quotes in quotes"),
        pytest.param(
            'A=("--ckpt-format fsdp_dtensor")\nRUN ${A[@]}', FORMAT, Known("fsdp_dtensor"), id="two in one element"
        ),
        pytest.param(
            'A=("--ckpt-format fsdp_dtensor")\nRUN "${A[@]}"', FORMAT, Known("torch_dist"), id="and not parted"
        ),
        pytest.param("A=-1\nRUN --use-megatron-fsdp --seed $A", "rng.seed", Known(-1), id="a number is no flag"),
    ],
)
def test_what_a_script_comes_to(script: str, path: str, value: object) -> None:
    for recipe in recipes(run(script)):
        assert recipe.setting(path).value == value
        return
    raise AssertionError("no recipe")


def test_a_value_from_a_file_that_is_read() -> None:
    files = {"env.sh": "export CKPT=torch_dist\nunset CUDA_DEVICE_MAX_CONNECTIONS\n"}
    recipe = only_recipe(run("source ./env.sh\nRUN --ckpt-format ${CKPT:-fsdp_dtensor}"), files)
    assert recipe.setting(FORMAT).value == Known("torch_dist")


def test_two_launches_of_one_script_are_two_runs() -> None:
    first, second = recipes(run("RUN --use-megatron-fsdp\nRUN"))
    assert (first.setting(FSDP).value, second.setting(FSDP).value) == (Known(True), Known(False))


def test_what_a_branch_sets_belongs_together() -> None:
    script = """
A=(--ckpt-format torch_dist)
export CUDA_DEVICE_MAX_CONNECTIONS=1
if [ "$USE_FSDP" = 1 ]; then
    unset CUDA_DEVICE_MAX_CONNECTIONS
    A=("${A[@]}" --use-megatron-fsdp --ckpt-format fsdp_dtensor)
fi
RUN "${A[@]}"
"""
    seen = {
        (variant.value(FSDP), variant.value(FORMAT), variant.value("env.CUDA_DEVICE_MAX_CONNECTIONS"))
        for variant in only_recipe(run(script)).variants
    }
    assert seen == {
        (Known(True), Known("fsdp_dtensor"), Known(None)),
        (Known(False), Known("torch_dist"), Known("1")),
    }


def test_a_submit_script_that_writes_its_job() -> None:
    script = """#!/bin/bash
FSDP=${FSDP:-1}
ARGS=(--tensor-model-parallel-size 1 --sequence-parallel)
if [ "${FSDP}" = 1 ]; then
    unset CUDA_DEVICE_MAX_CONNECTIONS
    ARGS=("${ARGS[@]}" --use-megatron-fsdp --ckpt-format fsdp_dtensor)
fi
CMD="
cd ${WHERE};
export NVTE_X=1;
python3 ${WHERE}/pretrain_gpt.py ${ARGS[@]}"
sbatch <<EOF
#!/bin/bash
#SBATCH --nodes=4
srun --container-image=${IMAGE} bash -x -c "${CMD}" 2>&1 | tee logs/\\${SLURM_JOB_ID}.log
EOF
"""
    recipe = only_recipe(script)
    assert recipe.setting(FSDP).value == Known(True)
    assert recipe.setting(FORMAT).value == Known("fsdp_dtensor")
    assert recipe.setting("model.sequence_parallel").value == Known(True)
    assert recipe.setting("env.NVTE_X").value == Known("1")
