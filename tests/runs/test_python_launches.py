"""A Python script that starts a training program is a launch, as a line of a shell script is."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, Value
from tests.runs.project import Project

FLAGS = '"pretrain_gpt.py", "--use-megatron-fsdp", "--tensor-model-parallel-size", "2"'
TP = "model.tensor_model_parallel_size"
FSDP = "ddp.use_megatron_fsdp"
DEVICES = "env.CUDA_DEVICE_MAX_CONNECTIONS"

IMPORTS = (
    "import os\nimport shlex\nimport subprocess\nimport sys\nfrom pathlib import Path\nfrom elsewhere import load\n"
)


def runs(project: Project, body: str, *files: str) -> list[Recipe]:
    project.write("launch.py", f"{IMPORTS}\n{body}\n")
    return project.runs("launch.py", *files)


def run(project: Project, body: str) -> Recipe:
    (recipe,) = runs(project, body)
    return recipe


@pytest.mark.parametrize(
    "start",
    [
        f'subprocess.run(["torchrun", {FLAGS}], check=True)',
        f'subprocess.call(("torchrun", {FLAGS}))',
        f'subprocess.check_call([sys.executable, "-m", "torch.distributed.run", {FLAGS}])',
        f'subprocess.check_output(args=["python", {FLAGS}])',
        f'process = subprocess.Popen(["torchrun", {FLAGS}])\nprocess.wait()',
        f'with subprocess.Popen(["torchrun", {FLAGS}]) as process:\n    process.wait()',
        f'subprocess.run(["bash", "-c", " ".join(["torchrun", {FLAGS}])])',
        f'command = ["torchrun"]\ncommand += [{FLAGS}]\nsubprocess.run(command)',
        f'command = ["torchrun"]\ncommand.extend([{FLAGS}])\nsubprocess.run(command)',
        f'def start(command):\n    subprocess.run(command)\n\nstart(["torchrun", {FLAGS}])',
        'os.system("torchrun pretrain_gpt.py --use-megatron-fsdp --tensor-model-parallel-size 2")',
        'subprocess.run("python pretrain_gpt.py --use-megatron-fsdp --tensor-model-parallel-size 2", shell=True)',
        'subprocess.run(shlex.split("torchrun pretrain_gpt.py --use-megatron-fsdp --tensor-model-parallel-size=2"))',
        f'from torch.distributed.run import main as torchrun_main\n\ntorchrun_main(["--nproc_per_node=8", {FLAGS}])',
        f"import torch.distributed.run\n\ntorch.distributed.run.main(args=[{FLAGS}])",
        f'os.execvp("torchrun", ["torchrun", {FLAGS}])',
        f'import runpy\n\nsys.argv = [{FLAGS}]\nrunpy.run_path(sys.argv[0] and "pretrain_gpt.py", run_name="__main__")',
        f'import runpy\n\nsys.argv[1:] = [{FLAGS}][1:]\nrunpy.run_module("pretrain_gpt", run_name="__main__")',
        f"from torch.distributed.run import main as launch\n\nsys.argv.extend([{FLAGS}])\nlaunch()",
        f'os.execvpe("torchrun", ["torchrun", {FLAGS}], os.environ)',
        f'command = ["torchrun", "--log-dir", sys.argv[1], {FLAGS}]\nos.system(shlex.join(command))',
        f'os.system(" ".join(shlex.quote(each) for each in ["torchrun", "--log-dir", sys.argv[1], {FLAGS}]))',
    ],
)
def test_a_started_program_is_a_run(project: Project, start: str) -> None:
    recipe = run(project, start)
    assert (recipe.kind, recipe.qualified_name) == ("arguments", "launch.py")
    assert recipe.setting(TP).value == Known(2)
    assert recipe.setting(FSDP).value == Known(True)


@pytest.mark.parametrize(
    "start",
    [
        'subprocess.run(["git", "log", "--", "megatron/pretrain_gpt.py"])',
        'subprocess.run(["ls", "megatron"], capture_output=True)',
        'subprocess.run(["ruff", "check", "megatron.py", "--use-megatron-fsdp"])',
        'os.system("echo torchrun pretrain_gpt.py --use-megatron-fsdp")',
        'subprocess.run(load("megatron.py"))',
        f'def never_called():\n    subprocess.run(["torchrun", {FLAGS}])\n\nprint("megatron")',
        f'print(["torchrun", {FLAGS}])',
        f'if False:\n    subprocess.run(["torchrun", {FLAGS}])\nprint("megatron")',
    ],
)
def test_what_starts_no_training_is_no_run(project: Project, start: str) -> None:
    assert runs(project, start) == []


@pytest.mark.parametrize(
    "start",
    [
        f'subprocess.run(["torchrun", "--nproc-per-node", 8, {FLAGS}])',
        f'nodes = 2\nsubprocess.Popen(["torchrun", "--nnodes", nodes, {FLAGS}])',
        f'subprocess.run(["torchrun", None, {FLAGS}])',
        f'subprocess.run(["torchrun", {FLAGS}], env={{**os.environ, "OMP_NUM_THREADS": 8}})',
        f'os.execvp("torchrun", ["torchrun", 8, {FLAGS}])',
        f'os.environ["OMP_NUM_THREADS"] = 8\nsubprocess.run(["torchrun", {FLAGS}])',
    ],
)
def test_what_is_no_text_is_refused(project: Project, start: str) -> None:
    assert runs(project, start) == []
    (refused,) = project.unfollowed("launch.py")
    assert refused.certain
    assert (refused.error, refused.message.partition(", ")[0]) in (
        ("TypeError", "TypeError: expected str"),
        ("TypeError", "TypeError: str expected"),
    )


@pytest.mark.parametrize(
    "start",
    [
        f'subprocess.run(["torchrun", "--nproc-per-node", str(8), {FLAGS}])',
        f'subprocess.run(["torchrun", "--log-dir", Path("logs"), {FLAGS}])',
        f'subprocess.run(["torchrun", load(8), {FLAGS}])',
        f'size = 8 if load(8) else "8"\nsubprocess.run(["torchrun", "--nnodes", size, {FLAGS}])',
    ],
)
def test_a_path_is_a_word_and_what_may_be_a_text_is_not_refused(project: Project, start: str) -> None:
    runs(project, start)
    assert not any(each.certain for each in project.unfollowed("launch.py"))


@pytest.mark.parametrize(
    "program", ['f"{home}/pretrain_gpt.py"', 'home + "/pretrain_gpt.py"', 'str(Path(home) / "pretrain_gpt.py")']
)
def test_a_program_before_words_that_nobody_knows_has_the_name_that_is_written(project: Project, program: str) -> None:
    start = f'home = load("home")\nsubprocess.run(["torchrun", {program}, "--use-megatron-fsdp", *load("more")])'
    recipe = run(project, start)
    assert recipe.command is not None
    assert recipe.command.program == "?/pretrain_gpt.py"


def test_a_variable_that_is_put_is_there_for_the_started_program(project: Project) -> None:
    start = f'subprocess.run(["torchrun", {FLAGS}])'
    put = f'os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "8"\nos.putenv("CUDA_DEVICE_MAX_CONNECTIONS", "1")\n{start}'
    assert run(project, put).setting(DEVICES).value == Known("1")
    since = f'os.putenv("CUDA_DEVICE_MAX_CONNECTIONS", "1")\nos.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "8"\n{start}'
    assert run(project, since).setting(DEVICES).value == Known("8")
    copied = f'os.putenv("CUDA_DEVICE_MAX_CONNECTIONS", "1")\nenv = dict(os.environ)\n{start[:-1]}, env=env)'
    assert run(project, copied).setting(DEVICES).value != Known("1")


def test_the_environment_is_that_of_the_moment_of_the_launch(project: Project) -> None:
    first, second = runs(
        project,
        f"""\
os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"
subprocess.run(["torchrun", {FLAGS}])
os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
subprocess.run(["torchrun", {FLAGS}])
""",
    )
    assert (first.qualified_name, second.qualified_name) == ("launch.py[1]", "launch.py[2]")
    assert first.setting(DEVICES).value == Known("1")
    assert second.setting(DEVICES).value == NONE


@pytest.mark.parametrize(
    "environment",
    [
        '{**os.environ, "CUDA_DEVICE_MAX_CONNECTIONS": "8"}',
        'dict(os.environ, CUDA_DEVICE_MAX_CONNECTIONS="8")',
        'os.environ.copy() | {"CUDA_DEVICE_MAX_CONNECTIONS": "8"}',
        '{"CUDA_DEVICE_MAX_CONNECTIONS": str(4 * 2)}',
    ],
)
def test_env_is_the_environment(project: Project, environment: str) -> None:
    recipe = run(project, f'subprocess.run(["torchrun", {FLAGS}], env={environment})')
    assert recipe.setting(DEVICES).value == Known("8")


@pytest.mark.parametrize(
    "environment", ["{**os.environ, 'A': '8'}", "dict(os.environ, A='8')", "dict(os.environ)", "os.environ.copy()"]
)
def test_a_variable_that_is_handed_on_stands_where_it_was_exported(project: Project, environment: str) -> None:
    launcher = f'import argparse\nargparse.ArgumentParser().parse_args()\nsubprocess.run(["torchrun", {FLAGS}], '
    project.write("launch.py", f"{IMPORTS}{launcher}env={environment})\n")
    project.write("start.sh", "export CUDA_DEVICE_MAX_CONNECTIONS=1\npython launch.py\n")
    (recipe,) = project.runs("start.sh")
    assert recipe.setting(DEVICES).value == Known("1")
    origin = recipe.setting(DEVICES).origin
    assert origin is not None
    assert (origin.span.path, origin.span.line) == ("start.sh", 1)


def test_without_a_known_environment_there_is_no_run(project: Project) -> None:
    assert runs(project, f'subprocess.run(["torchrun", {FLAGS}], env=load())') == []


def test_a_value_is_told_where_it_is_written(project: Project) -> None:
    recipe = run(
        project,
        """\
command = ["torchrun", "pretrain_gpt.py", "--use-megatron-fsdp"]
command += ["--tensor-model-parallel-size", "2"]
os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "8"
subprocess.run(command)
""",
    )
    assert recipe.line == 11
    origins = {path: recipe.setting(path).origin for path in (FSDP, TP, DEVICES)}
    assert {path: each and (each.point.line, each.point.column) for path, each in origins.items()} == {
        FSDP: (8, 44),
        TP: (9, 14),
        DEVICES: (10, 46),
    }


def test_of_a_word_that_is_partly_known_that_part_counts(project: Project) -> None:
    recipe = run(
        project,
        """\
ranks = load()
subprocess.run(["torchrun", "pretrain_gpt.py", "--use-megatron-fsdp", f"--tensor-model-parallel-size={ranks}"])
""",
    )
    assert recipe.setting(FSDP).value == Known(True)
    assert not isinstance(recipe.setting(TP).value, Known)


def test_words_out_of_sight_may_be_any_flags(project: Project) -> None:
    recipe = run(project, f'subprocess.run(["torchrun", {FLAGS}, *load()])')
    assert not isinstance(recipe.setting("checkpoint.ckpt_format").value, Known)


def test_the_two_sides_of_a_condition_stay_apart(project: Project) -> None:
    recipe = run(
        project,
        """\
command = ["torchrun", "pretrain_gpt.py", "--tensor-model-parallel-size", "2"]
if Path("/data/big").is_dir():
    command.append("--use-megatron-fsdp")
subprocess.run(command)
""",
    )
    assert {repr(variant.value(FSDP)) for variant in recipe.variants} == {repr(Known(True)), repr(Known(False))}


def test_a_script_beside_it_is_started_in_its_folder(project: Project) -> None:
    project.write("jobs/run.sh", f"python {FLAGS.replace(',', '')}\n")
    (recipe,) = runs(project, 'subprocess.run(["bash", "run.sh"], cwd="jobs")  # megatron')
    assert recipe.setting(TP).value == Known(2)


TRAIN = """\
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

parser = argparse.ArgumentParser()
parser.add_argument("--tp", type=int, default=4)
args = parser.parse_args()
cfg = llama3_8b_pretrain_config()
cfg.model.tensor_model_parallel_size = args.tp
pretrain(cfg, forward_step)
"""


@pytest.mark.parametrize(
    "program", ['"scripts/train.py"', 'Path(__file__).parent / "scripts" / "train.py"', '"-m", "scripts.train"']
)
def test_a_program_of_the_tree_is_followed_with_its_words(project: Project, program: str) -> None:
    project.write("scripts/train.py", TRAIN)
    recipe = run(project, f'subprocess.run(["python", {program}, "--tp", "2"])')
    assert recipe.kind == "launch"
    assert recipe.setting(TP).value == Known(2)


@pytest.mark.parametrize(
    "start",
    [
        f'sys.argv = [{FLAGS}]\nrunpy.run_path("pretrain_gpt.py")',
        f'sys.argv = load([{FLAGS}])\nrunpy.run_path("pretrain_gpt.py", run_name="__main__")',
    ],
    ids=["for its names alone", "with words that are not known"],
)
def test_a_program_in_the_same_process_that_is_no_run(project: Project, start: str) -> None:
    assert runs(project, f"import runpy\n\n{start}") == []


READERS = {
    "argparse, a path": (
        'parser = argparse.ArgumentParser()\nparser.add_argument("conf", type=Path)\n'
        "start(yaml.safe_load(parser.parse_args().conf.read_text()))\n"
    ),
    "argparse, an open file": (
        'parser = argparse.ArgumentParser()\nparser.add_argument("--conf", type=Path, required=True)\n'
        "with parser.parse_args().conf.open() as file:\n    start(yaml.safe_load(file))\n"
    ),
    "click, a path": (
        '@click.command()\n@click.argument("conf", default="runs/a.yaml", type=click.Path(path_type=Path))\n'
        "def main(conf):\n    start(yaml.safe_load(conf.read_text()))\n\n\nmain()\n"
    ),
    "click, a text": (
        '@click.command()\n@click.option("--conf", type=click.Path(exists=True), default="runs/a.yaml")\n'
        "def main(conf):\n    start(yaml.safe_load(open(conf)))\n\n\nmain()\n"
    ),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize("words", [None, "runs/a.yaml"])
def test_a_launcher_whose_program_and_flags_are_in_a_file(project: Project, reader: str, words: str | None) -> None:
    project.write("runs/a.yaml", "program: /opt/pretrain_gpt.py\nflags:\n  tensor-model-parallel-size: 2\n")
    head = "import argparse\nimport click\nimport yaml\n\n\ndef start(doc):\n"
    line = '[f"--{name}={value}" for name, value in doc["flags"].items()]'
    launcher = f'{head}    subprocess.run(["torchrun", doc["program"], *{line}])\n\n\n{reader}'
    if words is None:
        recipe = run(project, launcher)
    else:
        option = "--conf " if '"--conf"' in reader else ""
        project.write("start.sh", f"#!/bin/bash\npython launch.py {option}{words}\n")
        runs(project, launcher)
        (recipe,) = project.runs("start.sh")
    assert recipe.setting(TP).value == Known(2)


NAMED = {
    "open": 'open(f"flags/{sys.argv[1]}.args").read()',
    "a path": '(Path(__file__).parent / "flags" / f"{sys.argv[1]}.args").read_text()',
    "os.path": 'open(os.path.join(os.path.dirname(__file__), "flags", f"{sys.argv[1]}.args")).read()',
}


@pytest.mark.parametrize("reader", NAMED.values(), ids=NAMED.keys())
def test_each_file_that_a_word_can_name_is_a_start(project: Project, reader: str) -> None:
    for size in (1, 2):
        project.write(f"flags/{size}b.args", f"--use-megatron-fsdp --tensor-model-parallel-size {size}\n")
    program = 'os.path.join(os.environ["LM"], "pretrain_gpt.py"), str(Path(os.environ["LM"]) / "x")'
    recipe = run(project, f'subprocess.run(["torchrun", {program}, *shlex.split({reader})])')
    assert [each.value(TP) for each in recipe.variants] == [Known(1), Known(2)]


def test_a_word_that_may_be_any_file_names_none(project: Project) -> None:
    project.write("flags/a.args", "--use-megatron-fsdp --tensor-model-parallel-size 2\n")
    words = 'open(f"flags/{sys.argv[1]}").read().split()'
    assert runs(project, f'subprocess.run(["torchrun", "pretrain_gpt.py", *{words}])') == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param("node.remote(rank, argv)", [Known(2)], id="by position"),
        pytest.param("node.remote(rank, argv=argv)", [Known(2)], id="by name"),
        pytest.param("node.elsewhere(rank, argv)", [Known(2), UNKNOWN], id="in a process that may be this one"),
    ],
)
def test_each_task_is_given_a_list_as_it_is_here(project: Project, call: str, expected: list[Value]) -> None:
    task = "@ray.remote\ndef node(rank, argv):\n    "
    start = 'subprocess.run(["torchrun", f"--node_rank={rank}", "pretrain_gpt.py", "--use-megatron-fsdp", *argv])'
    size = 'argv = ["--tensor-model-parallel-size", "2"]'
    recipe = run(project, f"import ray\n\n\n{task}{start}\n\n\n{size}\nray.get([{call} for rank in range(2)])")
    assert [each.value(TP) for each in recipe.variants] == expected


OF_HYDRA = """
import hydra


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    words = ["--tensor-model-parallel-size", str(cfg.size.tp), "--ckpt-format", cfg.format]
    subprocess.run(["torchrun", "pretrain_gpt.py", "--use-megatron-fsdp", *words], check=True)


main()
"""
OF_SWEEP = "-m size=small,big format=torch_dist,fsdp_dtensor"
EACH = [(1, "torch_dist"), (1, "fsdp_dtensor"), (2, "torch_dist"), (2, "fsdp_dtensor")]


@pytest.mark.parametrize(
    ("words", "config", "expected"),
    [
        pytest.param(OF_SWEEP, "", EACH, id="for each combination"),
        pytest.param("size=big,small hydra.mode=MULTIRUN", "", [(2, "torch"), (1, "torch")], id="by its mode"),
        pytest.param("--multirun size=big", "", [(2, "torch")], id="with one value"),
        pytest.param("-m 'size=glob(*)'", "", [], id="of values that a function gives"),
        pytest.param(f"{OF_SWEEP} hydra/sweeper=optuna", "", [], id="of another sweeper"),
        pytest.param(OF_SWEEP, "hydra: {sweeper: {params: {size: big}}}\n", EACH, id="over the values of a file"),
        pytest.param(
            "-m format=torch_dist",
            "hydra: {sweeper: {params: {size: 'small,big'}}}\n",
            [EACH[0], EACH[2]],
            id="with those of a file",
        ),
        pytest.param("format=torch,torch_dist", "hydra: {mode: MULTIRUN}\n", [], id="by the mode of a file"),
    ],
)
def test_a_sweep_of_hydra_starts_a_run(
    project: Project, words: str, config: str, expected: list[tuple[int, str]]
) -> None:
    project.write("conf/config.yaml", f"defaults:\n  - size: small\nformat: torch\n{config}")
    project.write("conf/size/small.yaml", "tp: 1\n")
    project.write("conf/size/big.yaml", "tp: 2\n")
    project.write("launch.py", IMPORTS + OF_HYDRA)
    project.write("sweep.sh", f"python launch.py {words}\n")
    found = [each for recipe in project.runs("sweep.sh") for each in recipe.variants]
    settings = [(each.value(TP), each.value("checkpoint.ckpt_format")) for each in found]
    assert [each for each in settings if all(isinstance(value, Known) for value in each)] == [
        (Known(tp), Known(said)) for tp, said in expected
    ]
    assert not any(each.why == "raises" for each in project.unfollowed("sweep.sh"))


def test_findings_stand_in_the_script_that_launches(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("launch.py", f'{IMPORTS}\nsubprocess.run(["torchrun", {FLAGS}])\n')
    project.lint("launch.py")
    assert "launch.py:8:49: error MFSDP101" in capsys.readouterr().out


def test_a_fix_changes_the_word_that_is_wrong(project: Project) -> None:
    words = '"torchrun", "pretrain_gpt.py", "--use-megatron-fsdp", "--use-distributed-optimizer"'
    strategy = '"--data-parallel-sharding-strategy", "optim_grads_params"'
    launch = f'{IMPORTS}\nsubprocess.run([{words}, {strategy}, "--ckpt-format", "torch_dist"])\n'
    project.write("launch.py", launch)
    project.lint("--fix", "launch.py")
    assert (project.folder / "launch.py").read_text() == launch.replace("torch_dist", "fsdp_dtensor")


@pytest.mark.parametrize(
    "start",
    [
        "subprocess.run()",
        "subprocess.run(1)",
        "subprocess.run([])",
        "subprocess.run([], shell=True)",
        'subprocess.run([None, 3, b"x", ["y"]])',
        'subprocess.run(*["torchrun"], **{"env": {1: 2, "A": None}})',
        "os.system()",
        'os.execvp("torchrun")',
        'os.execvp("torchrun", 3)',
        'os.system("torchrun \'train.py")',
    ],
)
def test_calls_that_fail_start_nothing(project: Project, start: str) -> None:
    assert runs(project, f"{start}  # megatron train.py") == []


def test_a_program_with_a_name_is_told_where_its_other_words_are_not_known(project: Project) -> None:
    body = 'program = "pretrain_gpt.py"\nsubprocess.run(["torchrun", program, *load()])\n'
    project.write("launch.py", f"{IMPORTS}\n{body}")
    (told,) = project.unfollowed("launch.py")
    assert told.message == "the words that pretrain_gpt.py is given are not known"
