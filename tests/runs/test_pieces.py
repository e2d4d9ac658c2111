"""Findings about a run point to the piece of it that is wrong, and are the same however the tool is started."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runs.project import Project

RECIPE = """\
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def llama3_8b_fsdp():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    return cfg


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file")
    args, overrides = parser.parse_known_args()
    cfg = process_config_with_overrides(llama3_8b_fsdp(), args.config_file, overrides or None)
    pretrain(cfg, forward_step)


if __name__ == "__main__":
    main()
"""
START = "torchrun --nproc_per_node 8 recipes/llama.py"
GOOD = "checkpoint.ckpt_format=fsdp_dtensor"
ALONE = "recipes/llama.py:11:33: error MFSDP101"
COMPLETED = "recipes/llama.py:11:33: warning MFSDP101"

Found = Callable[..., list[str]]


@pytest.fixture
def found(project: Project, capsys: pytest.CaptureFixture[str]) -> Found:
    """Lints paths of a project with a recipe and a launch script; the findings up to their codes."""
    project.write("recipes/llama.py", RECIPE)

    def found(launch: str, *paths: str) -> list[str]:
        project.write("jobs/run.sh", launch)
        project.lint(*(paths or (".",)))
        lines = capsys.readouterr().out.splitlines()[:-1]
        return [" ".join(line.split()[:3]) for line in lines]

    return found


def test_a_recipe_that_nobody_launches_is_judged_by_itself(found: Found) -> None:
    assert found("") == [ALONE]


def test_a_recipe_that_only_its_launcher_completes_is_a_warning_by_itself(found: Found) -> None:
    assert found(f"{START} {GOOD}\n") == [COMPLETED]


@pytest.mark.parametrize("path", [".", "recipes/llama.py"])
@pytest.mark.parametrize(
    "launch",
    [
        pytest.param(f"cd examples && python ../recipes/llama.py {GOOD}\n", id="from another folder"),
        pytest.param(f"srun --chdir examples python ../recipes/llama.py {GOOD}\n", id="a launcher's folder"),
        pytest.param(f"python /workspace/project/recipes/llama.py {GOOD}\n", id="in a container"),
        pytest.param(f"cd /workspace/project/examples\npython ../recipes/llama.py {GOOD}\n", id="a container's folder"),
        pytest.param(
            f"docker run -v $PWD:/code -w /code image torchrun recipes/llama.py {GOOD}\n", id="where it is mounted"
        ),
        pytest.param(f"python ~/project/recipes/llama.py {GOOD}\n", id="at home"),
        pytest.param(f"python $REPOSITORY/recipes/llama.py {GOOD}\n", id="a variable that nobody sets"),
        pytest.param(f"R=/lustre/me/project\ncd $R/jobs\npython $R/recipes/llama.py {GOOD}\n", id="an absolute root"),
        pytest.param(f"cd $(git rev-parse --show-toplevel)\npython recipes/llama.py {GOOD}\n", id="git's own folder"),
    ],
)
def test_a_launch_may_name_the_recipe_by_another_root(found: Found, launch: str, path: str) -> None:
    assert found(launch, path) == [COMPLETED]


@pytest.mark.parametrize("path", [".", "recipes/llama.py"])
def test_an_image_has_the_recipe_where_its_dockerfile_copies_it_to(project: Project, found: Found, path: str) -> None:
    project.write("docker/Dockerfile", "FROM image\nWORKDIR /code\nCOPY recipes .\n")
    assert found(f"python /code/llama.py {GOOD}\n", path) == [COMPLETED]


def test_a_name_without_its_folder_may_be_any_programs(found: Found) -> None:
    assert found(f"python /code/llama.py {GOOD}\n", "recipes/llama.py") == [ALONE]


def test_the_launcher_is_named(project: Project, found: Found, capsys: pytest.CaptureFixture[str]) -> None:
    found(f"{START} {GOOD}\n")
    project.lint("recipes")
    assert "it is fine as jobs/run.sh uses it" in capsys.readouterr().out


def test_what_the_program_of_a_recipe_makes_good_is_a_warning(project: Project, found: Found) -> None:
    good = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n    pretrain('
    project.write("recipes/llama.py", RECIPE.replace("    pretrain(", good))
    assert found("") == [COMPLETED]


BUILT = (
    "from recipes.llama import llama3_8b_fsdp\n\n\ndef built():\n    cfg = llama3_8b_fsdp()\n    {}\n    return cfg\n"
)


@pytest.mark.parametrize("path", [".", "recipes/llama.py"])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ('cfg.checkpoint.ckpt_format = "fsdp_dtensor"', COMPLETED),
        ("cfg.ddp.use_megatron_fsdp = False", ALONE),
        ("cfg.checkpoint.save = cfg.checkpoint.load = None", ALONE),
        ("cfg.checkpoint.ckpt_format = anything()", ALONE),
        ("cfg.train.train_iters = 10", ALONE),
    ],
    ids=["the mistake is changed", "the feature is off", "nothing is saved", "to what nobody knows", "it stays"],
)
def test_a_recipe_that_another_one_is_built_on_is_a_warning_where_that_makes_good_its_mistake(
    project: Project, found: Found, change: str, told: str, path: str
) -> None:
    """With the feature off it is another recipe, which says nothing about this one."""
    project.write("recipes/llama.py", RECIPE.partition("def main")[0])
    project.write("recipes/built.py", BUILT.format(change))
    assert found("", path) == [told]


@pytest.mark.parametrize(
    "launch",
    [
        f"{START}\n",
        f"{START} $(options)\n",
        f"{START} checkpoint.ckpt_format=$FORMAT\n",
        f"{START} {GOOD}\n{START}\n",
        f'[ "$GOOD" ] && X={GOOD}\n{START} $X\n',
        f"# {START} {GOOD}\n",
        f"torchrun other/llama2.py {GOOD}\n",
    ],
)
def test_no_launcher_that_may_leave_it_as_it_is_makes_it_better(found: Found, launch: str) -> None:
    assert [each for each in found(launch) if each.startswith("recipes")] == [ALONE]


def test_a_file_that_the_launcher_names_completes_it_too(project: Project, found: Found) -> None:
    project.write("jobs/conf.yaml", "checkpoint:\n  ckpt_format: fsdp_dtensor\n")
    assert found(f"{START} --config-file jobs/conf.yaml\n") == [COMPLETED]


@pytest.mark.parametrize("launch", ["", f"{START}\n", f"{START} {GOOD}\n", f"{START} ddp.use_megatron_fsdp=false\n"])
def test_the_verdict_on_a_recipe_is_the_same_when_it_alone_is_given(found: Found, launch: str) -> None:
    """As in a commit hook, which hands over the files that are committed."""
    whole = [each for each in found(launch) if each.startswith("recipes")]
    assert found(launch, "recipes/llama.py") == whole


SMOKE = "#!/bin/bash\ntorchrun pretrain_gpt.py --use-megatron-fsdp \\\n"


@pytest.mark.parametrize(
    ("starts", "severity"),
    [
        ({"jobs/run.sh": "bash ci/smoke.sh --ckpt-format fsdp_dtensor\n"}, "warning"),
        ({"jobs/run.sh": "bash ci/smoke.sh --num-layers 2\n"}, "error"),
        ({"jobs/run.sh": "bash ci/smoke.sh --ckpt-format $FORMAT\n"}, "error"),
        ({"jobs/a.sh": "bash ci/smoke.sh --ckpt-format fsdp_dtensor\n", "jobs/b.sh": "ci/smoke.sh\n"}, "error"),
        ({"pixi.toml": '[tasks.t]\ncmd = "bash ci/smoke.sh --ckpt-format fsdp_dtensor"\n'}, "warning"),
        ({"run.py": "import os\nos.system('bash ci/smoke.sh --ckpt-format fsdp_dtensor')\n"}, "warning"),
    ],
)
@pytest.mark.parametrize("path", [".", "ci/smoke.sh"])
def test_a_script_that_only_another_file_completes_is_a_warning_by_itself(
    starts: dict[str, str], severity: str, path: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("ci/smoke.sh", f'{SMOKE}  --use-distributed-optimizer --save /c "$@"\n')
    for name, text in starts.items():
        project.write(name, text)
    project.lint("--select", "MFSDP101", path)
    (line,) = capsys.readouterr().out.splitlines()[:-1]
    assert line.startswith(f"ci/smoke.sh:2:26: {severity} MFSDP101")


def test_an_override_that_is_wrong_is_where_the_launcher_writes_it(found: Found) -> None:
    launch = f"{START} {GOOD} \\\n  model.pipeline_model_parallel_size=2\n"
    assert found(launch) == ["jobs/run.sh:2:38: error MFSDP350", COMPLETED]


def test_what_is_wrong_in_a_launcher_is_not_told_of_a_recipe_alone(found: Found) -> None:
    assert found(f"{START} {GOOD} model.pipeline_model_parallel_size=2\n", "recipes") == [COMPLETED]


def test_a_file_that_is_wrong_is_where_it_says_so(project: Project, found: Found) -> None:
    text = "checkpoint:\n  ckpt_format: fsdp_dtensor\nmodel:\n  pipeline_model_parallel_size: 2\n"
    project.write("jobs/conf.yaml", text)
    assert "jobs/conf.yaml:4:33: error MFSDP350" in found(f"{START} --config-file jobs/conf.yaml\n")


def test_the_environment_that_is_wrong_is_where_it_is_exported(found: Found) -> None:
    launch = f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{START} {GOOD}\n"
    assert "jobs/run.sh:1:36: warning MFSDP501" in found(launch)


@pytest.mark.parametrize(
    ("change", "is_told"),
    [
        ("for name in BAD & os.environ.keys():\n        del os.environ[name]", False),
        ("for name in BAD.intersection(os.environ):\n        del os.environ[name]", False),
        ("for name in [name for name in os.environ if name in BAD]:\n        del os.environ[name]", False),
        ('for name in list(os.environ):\n        if name.startswith("CUDA"):\n            del os.environ[name]', False),
        ("os.environ.clear()", False),
        ('os.environ |= {name: "8" for name in BAD}', False),
        ("saved = dict(os.environ)\n    os.environ.clear()\n    os.environ.update(saved)", True),
        ('for name in BAD & {"HOME"}:\n        del os.environ[name]', True),
        ("for name in os.environ:\n        print(name)", True),
    ],
)
def test_a_variable_that_the_program_may_take_away_is_not_what_is_exported(
    project: Project, found: Found, change: str, is_told: bool
) -> None:
    text = f"import os\n{RECIPE}".replace(
        "main():\n", f'main():\n    BAD = {{"CUDA_DEVICE_MAX_CONNECTIONS"}}\n    {change}\n'
    )
    project.write("recipes/llama.py", text)
    launch = f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{START} {GOOD}\n"
    assert any("MFSDP501" in each for each in found(launch)) is is_told


PICKED = """\
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

PP = {{1: 1, 2: 2}}
parser = argparse.ArgumentParser()
parser.add_argument("--pp", type=int, default=2)
args = parser.parse_args()
cfg = llama3_8b_pretrain_config()
cfg.ddp.use_megatron_fsdp = True
cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
cfg.checkpoint.ckpt_format = "fsdp_dtensor"
{}
pretrain(cfg, forward_step)
"""


@pytest.mark.parametrize(
    "lines",
    [
        "cfg.model.pipeline_model_parallel_size = args.pp",
        "cfg.model.pipeline_model_parallel_size = PP[args.pp]",
        "cfg.model.pipeline_model_parallel_size = 1 if args.pp == 1 else 2",
        "if args.pp == 2:\n    cfg.model.pipeline_model_parallel_size = 2",
    ],
    ids=["the word itself", "an entry of a table", "a conditional expression", "a branch"],
)
@pytest.mark.parametrize(
    ("words", "severity"), [("--pp 1", "warning"), ("--pp 2", "error"), ("", "error"), ("--pp $PP", "error")]
)
def test_a_launch_may_pick_what_the_program_has_at_hand(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, words: str, severity: str
) -> None:
    project.write("train.py", PICKED.format(lines))
    project.write("run.sh", f"torchrun --nproc_per_node=8 train.py {words}\n")
    project.lint("--select", "MFSDP350", ".")
    found = [each for each in capsys.readouterr().out.splitlines() if "train.py" in each]
    assert [each.split()[1] for each in found] == [severity]
    assert ("it is fine as run.sh uses it" in found[0]) is (severity == "warning")


@pytest.mark.parametrize(
    ("words", "is_cured"), [("", False), ("--fsdp", False), ("--fsdp --pp 1", True)], ids=["off", "as it is", "mended"]
)
def test_a_launch_without_the_feature_cures_no_option_for_it(
    project: Project, capsys: pytest.CaptureFixture[str], words: str, is_cured: bool
) -> None:
    lines = "cfg.ddp.use_megatron_fsdp = args.fsdp\ncfg.model.pipeline_model_parallel_size = args.pp"
    declared = 'default=2)\nparser.add_argument("--fsdp", action="store_true"'  # behind the other option
    project.write(
        "train.py", PICKED.format(lines).replace("default=2", declared).replace("_fsdp = True", "_fsdp = False")
    )
    project.write("run.sh", f"torchrun --nproc_per_node=8 train.py {words}\n")
    project.lint("--select", "MFSDP350", ".")
    (found,) = [each for each in capsys.readouterr().out.splitlines() if "train.py" in each]
    assert ("it is fine as run.sh uses it" in found) is is_cured
