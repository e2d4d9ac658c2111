"""Ways through a script: branches, cases, loops, functions, other scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NONE, NOT_NONE, Known
from mfsdp_lint.readers.shell.read import read_shell
from tests.shell import only_recipe, recipes

LAUNCH = "torchrun pretrain_gpt.py --tensor-model-parallel-size 1"


def sides(recipe: Recipe, path: str = "checkpoint.ckpt_format") -> list[object]:
    return [variant.value(path) for variant in recipe.variants]


@pytest.mark.parametrize(
    "condition",
    [
        '[ "$X" = 1 ]',
        "[[ $X == 1 ]]",
        "[[ $X == [0-9] ]]",
        "[[ -n $Y || $X == [0-9] ]]",
        "[[ -z $Y && ( $X == 1* ) ]]",
        "((X == 1))",
        "declare -A on=([a]=1 [b]=0) && k=a && ((on[$k]))",
        "declare -A on=([a]=1 [b]=0) && ! ((on[b] || on[c]))",
        '[ "$X" -ge 1 ]',
        "test $X = 1",
        '[ -n "$X" ] && [ -z "$Y" ]',
        '! [ "$X" = 2 ]',
        "true",
    ],
)
def test_a_condition_that_is_known_takes_one_side(condition: str) -> None:
    recipe = only_recipe(f"X=1\nY=\nF=torch\nif {condition}; then F=fsdp_dtensor; fi\n{LAUNCH} --ckpt-format $F\n")
    assert sides(recipe) == [Known("fsdp_dtensor")]


@pytest.mark.parametrize("before", range(1, 9))
def test_flags_are_known_however_many_conditions_are_not(before: int) -> None:
    others = "".join(f"if probe{n}; then V{n}=1; else V{n}=2; fi\n" for n in range(before))
    flags = "if [ $MODE = fsdp ]; then A=(--ckpt-format fsdp_dtensor); else A=(--ckpt-format torch_dist); fi"
    recipe = only_recipe(f'{others}{flags}\n{LAUNCH} --lr $V0 "${{A[@]}}"\n')
    assert {side.value for side in sides(recipe) if isinstance(side, Known)} == {"fsdp_dtensor", "torch_dist"}


def test_both_sides_of_an_unknown_condition_stay_apart() -> None:
    script = f"""
A=(--ckpt-format torch_dist)
if [ "$USE_FSDP" = 1 ]; then
  A+=(--use-megatron-fsdp --ckpt-format fsdp_dtensor)
fi
{LAUNCH} "${{A[@]}}"
"""
    recipe = only_recipe(script)
    assert [
        (variant.when, variant.value("ddp.use_megatron_fsdp"), variant.value("checkpoint.ckpt_format"))
        for variant in recipe.variants
    ] == [
        (('[ "$USE_FSDP" = 1 ]',), Known(True), Known("fsdp_dtensor")),
        (('not [ "$USE_FSDP" = 1 ]',), Known(False), Known("torch_dist")),
    ]


def test_ways_with_other_positional_parameters_stay_apart() -> None:
    script = f"""
set -- fsdp_dtensor torch_dist
if [ "$SKIP_FIRST" = 1 ]; then
  shift
fi
{LAUNCH} --ckpt-format "$1"
"""
    assert sides(only_recipe(script)) == [Known("torch_dist"), Known("fsdp_dtensor")]


def test_the_same_question_has_the_same_answer() -> None:
    script = f"""
if [ "$X" = 1 ]; then A=--use-megatron-fsdp; fi
if [ "$X" = 1 ]; then F=fsdp_dtensor; else F=torch; fi
{LAUNCH} ${{A:-}} --ckpt-format $F
"""
    assert sides(only_recipe(script)) == [Known("fsdp_dtensor"), Known("torch")]


def test_a_side_says_what_the_variable_is() -> None:
    script = f'if [ "$F" = torch ]; then {LAUNCH} --ckpt-format $F; fi\n'
    assert sides(only_recipe(script)) == [Known("torch")]


def test_a_switch_that_is_off_by_default_is_looked_at_turned_on() -> None:
    script = f"""
FSDP=${{FSDP:-0}}
A=()
if [ "$FSDP" = 1 ]; then A+=(--use-megatron-fsdp); fi
{LAUNCH} "${{A[@]}}"
"""
    recipe = only_recipe(script)
    assert sides(recipe, "ddp.use_megatron_fsdp") == [Known(False)]
    assert [(each.exposed, each.value("ddp.use_megatron_fsdp")) for each in recipe.exposed] == [
        (("$FSDP",), Known(True))
    ]


def test_a_case_on_a_known_word() -> None:
    script = f"""
M=8b
case "$M" in
  70b) F=torch ;;
  8b|7b) F=fsdp_dtensor ;;
  *) F=torch_dist ;;
esac
{LAUNCH} --ckpt-format $F
"""
    assert sides(only_recipe(script)) == [Known("fsdp_dtensor")]


def test_a_case_on_a_default_is_looked_at_for_its_other_items_too() -> None:
    script = f"""
SIZE=${{1:-8b}}
case "$SIZE" in
  8b) F=fsdp_dtensor ;;
  70b|72b) F=torch_dist ;;
  *) echo usage; exit 1 ;;
esac
{LAUNCH} --use-megatron-fsdp --ckpt-format $F --num-layers ${{SIZE%b}}
"""
    recipe = only_recipe(script)
    assert sides(recipe) == [Known("fsdp_dtensor")]
    assert [
        (each.when, each.exposed, each.value("checkpoint.ckpt_format"), each.value("model.num_layers"))
        for each in recipe.exposed
    ] == [(("SIZE=70b",), ("$1",), Known("torch_dist"), Known(70))]


def test_what_a_pipe_reads_of_a_switch_is_what_its_default_prints() -> None:
    script = f"""
WRAPPER=${{1:-fsdp}}
flags() {{
  if [ "$1" = fsdp ]; then echo --use-megatron-fsdp; else echo --sequence-parallel; fi
  echo --ckpt-format fsdp_dtensor
}}
{LAUNCH} $(flags $WRAPPER | tr '\\n' ' ')
"""
    recipe = only_recipe(script)
    assert sides(recipe) == [Known("fsdp_dtensor")]
    assert sides(recipe, "ddp.use_megatron_fsdp") == [Known(True)]


def test_the_other_items_of_a_case_matter_where_fsdp_is_on() -> None:
    script = f"""
case "${{MODE:-ddp}}" in
  ddp) A=() ;;
  fsdp) A=(--use-megatron-fsdp --ckpt-format fsdp_dtensor) ;;
  profile) A=(--profile) ;;
esac
{LAUNCH} "${{A[@]}}"
"""
    recipe = only_recipe(script)
    assert sides(recipe, "ddp.use_megatron_fsdp") == [Known(False)]
    assert [(each.when, each.value("ddp.use_megatron_fsdp")) for each in recipe.exposed] == [
        (("MODE=fsdp",), Known(True))
    ]


def test_a_variable_that_adds_a_flag_is_looked_at_turned_on_where_fsdp_is_on() -> None:
    script = f"""
LONG=${{LONG:-0}}
A=(--use-megatron-fsdp)
if [ "$LONG" = 1 ]; then A+=(--context-parallel-size 8); fi
{LAUNCH} "${{A[@]}}"
"""
    recipe = only_recipe(script)
    assert sides(recipe, "model.context_parallel_size") == [Known(1)]
    assert [(each.exposed, each.value("model.context_parallel_size")) for each in recipe.exposed] == [
        (("$LONG",), Known(8))
    ]


def test_a_case_on_an_unknown_word_has_a_way_for_each() -> None:
    script = f"""
case "$M" in
  70b) F=torch ;;
  8b) F=fsdp_dtensor ;;
  *) echo usage; exit 1 ;;
esac
{LAUNCH} --ckpt-format $F
"""
    assert sides(only_recipe(script)) == [Known("torch"), Known("fsdp_dtensor")]


def test_a_way_that_ends_launches_nothing() -> None:
    assert not recipes(f"if [ 1 = 1 ]; then exit 1; fi\n{LAUNCH} --bf16\n")


def test_a_loop_over_words_launches_each() -> None:
    recipe = only_recipe(f"for F in torch fsdp_dtensor; do\n  {LAUNCH} --ckpt-format $F\ndone\n")
    assert [(variant.when, variant.value("checkpoint.ckpt_format")) for variant in recipe.variants] == [
        (("F=torch",), Known("torch")),
        (("F=fsdp_dtensor",), Known("fsdp_dtensor")),
    ]


def test_arguments_that_a_script_looks_for_are_not_given() -> None:
    script = f"""
F=torch
while [[ $# -gt 0 ]]; do
  case $1 in --format) F=$2; shift 2 ;; esac
done
{LAUNCH} --ckpt-format $F
"""
    assert sides(only_recipe(script)) == [Known("torch")]


def test_two_launches_are_two_runs() -> None:
    found = recipes(f"{LAUNCH} --ckpt-format torch\n{LAUNCH} --ckpt-format fsdp_dtensor\n")
    assert [(each.name, each.line, each.setting("checkpoint.ckpt_format").value) for each in found] == [
        ("train.sh[1]", 1, Known("torch")),
        ("train.sh[2]", 2, Known("fsdp_dtensor")),
    ]


def test_functions_have_parameters() -> None:
    script = f'run() {{\n  local f=$1; shift\n  {LAUNCH} --ckpt-format $f "$@"\n}}\nrun torch --bf16\n'
    recipe = only_recipe(script)
    assert (sides(recipe), recipe.setting("model.bf16").value) == ([Known("torch")], Known(True))


def test_a_file_that_is_sourced_sets_variables() -> None:
    sources = {"conf/env.sh": "export CUDA_DEVICE_MAX_CONNECTIONS=1\nF=torch\n"}
    recipe = only_recipe(f'source "$(dirname "$0")/conf/env.sh"\n{LAUNCH} --ckpt-format $F\n', sources)
    assert sides(recipe) == [Known("torch")]
    variable = recipe.setting("env.CUDA_DEVICE_MAX_CONNECTIONS")
    assert variable.value == Known("1")
    assert variable.origin is not None
    assert variable.origin.span.path == "conf/env.sh"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f'CMD="{LAUNCH} --ckpt-format torch"\neval $CMD\n', id="eval"),
        pytest.param(f'CMD="{LAUNCH} --ckpt-format torch"\n$CMD\n', id="a variable that is the command"),
        pytest.param(f"srun bash -c '{LAUNCH} --ckpt-format torch'\n", id="bash -c"),
        pytest.param(f'F=torch\nsrun sh -c "{LAUNCH} --ckpt-format $F"\n', id="sh -c in double quotes"),
        pytest.param(f"sbatch <<EOF\n#!/bin/bash\n{LAUNCH} --ckpt-format torch\nEOF\n", id="a heredoc for sbatch"),
        pytest.param(
            f"cat > job.sh <<'EOF'\n{LAUNCH} --ckpt-format torch\nEOF\nsbatch job.sh\n",
            id="a script that is written first",
        ),
        pytest.param(f'sbatch --nodes 2 --wrap "{LAUNCH} --ckpt-format torch"\n', id="sbatch --wrap"),
        pytest.param(
            f'C=$(cat <<- EOM\n\t{LAUNCH} --ckpt-format torch\nEOM\n)\nbash -c "$C"\n', id="a heredoc that is captured"
        ),
        pytest.param(f"( cd x && {LAUNCH} --ckpt-format torch ) 2>&1 | tee log\n", id="a subshell in a pipe"),
        pytest.param(f"exec {LAUNCH} --ckpt-format torch\n", id="exec"),
        pytest.param(f"{LAUNCH} --ckpt-format torch &\nwait\n", id="in the background"),
        pytest.param(f"{{ {LAUNCH} --ckpt-format torch; }} || exit 1\n", id="a group"),
    ],
)
def test_scripts_within_scripts(script: str) -> None:
    assert sides(only_recipe(script)) == [Known("torch")]


def test_more_ways_than_are_kept_apart_become_unknown_and_nothing_else() -> None:
    branches = "".join(f'if [ "$X{number}" = y ]; then V{number}=1; else V{number}=2; fi\n' for number in range(12))
    recipe = only_recipe(f"{branches}{LAUNCH} --ckpt-format torch\n")
    assert set(sides(recipe)) == {Known("torch")}


def test_an_unset_variable_is_not_in_the_environment() -> None:
    script = f"export CUDA_DEVICE_MAX_CONNECTIONS=1\nunset CUDA_DEVICE_MAX_CONNECTIONS\n{LAUNCH} --bf16\n"
    assert only_recipe(script).setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == NONE


@pytest.mark.parametrize(
    ("submit", "value"),
    [
        ("sbatch job.sh", Known("1")),
        ("bsub < job.sh", Known("1")),
        ('bsub -q gpu "jsrun -n 4 ./job.sh"', Known("1")),
        ('bsub "jsrun -E CUDA_DEVICE_MAX_CONNECTIONS=8 ./job.sh"', Known("8")),
        ("srun --container-image=x --exclusive job.sh", Known("1")),
        ("qsub -V job.sh", Known("1")),
        ("qsub -v A=b,CUDA_DEVICE_MAX_CONNECTIONS=8 job.sh", Known("8")),
        ("qsub job.sh", None),
    ],
)
def test_a_job_has_the_environment_that_its_scheduler_passes_on(submit: str, value: object) -> None:
    files = {"job.sh": f"{LAUNCH} --bf16\n"}
    found = only_recipe(f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{submit}\n", files)
    setting = found.variants[0].settings.get("env.CUDA_DEVICE_MAX_CONNECTIONS")
    assert (setting and setting.value) == value


@pytest.mark.parametrize("start", ["bash", "srun", "ray job submit -- bash", "exec sh"])
def test_a_script_that_another_starts_knows_its_own_folder(start: str) -> None:
    files = {
        "jobs/train.sh": f'#!/bin/bash\nsource "$(dirname "$0")/format.sh"\n{LAUNCH} --ckpt-format $F\n',
        "jobs/format.sh": "F=torch\n",
    }
    assert sides(only_recipe(f"{start} jobs/train.sh\n", files)) == [Known("torch")]


@pytest.mark.parametrize(
    "start",
    [
        'docker run -v "$PWD":/work:ro -w /work image bash jobs/train.sh',
        "docker run --mount type=bind,source=$(pwd)/jobs,target=/opt/jobs image bash /opt/jobs/train.sh",
        "podman run --volume ./jobs:/j -v data:/data image /j/train.sh",
        "srun --container-mounts=/d:/d,$SLURM_SUBMIT_DIR:/work bash -c 'cd /work && bash jobs/train.sh'",
        'apptainer exec -B "$(dirname "$0")":/work image.sif bash /work/jobs/train.sh',
    ],
)
def test_a_container_has_the_folders_of_the_tree_that_it_is_given(start: str) -> None:
    files = {
        "jobs/train.sh": f'#!/bin/bash\nsource "$(dirname "$0")/format.sh"\n{LAUNCH} --ckpt-format $F\n',
        "jobs/format.sh": "F=torch\n",
    }
    assert sides(only_recipe(f"{start}\n", files)) == [Known("torch")]


def _with_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clusters: Mapping[str, str], name: str) -> Recipe:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "env").mkdir()
    for each, text in clusters.items():
        (tmp_path / "env" / f"{each}.sh").write_text(text, encoding="utf-8")
    (recipe,) = read_shell("run.sh", f"TP=1\n{name}\n{LAUNCH} --tensor-model-parallel-size $TP\n").recipes
    return recipe


@pytest.mark.parametrize(
    "name", ["source env/$CLUSTER.sh", '. "$(dirname "$0")/env/${1}.sh"', "source env/$(hostname).sh"]
)
def test_a_file_that_is_named_in_part_is_one_of_those_that_are_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = _with_clusters(tmp_path, monkeypatch, {"small": "TP=2\n", "large": "TP=8\n"}, name)
    found = {each.when: each.value("model.tensor_model_parallel_size") for each in recipe.variants}
    assert found == {("source env/large.sh",): Known(8), ("source env/small.sh",): Known(2)}


def test_where_many_files_may_be_meant_what_all_leave_alone_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"c{number}": f"SIZE={number}\n" for number in range(9)}
    recipe = _with_clusters(tmp_path, monkeypatch, many, "source env/$CLUSTER.sh")
    assert [each.value("model.tensor_model_parallel_size") for each in recipe.variants] == [Known(1)]


@pytest.mark.parametrize("name", ['source "$1"', 'source "$(dirname "$0")/$1.sh"', "source elsewhere/$1.sh"])
def test_a_file_of_which_no_folder_is_named_may_set_anything(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = _with_clusters(tmp_path, monkeypatch, {"small": "X=2\n"}, name)
    assert [each.value("model.tensor_model_parallel_size") for each in recipe.variants] == [NOT_NONE]


def test_a_file_that_a_person_may_give_leaves_the_run_without_it_known() -> None:
    script = f'TP=1\nif [ -n "$SETUP" ]; then source $SETUP; fi\n{LAUNCH} --tensor-model-parallel-size $TP\n'
    assert [each.value("model.tensor_model_parallel_size") for each in only_recipe(script).variants] == [Known(1)]


def test_the_size_of_a_job_is_what_its_own_lines_ask_for_unless_somebody_says_otherwise() -> None:
    script = f"""#!/bin/bash
#SBATCH --nodes=8
#SBATCH --ntasks-per-node 4 # one a GPU
PER_POD=${{PER_POD:-4}}
INSTANCES=$((SLURM_JOB_NUM_NODES / PER_POD))
{LAUNCH} --num-distributed-optimizer-instances $INSTANCES --micro-batch-size $SLURM_NTASKS_PER_NODE
"""
    recipe = only_recipe(script)
    assert sides(recipe, "ddp.num_distributed_optimizer_instances") == [Known(2)]
    assert sides(recipe, "train.micro_batch_size") == [Known(4)]
    origin = recipe.variants[0].origin("train.micro_batch_size")
    assert origin is not None
    assert origin.option == "$SLURM_NTASKS_PER_NODE"


def test_a_sweep_with_more_ways_than_can_be_kept_apart_is_followed_with_fewer() -> None:
    choices = "".join(f"if probe{n}; then A{n}=--lr={n}; else A{n}=--seed={n}; fi\n" for n in range(5))
    entries = " ".join(f'"{2**n} run{n}"' for n in range(14))
    script = f"""{choices}
for entry in {entries}; do
  read -r MBS LABEL <<< "$entry"
  {LAUNCH} $A0 $A1 $A2 $A3 $A4 --use-megatron-fsdp --ckpt-format torch_dist --micro-batch-size $MBS | tee "$LABEL.log"
  if [ "${{PIPESTATUS[0]}}" = 0 ]; then STATUS=ok
  elif grep -q memory "$LABEL.log"; then STATUS="no memory ($(grep -o GiB "$LABEL.log" | head -1))"
  else STATUS=failed; fi
  for i in 1 2 3 4 5 6 7 8 9 10; do
    USED=$(nvidia-smi --query-gpu=memory.used)
    if [ -n "$USED" ] && [ "$USED" -lt 100 ]; then break; fi
  done
done
"""
    found = read_shell("sweep.sh", script)
    assert found.problems == []
    assert {value for recipe in found.recipes for value in sides(recipe)} == {Known("torch_dist")}
