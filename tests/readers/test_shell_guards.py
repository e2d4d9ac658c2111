"""Scripts as they are started properly: guards that end them, loops and programs that start what they are given."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known, Value
from tests.shell import only_recipe, recipes

LAUNCH = "torchrun pretrain_gpt.py --use-megatron-fsdp"


@pytest.mark.parametrize(
    ("guard", "requires"),
    [
        pytest.param('if [[ -z "${WANDB_API_KEY:-}" ]]; then exit 1; fi', ("$WANDB_API_KEY",), id="no default"),
        pytest.param('DATA=${DATA:-""}\n[ -n "$DATA" ] || { echo no; exit 1; }', ("$DATA",), id="or"),
        pytest.param('DATA=${1:-}\nif [ -z "$DATA" ]; then usage; exit 1; fi', ("$1",), id="an argument"),
        pytest.param('[[ "${SLURM_JOB_ID:-}" == "" ]] && exit 2', ("$SLURM_JOB_ID",), id="compared with nothing"),
        pytest.param('IMAGE=""\nif [ -z "$IMAGE" ]; then exit 1; fi', ("$IMAGE",), id="to be filled in"),
        pytest.param('MODE=${1:-help}\nif [ "$MODE" = help ]; then exit 0; fi', ("$1",), id="help by default"),
        pytest.param(
            'A=${A:-}\nB=${B:-}\nif [[ -z "$A" || -z "$B" ]]; then exit 1; fi', ("$A", "$B"), id="one of two missing"
        ),
        pytest.param(
            'A=""\nB=""\nif [[ -z "$A" ]] || [[ -z "$B" ]]; then exit 1; fi\ncase "$B" in 1) X=1;; *) exit 1;; esac',
            ("$A", "$B"),
            id="one of two missing, in two tests",
        ),
        pytest.param(
            'A=""\nB=""\n[[ -n "$A" ]] && [[ -n "$B" ]] || exit 1', ("$A", "$B"), id="two there, in two tests"
        ),
        pytest.param("if [[ -z ${DATA+x} ]]; then exit 1; fi", ("$DATA",), id="not set"),
        pytest.param(
            'if [ -z "${DATA:-}" ]; then echo "usage: DATA=/d bash run.sh"; exit 1; fi', ("$DATA",), id="said in a text"
        ),
        pytest.param(
            'if [ -z "${DATA:-}" ]; then\n  # export DATA first\n  exit 1\nfi', ("$DATA",), id="said in a comment"
        ),
        pytest.param(': "${DATA:?where is it}" ${OUT?}', ("$DATA", "$OUT"), id="required"),
        pytest.param("DATA=${1:?usage: run.sh DATA}", ("$1",), id="a required argument"),
        pytest.param('IMAGE=""\n: "${IMAGE:?fill it in}"', ("$IMAGE",), id="required, to be filled in"),
        pytest.param("DATA=${DATA:-}\n: ${DATA:?}", ("$DATA",), id="required, with an empty default"),
        pytest.param("DATA=/d\n: ${DATA:?}", (), id="required, and there"),
        pytest.param("MODE=${1:-help}\ncase $MODE in help) exit 0;; train) X=1;; esac", ("$1",), id="case"),
    ],
)
def test_a_guard_that_only_ends_the_script_is_passed(guard: str, requires: tuple[str, ...]) -> None:
    recipe = only_recipe(f"{guard}\n{LAUNCH}\n")
    assert recipe.command is not None
    assert recipe.command.requires == requires
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)


@pytest.mark.parametrize(
    ("script", "requires"),
    [
        pytest.param("export DATA=/d\nbash run.sh", (), id="exported"),
        pytest.param("DATA=/d bash run.sh", (), id="in front of the command"),
        pytest.param("sbatch --export=ALL,DATA=/d run.sh", (), id="by a scheduler's option"),
        pytest.param("bash run.sh", ("$DATA",), id="by nobody"),
        pytest.param("DATA=/d\nbash run.sh", ("$DATA",), id="not exported, unless it was before"),
        pytest.param(': "${DATA:?}"\nexport DATA\nbash run.sh', ("$DATA",), id="by who starts the caller"),
    ],
)
def test_a_variable_that_a_script_requires_is_given_by_the_one_that_starts_it(
    script: str, requires: tuple[str, ...]
) -> None:
    (recipe,) = recipes(f"{script}\n", {"run.sh": f": ${{DATA:?}}\n{LAUNCH} --data-path $DATA\n"})
    assert recipe.command is not None
    assert recipe.command.requires == requires


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("unset DATA\nbash run.sh", id="taken away"),
        pytest.param("DATA= bash run.sh", id="empty"),
    ],
)
def test_a_script_without_what_it_requires_launches_nothing(script: str) -> None:
    assert recipes(f"{script}\n", {"run.sh": f": ${{DATA:?}}\n{LAUNCH}\n"}) == []


def test_a_function_without_its_argument_ends_the_script() -> None:
    assert recipes(f"f() {{ local a=${{1:?}}; {LAUNCH}; }}\nf\n{LAUNCH}\n") == []


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"X=1\nif [ -n $X ]; then exit; fi\n{LAUNCH}\n", id="nothing is missing"),
        pytest.param(f'A=$([ -z "${{X:-}}" ] && exit)\nexit\n{LAUNCH}\n', id="in a subshell"),
    ],
)
def test_a_script_that_surely_ends_launches_nothing_behind_that(script: str) -> None:
    assert recipes(script) == []


def test_an_empty_switch_that_ends_nothing_stays_off() -> None:
    recipe = only_recipe(f'F=""\nif [ -n "$F" ]; then A=--overlap-grad-reduce; fi\n{LAUNCH} $A\n')
    assert recipe.command is not None
    assert recipe.command.requires == ()


@pytest.mark.parametrize(
    ("words", "path", "value"),
    [
        pytest.param("--use-torch-fsdp2", "dist.use_torch_fsdp2", Known(True), id="torch FSDP2 alone"),
        pytest.param(
            "--ckpt-format fsdp_dtensor --micro-batch-size 1",
            "checkpoint.ckpt_format",
            Known("fsdp_dtensor"),
            id="format",
        ),
    ],
)
def test_a_run_without_parallel_sizes_is_a_run(words: str, path: str, value: object) -> None:
    assert only_recipe(f"torchrun pretrain_gpt.py {words}\n").setting(path).value == value


@pytest.mark.parametrize("end", ["2 \\\n", "2 \\", "2 --save $1 \\\n", "2 --save $1 \\\n\n"])
def test_the_backslash_of_the_last_line_goes_on_with_nothing(end: str) -> None:
    recipe = only_recipe(f"{LAUNCH} \\\n  --tensor-model-parallel-size {end}")
    assert recipe.setting("model.tensor_model_parallel_size").value == Known(2)


def test_a_converter_with_a_format_is_no_run() -> None:
    assert recipes("python tools/convert.py --ckpt-format fsdp_dtensor\n") == []


def test_an_argument_of_the_script_does_not_undo_a_flag() -> None:
    recipe = only_recipe(f"DATA=$2\n{LAUNCH} --ckpt-format torch_dist --data-path $DATA $1\n")
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch_dist")
    assert recipe.setting("model.tensor_model_parallel_size").value == UNKNOWN


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"until {LAUNCH}; do sleep 5; done", id="until"),
        pytest.param(f"while ! {LAUNCH}; do sleep 5; done", id="while not"),
        pytest.param(f'retry() {{ until "$@"; do sleep 5; done; }}\nretry {LAUNCH}', id="a function that retries"),
        pytest.param(f'ssh host "cd /x && {LAUNCH}"', id="ssh"),
        pytest.param(f'pdsh -w a,b "{LAUNCH}"', id="pdsh"),
        pytest.param(f'tmux new -d -s t "{LAUNCH} 2>&1 | tee log"', id="tmux"),
        pytest.param(f'parallel -N0 "{LAUNCH}" ::: 1 2', id="parallel"),
        pytest.param(
            "O=(--use-megatron-fsdp)\nS=$(printf '%s ' \"${O[@]}\")\ntorchrun pretrain_gpt.py $S", id="printf"
        ),
        pytest.param("torchrun pretrain_gpt.py $(cat args.txt)", id="cat"),
        pytest.param("A=$(<args.txt)\ntorchrun pretrain_gpt.py $A", id="a file read"),
    ],
)
def test_wrappers_start_what_they_are_given(script: str) -> None:
    (recipe,) = recipes(f"{script}\n", {"args.txt": "--use-megatron-fsdp\n"})
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)


def test_another_machine_has_not_the_environment_of_the_script() -> None:
    recipe = only_recipe(f'export CUDA_DEVICE_MAX_CONNECTIONS=1\nssh host "{LAUNCH}"\n')
    assert recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == UNKNOWN


@pytest.mark.parametrize(
    ("script", "found"),
    [
        pytest.param("#SBATCH --export=ALL,{},NCCL_DEBUG=WARN\n", Known("1"), id="Slurm"),
        pytest.param("#SBATCH --export ALL,{}\n", Known("1"), id="Slurm, apart"),
        pytest.param("#PBS -v {},A=b\n", Known("1"), id="PBS"),
        pytest.param('#BSUB -env "all,{}"\n', Known("1"), id="LSF"),
        pytest.param("#SBATCH --export=ALL,{}\nexport CUDA_DEVICE_MAX_CONNECTIONS=8\n", Known("8"), id="set again"),
        pytest.param("#SBATCH --export=ALL,CUDA_DEVICE_MAX_CONNECTIONS\n", UNKNOWN, id="the caller's"),
        pytest.param("##SBATCH --export=ALL,{}\n", UNKNOWN, id="a comment"),
    ],
)
def test_a_script_asks_its_scheduler_for_variables(script: str, found: Value) -> None:
    recipe = only_recipe(f"#!/bin/bash\n{script.format('CUDA_DEVICE_MAX_CONNECTIONS=1')}{LAUNCH}\n")
    assert recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == found


def test_every_element_of_an_array_by_the_number_of_a_task_is_a_way() -> None:
    recipe = only_recipe(f"F=(torch_dist fsdp_dtensor)\nX=${{F[$SLURM_ARRAY_TASK_ID]}}\n{LAUNCH} --ckpt-format $X\n")
    assert [(each.when, each.value("checkpoint.ckpt_format")) for each in recipe.variants] == [
        (("SLURM_ARRAY_TASK_ID=0",), Known("torch_dist")),
        (("SLURM_ARRAY_TASK_ID=1",), Known("fsdp_dtensor")),
    ]
