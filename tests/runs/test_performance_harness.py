"""Bridge's performance harness that is not in the tree. The values are those of the real one of 0.6.0."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from mfsdp_lint.core.values import Known, Plain
from tests.runs.project import Project

PLACE = "/opt/Megatron-Bridge/scripts/performance"
FSDP: Mapping[str, Plain] = {
    "ddp.use_megatron_fsdp": True,
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "ddp.average_in_collective": False,
    "model.init_model_with_meta_device": True,
    "checkpoint.ckpt_format": "torch_dist",
    "checkpoint.save": "/nemo_run/checkpoints",
    "checkpoint.load": None,
    "model.context_parallel_size": 1,
}
LLAMA = "-m llama -mr llama3_70b -ng 64 -g gb200 -c fp8_cs"


@pytest.mark.parametrize("bridge", ["0.6.0", "head"])
@pytest.mark.parametrize("program", ["run_script.py", "bootstrap.py", "setup_experiment.py"])
def test_the_recipe_of_the_options_is_the_run(project: Project, program: str, bridge: str) -> None:
    words = f"{LLAMA} --use_megatron_fsdp true --save_interval 10"
    project.write("launch.sh", f"\npython {PLACE}/{program} {words}\n")
    (run,) = project.runs("launch.sh", bridge=bridge)
    assert run.line == 2
    assert {name: run.setting(name).value for name in FSDP} == {name: Known(value) for name, value in FSDP.items()}


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (
            "-m llama -mr llama3_70b -ng 64 -g h100 -c fp8_cs -tp 8 -pp 2 -vp 5",
            {"model.tensor_model_parallel_size": 8, "model.virtual_pipeline_model_parallel_size": 5},
        ),
        (
            "-m llama -mr llama3_8b -ng 8 -g h100 -c fp8_cs -ol 3 --cuda_graph_impl none",
            {"model.cpu_offloading_num_layers": 3, "model.cuda_graph_impl": "none"},
        ),
        (
            "-m llama -mr llama3_70b --task peft -ng 8 -g h100 -pp 4",
            {"dist.use_tp_pp_dp_mapping": True, "model.pipeline_model_parallel_size": 4},
        ),
        (
            "-m llama -mr llama31_405b -ng 2048 -g h100 -c fp8_cs",  # no recipe for so many: that of 1024
            {"model.tensor_model_parallel_size": 8, "model.pipeline_model_parallel_size": 8},
        ),
        (f"{LLAMA} ddp.overlap_param_gather=false", {"ddp.overlap_param_gather": False}),
        (  # values of other options are no overrides; what is behind a switch is one
            f"{LLAMA} -wdj model.tensor_model_parallel_size=7 --dryrun ddp.overlap_param_gather=false",
            {"ddp.overlap_param_gather": False, "model.tensor_model_parallel_size": 1},
        ),
        (  # nor are those of an option that takes several
            f"{LLAMA} ddp.overlap_param_gather=false -cb 'export A=1' model.tensor_model_parallel_size=7",
            {"ddp.overlap_param_gather": False, "model.tensor_model_parallel_size": 1},
        ),
    ],
)
def test_options_come_behind_overrides_and_the_recipe(
    project: Project, words: str, settings: Mapping[str, Plain]
) -> None:
    project.write("launch.sh", f"python {PLACE}/run_script.py {words}\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    assert {name: run.setting(name).value for name in settings} == {n: Known(value) for n, value in settings.items()}


@pytest.mark.parametrize("bridge", ["0.3.1", "0.5.1", "0.6.0"])
def test_values_of_options_are_no_overrides_in_any_release(project: Project, bridge: str) -> None:
    others = "-wdj checkpoint.ckpt_format=torch -cb 'export A=1' checkpoint.ckpt_format=torch"
    words = f"{LLAMA} --dryrun checkpoint.ckpt_format=fsdp_dtensor {others}"
    project.write("launch.sh", f"python {PLACE}/run_script.py {words}\n")
    (run,) = project.runs("launch.sh", bridge=bridge)
    assert run.setting("checkpoint.ckpt_format").value == Known("fsdp_dtensor")


@pytest.mark.parametrize("words", [LLAMA.replace("64", "$N"), LLAMA.replace("llama3_70b", "ours"), "-mr llama3_70b"])
def test_what_recipe_it_is_is_not_guessed(project: Project, words: str) -> None:
    project.write("launch.sh", f"python {PLACE}/run_script.py {words} --use_megatron_fsdp true\n")
    assert project.runs("launch.sh", bridge="0.6.0") == []


ROWS = "fsdp\tbf16\t8\t--use_megatron_fsdp true\n"
OF_A_ROW = f"""while IFS=$'\\t' read -r name dtype gpus extra; do
  torchrun {PLACE}/bootstrap.py --model_family_name llama --model_recipe_name llama3_8b --gpu h100 \\
    --num_gpus $gpus --compute_dtype $dtype $extra
done < /bench/cases.tsv
"""


def test_rows_that_an_image_has_are_those_of_the_tree(project: Project) -> None:
    project.write("cases.tsv", ROWS)
    project.write("bench.sh", OF_A_ROW)
    project.write("Dockerfile", "FROM base\nCOPY . /bench\n")
    (run,) = project.runs("bench.sh", bridge="0.6.0")
    assert run.setting("ddp.use_megatron_fsdp").value == Known(True)


def test_rows_of_a_file_that_may_be_another_are_told(project: Project) -> None:
    project.write("cases.tsv", ROWS)
    project.write("bench.sh", OF_A_ROW)
    (told,) = project.unfollowed("bench.sh", bridge="0.6.0")
    assert (told.line, told.message) == (2, "the words that bootstrap.py is given are not known")


def test_variables_that_the_job_is_given_are_not_those_of_the_recipe(project: Project) -> None:
    given = "-ce CUDA_DEVICE_MAX_CONNECTIONS=8"
    project.write("launch.sh", f"python {PLACE}/setup_experiment.py {LLAMA} {given}\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    assert run.setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == Known("8")


def test_short_options_that_nothing_is_read_of_are_not_taken_for_longer_ones(project: Project) -> None:
    project.write("launch.sh", f"python {PLACE}/setup_experiment.py {LLAMA} -a ours -p batch -i img -gn 4 -l logs\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    assert run.setting("model.pipeline_model_parallel_size").value != Known("batch")


def test_starts_that_are_followed_are_judged_and_the_others_told(project: Project) -> None:
    words = LLAMA.replace("64", "$N")
    project.write("launch.sh", f"for N in 64 none; do\n  python {PLACE}/run_script.py {words}\ndone\n")
    (run,) = project.runs("launch.sh", bridge="0.6.0")
    assert len(run.variants) == 1
    (told,) = project.unfollowed("launch.sh", bridge="0.6.0")
    assert (told.line, told.message) == (2, "its program makes no configuration that is known on one of its starts")


def test_a_finding_about_what_it_sets_stands_at_the_option(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{LLAMA.replace('gb200', 'h100')} -tp 2 --use_megatron_fsdp true"
    project.write("launch.sh", f"python {PLACE}/setup_experiment.py {words}\n")
    project.write("requirements.txt", "megatron-bridge==0.6.0\n")
    project.lint("launch.sh")
    found = [each for each in capsys.readouterr().out.splitlines() if "MFSDP501" in each]
    assert [each.partition(":")[0] for each in found] == ["launch.sh"]


def test_what_its_table_decides_is_told_at_the_launch(project: Project) -> None:
    project.write("launch.sh", f"\npython {PLACE}/run_script.py -mr llama3_70b -tp 4\n")
    (run,) = project.runs("launch.sh", bridge="0.3.1")
    obstacle = run.variants[0].settings.obstacle("ddp.use_megatron_fsdp")
    assert obstacle is not None
    assert (obstacle.text, obstacle.span.line) == ("run_script.py", 2)


def test_what_it_sets_itself_stands_at_the_launch(project: Project) -> None:
    project.write("launch.sh", f"\npython {PLACE}/run_script.py -mr llama3_70b --use_megatron_fsdp true\n")
    (run,) = project.runs("launch.sh", bridge="0.3.1")
    origin = run.setting("ddp.use_megatron_fsdp").origin
    assert origin is not None
    assert origin.upstream == "megatron-bridge 0.3.1"


@pytest.mark.parametrize("bridge", ["0.3.1", "0.6.0"])
def test_a_finding_about_a_switch_that_it_sets_points_at_the_option(
    project: Project, bridge: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{LLAMA} \\\n  --use_megatron_fsdp true \\\n  --save_dir /c"
    project.write("launch.sh", f"python {PLACE}/run_script.py {words}\n")
    project.lint("--target-bridge", bridge, "launch.sh")
    assert "launch.sh:2:23: error MFSDP101" in capsys.readouterr().out
    project.lint("--target-bridge", bridge, "--fix", "--diff", "launch.sh")
    assert "MFSDP905" not in capsys.readouterr().out


def test_a_worker_s_script_that_a_launcher_fills_in_is_one_run(project: Project) -> None:
    script = f"""\
if [ -n "$LOGS" ]; then logs=$LOGS; else logs=logs; fi
worker=$(cat <<- EOM
  nsys profile -o "${{logs}}/rank" \\
    python {PLACE}/run_script.py -mr llama3_70b
EOM
)
echo "$worker" > worker.sh
torchrun --nproc-per-node=8 --no-python bash worker.sh
"""
    project.write("launch.sh", script)
    (run,) = project.runs("launch.sh", bridge="0.3.1")
    assert run.line == 3
