"""Launch commands: whatever stands in front of the program, and the environment and ranks that it says."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.values import NONE, UNKNOWN, Known
from mfsdp_lint.readers.shell.read import read_shell
from tests.shell import only_recipe, recipes

FLAGS = "--use-megatron-fsdp --ckpt-format fsdp_dtensor"


@pytest.mark.parametrize(
    "command",
    [
        "python pretrain_gpt.py",
        "python3 -u pretrain_gpt.py",
        "./pretrain_gpt.py",
        "torchrun --nproc_per_node 8 /opt/Megatron-LM/pretrain_gpt.py",
        "torchrun $DISTRIBUTED_ARGS ${ROOT}/pretrain_gpt.py",
        "python -m torch.distributed.run --nproc-per-node=8 pretrain_gpt.py",
        "uv run --no-sync python -m torch.distributed.run pretrain_gpt.py",
        "accelerate launch --num_processes 8 pretrain_gpt.py",
        "nsys profile -o out -t cuda,nvtx torchrun pretrain_gpt.py",
        "numactl --membind=0 python pretrain_gpt.py",
        "srun -N 4 --container-image=x:y --container-mounts=/a:/b python pretrain_gpt.py",
        "docker run --gpus all -v /a:/b nvcr.io/nvidia/nemo:25.07 torchrun pretrain_gpt.py",
        "time env A=b torchrun pretrain_gpt.py",
        "$LAUNCHER pretrain_gpt.py",
        "torchrun -m megatron.training.pretrain",
    ],
)
def test_the_program_is_found_behind_what_starts_it(command: str) -> None:
    recipe = only_recipe(f"{command} {FLAGS}\n")
    assert recipe.front_end == MEGATRON_LM
    assert recipe.setting("checkpoint.ckpt_format").value == Known("fsdp_dtensor")


@pytest.mark.parametrize(
    "command",
    [
        f"echo torchrun pretrain_gpt.py {FLAGS}",
        f"# torchrun pretrain_gpt.py {FLAGS}",
        f"cp pretrain_gpt.py {FLAGS}",
        f"grep -n x pretrain_gpt.py {FLAGS}",
        f'HELP="torchrun pretrain_gpt.py {FLAGS}"',
        "torchrun train.py --bf16 --lr 1e-4 --output-dir x",
        "python -c 'print(1)' --use-megatron-fsdp",
        f"cat > job.sh <<EOF\ntorchrun pretrain_gpt.py {FLAGS}\nEOF",
        f"if false; then torchrun pretrain_gpt.py {FLAGS}; fi",
        f"f() {{ torchrun pretrain_gpt.py {FLAGS}; }}",
        f"torchrun pretrain_gpt.py --yaml-cfg a.yaml {FLAGS}",
    ],
)
def test_what_starts_no_run_of_megatron_is_no_recipe(command: str) -> None:
    assert not recipes(f"{command}\n")


@pytest.mark.parametrize(
    ("script", "value"),
    [
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\nRUN", Known("1"), id="exported"),
        pytest.param("export A=2 CUDA_DEVICE_MAX_CONNECTIONS=1\nRUN", Known("1"), id="one export of several"),
        pytest.param("CUDA_DEVICE_MAX_CONNECTIONS=1\nexport CUDA_DEVICE_MAX_CONNECTIONS\nRUN", Known("1"), id="later"),
        pytest.param("CUDA_DEVICE_MAX_CONNECTIONS=1 RUN", Known("1"), id="in front of the command"),
        pytest.param("env CUDA_DEVICE_MAX_CONNECTIONS=1 RUN", Known("1"), id="env"),
        pytest.param("set -a\nCUDA_DEVICE_MAX_CONNECTIONS=1\nset +a\nRUN", Known("1"), id="all are exported"),
        pytest.param("docker run -e CUDA_DEVICE_MAX_CONNECTIONS=1 img RUN", Known("1"), id="docker -e"),
        pytest.param("kubectl run a --env=CUDA_DEVICE_MAX_CONNECTIONS=1 -- RUN", Known("1"), id="kubectl run"),
        pytest.param("kubectl exec a -- env CUDA_DEVICE_MAX_CONNECTIONS=1 RUN", Known("1"), id="kubectl exec"),
        pytest.param("srun --export=ALL,CUDA_DEVICE_MAX_CONNECTIONS=1 RUN", Known("1"), id="srun --export"),
        pytest.param("mpirun -x CUDA_DEVICE_MAX_CONNECTIONS=1 RUN", Known("1"), id="mpirun -x"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=${C:-1}\nRUN", Known("1"), id="a default"),
        pytest.param("declare -x CUDA_DEVICE_MAX_CONNECTIONS=1\nRUN", Known("1"), id="declare -x"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\nbash -c 'RUN'", Known("1"), id="handed on to a shell"),
        pytest.param("f() { export CUDA_DEVICE_MAX_CONNECTIONS=1; }\nf\nRUN", Known("1"), id="by a function"),
        pytest.param("CUDA_DEVICE_MAX_CONNECTIONS=1\nRUN", UNKNOWN, id="not exported"),
        pytest.param("CUDA_DEVICE_MAX_CONNECTIONS=1\nbash -c 'RUN'", UNKNOWN, id="not handed on"),
        pytest.param("RUN\nexport CUDA_DEVICE_MAX_CONNECTIONS=1", UNKNOWN, id="too late"),
        pytest.param("(export CUDA_DEVICE_MAX_CONNECTIONS=1)\nRUN", UNKNOWN, id="in a subshell"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\nsource gone.sh\nRUN", UNKNOWN, id="before who knows what"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\nsource v/bin/activate\nRUN", Known("1"), id="a venv"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\ndocker run img RUN", UNKNOWN, id="not into a container"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\nkubectl exec a -- RUN", UNKNOWN, id="nor into a pod"),
        pytest.param(
            "kubectl set env deploy/a CUDA_DEVICE_MAX_CONNECTIONS=1\nkubectl exec deploy/a -- RUN",
            UNKNOWN,
            id="what is set in a cluster is not followed",
        ),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\nenv -u CUDA_DEVICE_MAX_CONNECTIONS RUN", NONE, id="env -u"),
        pytest.param("export CUDA_DEVICE_MAX_CONNECTIONS=1\nenv -i PATH=$PATH RUN", NONE, id="env -i"),
        pytest.param("env - CUDA_DEVICE_MAX_CONNECTIONS=8 RUN", Known("8"), id="env - with a variable"),
        pytest.param(
            "export CUDA_DEVICE_MAX_CONNECTIONS=1\nunset CUDA_MAX_CONNECTIONS\nRUN", Known("1"), id="a misspelt unset"
        ),
    ],
)
def test_the_environment_at_the_moment_of_the_launch(script: str, value: object) -> None:
    recipe = only_recipe(script.replace("RUN", f"torchrun pretrain_gpt.py {FLAGS}") + "\n")
    assert recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == value


@pytest.mark.parametrize(
    ("words", "value"),
    [
        pytest.param("--env-file train.env", Known("1 # one"), id="all of the line, without its end"),
        pytest.param("--env-file=train.env -e CUDA_DEVICE_MAX_CONNECTIONS=8", Known("8"), id="-e counts more"),
        pytest.param("-e CUDA_DEVICE_MAX_CONNECTIONS=8 --env-file=train.env", Known("8"), id="wherever it stands"),
        pytest.param("--env-file gone.env", UNKNOWN, id="a file that is not there"),
    ],
)
def test_a_container_has_the_variables_of_a_file(words: str, value: object) -> None:
    text = "# no\r\n  CUDA_DEVICE_MAX_CONNECTIONS=1 # one\r\nPASSED_ON\r\n"
    recipe = only_recipe(f"docker run {words} img torchrun pretrain_gpt.py {FLAGS}\n", {"train.env": text})
    assert recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == value


@pytest.mark.parametrize(
    ("command", "ranks"),
    [
        ("torchrun --nproc_per_node 8 --nnodes 4", Known(32)),
        ("torchrun --nproc-per-node=8", Known(8)),
        ("GPUS=8; N=2; A=(--nproc_per_node $GPUS --nnodes $N); torchrun ${A[@]}", Known(16)),
        ("GPUS=8; torchrun --nproc_per_node $((GPUS * 2))", Known(16)),
        ("python -m torch.distributed.run --nproc_per_node 4", Known(4)),
        ("torchrun --nproc_per_node 8 --nnodes ${NNODES:-1}", UNKNOWN),
        ("torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES", UNKNOWN),
        ("torchrun --nproc_per_node gpu", UNKNOWN),
        ("torchrun --nnodes 1:4 --nproc_per_node 8", UNKNOWN),
        ("srun python", UNKNOWN),
    ],
)
def test_the_number_of_ranks(command: str, ranks: object) -> None:
    assert only_recipe(f"{command} pretrain_gpt.py {FLAGS}\n").setting("run.world_size").value == ranks


def test_flags_that_are_left_out_are_what_they_are_by_default() -> None:
    recipe = only_recipe(f"torchrun pretrain_gpt.py {FLAGS}\n")
    assert recipe.setting("model.pipeline_model_parallel_size").value == Known(1)


def test_where_there_may_be_more_flags_nothing_is_known_of_those_that_are_left_out() -> None:
    recipe = only_recipe(f"torchrun pretrain_gpt.py $(cat flags) {FLAGS}\n")
    assert recipe.setting("model.pipeline_model_parallel_size").value == UNKNOWN
    assert recipe.setting("checkpoint.ckpt_format").value == Known("fsdp_dtensor")


def test_overrides_of_a_recipe_are_a_piece_of_a_configuration() -> None:
    script = """
export CUDA_DEVICE_MAX_CONNECTIONS=1
OVERRIDES="ddp.use_megatron_fsdp=true"
OVERRIDES="$OVERRIDES ++checkpoint.ckpt_format=torch_dist"
torchrun train.py --recipe llama3_8b $OVERRIDES model.pipeline_model_parallel_size=2 checkpoint.save=$OUT
"""
    recipe = only_recipe(script)
    assert (recipe.kind, recipe.partial) == ("overrides", True)
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch_dist")
    assert recipe.setting("model.pipeline_model_parallel_size").value == Known(2)
    assert recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == Known("1")
    assert recipe.setting("checkpoint.load").value == UNKNOWN


def test_the_value_of_an_override_is_what_hydra_reads() -> None:
    words = "ddp.use_megatron_fsdp=true ddp.nccl_ub=yes ddp.bucket_size=0x10 checkpoint.save=~ 'ddp.x={a: on}'"
    recipe = only_recipe(f"torchrun train.py {words}\n")
    values = [recipe.setting(f"ddp.{name}").value for name in ("nccl_ub", "bucket_size", "x.a")]
    assert values == [Known("yes"), Known("0x10"), Known("on")]
    assert recipe.setting("checkpoint.save").value == UNKNOWN  # Hydra refuses it


def test_an_override_that_takes_a_key_away_leaves_the_value_of_the_recipe() -> None:
    recipe = only_recipe(
        "torchrun train.py ddp.nccl_ub=true ddp.use_megatron_fsdp=true checkpoint.save=a ~ddp.nccl_ub '~checkpoint'\n"
    )
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)
    assert [path for path in recipe.variants[0].settings if path.partition(".")[0] in ("ddp", "checkpoint")] == [
        "ddp",
        "ddp.use_megatron_fsdp",
    ]


def test_a_flag_of_a_framework_says_that_it_is_the_reader() -> None:
    recipe = only_recipe("torchrun pretrain_vlm.py --mm-model m.json --tensor-model-parallel-size 1\n")
    assert (recipe.front_end.name, recipe.front_end.core) == ("mindspeed-mm", "0.12.1")


@pytest.mark.parametrize(
    ("flag", "framework", "core"),
    [
        ("--training-phase sft", "loongforge", "0.15.0"),
        ("--npu-deterministic", "mindspeed", "0.12.1"),
        ("--npu-deterministic --mm-model m.json", "mindspeed-mm", "0.12.1"),
    ],
)
def test_a_framework_that_is_only_started_by_scripts(flag: str, framework: str, core: str) -> None:
    recipe = only_recipe(f"torchrun train.py {flag} --tensor-model-parallel-size 1\n")
    assert (recipe.front_end.name, recipe.front_end.core) == (framework, core)


SHARDS = "torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format torch_dist"
OVERRIDES = "torchrun run_recipe.py ddp.use_megatron_fsdp=true checkpoint.ckpt_format=torch_dist"
OPEN = {
    "words of a program": f"{SHARDS} $(python words.py)",
    "a list of such words": f'mapfile -t A < <(python words.py)\n{SHARDS} "${{A[@]}}"',
    "words that are read": f"cat words.txt | xargs {SHARDS}",
    "overrides behind others": f"{OVERRIDES} $(cat overrides.txt)",
}


@pytest.mark.parametrize("script", OPEN.values(), ids=OPEN)
def test_a_launch_that_unknown_words_leave_open_is_told(script: str) -> None:
    found = read_shell("train.sh", script + "\n")
    (recipe,) = found.recipes
    assert recipe.setting("checkpoint.ckpt_format").value == UNKNOWN
    (unfollowed,) = found.unfollowed
    assert "is given are not known" in unfollowed.message


def test_a_command_that_a_program_makes_is_told() -> None:
    (unfollowed,) = read_shell("train.sh", 'eval "$(python command.py)" --use-megatron-fsdp\n').unfollowed
    assert unfollowed.message == "the command that `eval` is given is not known"


def test_an_override_behind_unknown_words_is_known() -> None:
    recipe = only_recipe(f"{OVERRIDES.replace(' ddp', ' $(cat overrides.txt) ddp')}\n")
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch_dist")
