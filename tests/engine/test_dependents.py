"""What uses a named file is checked with it: what the file breaks elsewhere is told in the file."""

from __future__ import annotations

import json
import subprocess
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.engine import read

PLAIN = "def shard(cfg):\n    return cfg\n"
SHARDED = """\
def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
"""
RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from sharding import shard


def big():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_tp_pp_dp_mapping = True
    return shard(cfg)
"""
AT_HELPER = "sharding.py:2:33: error MFSDP302"
AT_RECIPE = "big_recipe.py:7:37: error MFSDP302"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")
    write("sharding.py", SHARDED)
    write("big_recipe.py", RECIPE)


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(exist_ok=True, parents=True)
    Path(path).write_text(text, encoding="utf-8")


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    """Return the exit code, and the lines of findings and remarks."""
    capsys.readouterr()
    code = main(["--target-bridge=0.3.1", "--output-format=concise", "--no-cache", *arguments])
    out, err = capsys.readouterr()
    return code, [*out.splitlines()[:-1], *err.splitlines()]


def test_a_helper_that_breaks_a_recipe_is_told_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, (line,) = lint(capsys, "sharding.py")
    assert code == 1
    assert line.startswith(AT_HELPER)
    main(["--target-bridge=0.3.1", "--no-cache", "--output-format=json", "sharding.py"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert [each["path"] for each in finding["related"]] == ["big_recipe.py"]
    assert [each["name"] for each in finding["recipes"]] == ["big"]


def test_of_a_folder_it_is_told_at_the_text_that_decides_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, ".")[1][0].startswith(AT_RECIPE)
    assert lint(capsys, "sharding.py", "big_recipe.py")[1][0].startswith(AT_RECIPE)


def test_who_wants_less_gets_less(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "--no-dependents", "sharding.py") == (0, [])
    write("mfsdp-lint.toml", "dependents = false\n")
    assert lint(capsys, "sharding.py") == (0, [])


def test_mistakes_that_a_user_makes_by_itself_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    write("sharding.py", PLAIN)
    write(
        "big_recipe.py", RECIPE.replace("return shard(cfg)", "cfg.ddp.use_megatron_fsdp = True\n    return shard(cfg)")
    )
    assert lint(capsys, "sharding.py") == (0, [])


def test_a_comment_silences_it_in_either_file(capsys: pytest.CaptureFixture[str]) -> None:
    comment = "  # mfsdp: ignore[MFSDP302] known"
    write("sharding.py", SHARDED.replace("fsdp = True", f"fsdp = True{comment}"))
    assert lint(capsys, "sharding.py") == (0, [])
    write("sharding.py", SHARDED)
    write("big_recipe.py", RECIPE.replace("mapping = True", f"mapping = True{comment}"))
    assert lint(capsys, "sharding.py") == (0, [])


def test_what_the_baseline_accepts_in_a_user_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "--baseline=base.json", "--update-baseline", ".")[0] == 0
    assert lint(capsys, "--baseline=base.json", "sharding.py") == (0, [])


def test_the_baseline_of_named_files_has_what_is_found_in_them_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "--baseline=base.json", "--update-baseline", "sharding.py")[0] == 0
    assert json.loads(Path("base.json").read_text())["findings"] == []


def test_a_fix_belongs_to_the_text_that_decides(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "--fix", "sharding.py")[0] == 1
    assert (Path("sharding.py").read_text(), Path("big_recipe.py").read_text()) == (SHARDED, RECIPE)
    main(["--target-bridge=0.3.1", "--no-cache", "--output-format=json", "sharding.py"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert "big_recipe.py" in finding["no_fix"]


def test_a_helper_is_fixed_where_it_decides(capsys: pytest.CaptureFixture[str]) -> None:
    write("sharding.py", SHARDED.replace('"fsdp_dtensor"', '"torch_dist"\n    cfg.checkpoint.save = "/results"'))
    write("big_recipe.py", RECIPE.replace("= True", "= False"))
    code, _ = lint(capsys, "--fix", "--unsafe-fixes", "sharding.py")
    assert code == 0
    assert 'ckpt_format = "fsdp_dtensor"' in Path("sharding.py").read_text()


def test_a_cached_run_is_made_anew_once_a_user_changes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["--target-bridge=0.3.1", "--output-format=concise", f"--cache-dir={tmp_path / 'kept'}", "sharding.py"]
    write("big_recipe.py", RECIPE.replace("= True", "= False"))
    assert main(arguments) == 0
    write("big_recipe.py", RECIPE)
    assert main(arguments) == 1
    write("second.py", RECIPE.replace("big()", "second()"))
    capsys.readouterr()
    main([*arguments[:1], "--output-format=json", *arguments[2:]])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert [each["name"] for each in finding["recipes"]] == ["big", "second"]


def test_a_text_on_stdin_is_checked_alone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def lint_stdin(*arguments: str) -> list[str]:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(SHARDED.encode())))
        return lint(capsys, "-", "--stdin-filename=sharding.py", *arguments)[1]

    write("sharding.py", PLAIN)
    assert lint_stdin() == []
    assert lint_stdin("--dependents")[0].startswith(AT_HELPER)


def test_more_users_than_are_read_are_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_DEPENDENTS", 1)
    write("second.py", RECIPE.replace("big()", "second()"))
    code, (finding, remark) = lint(capsys, "sharding.py")
    assert code == 1
    assert finding.startswith(AT_HELPER)
    assert "more than 1 files use those that are named" in remark


PROGRAM = """\
import argparse

import big_recipe
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

parser = argparse.ArgumentParser()
parser.add_argument("--recipe")
parser.add_argument("--format")
args = parser.parse_args()
cfg = getattr(big_recipe, args.recipe)()
cfg.checkpoint.ckpt_format = args.format
pretrain(cfg, forward_step)
"""


def test_what_it_breaks_for_whoever_starts_a_user_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("sharding.py", SHARDED.replace('    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n', ""))
    write(
        "big_recipe.py", RECIPE.replace("dist.use_tp_pp_dp_mapping = True", 'checkpoint.ckpt_format = "fsdp_dtensor"')
    )
    write("run.py", PROGRAM)
    write("jobs/train.sh", "torchrun run.py --recipe big --format torch_dist\n")
    code, (finding,) = lint(capsys, "sharding.py")
    assert code == 1
    assert finding.startswith("sharding.py:2:33: error MFSDP101")
    monkeypatch.setattr(read, "MOST_DEPENDENTS", 1)  # the recipe
    code, (remark,) = lint(capsys, "sharding.py")
    assert code == 0
    assert "more than 1 files use those that are named" in remark


def test_a_user_that_cannot_be_read_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    write("big_recipe.py", RECIPE + "def broken(:\n")
    code, (remark,) = lint(capsys, "sharding.py")
    assert code == 0
    assert "big_recipe.py uses a named file and was not read" in remark


def test_users_that_are_excluded_or_ignored_are_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "--exclude=big_*", "sharding.py") == (0, [])
    subprocess.run(["git", "init", "-q"], check=True)
    write(".gitignore", "big_*\n")
    assert lint(capsys, "sharding.py") == (0, [])


def test_a_script_that_another_one_sources_is_told_what_it_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    write("env.sh", "export CUDA_DEVICE_MAX_CONNECTIONS=1\n")
    write(
        "train.sh",
        "#!/bin/bash\nsource env.sh\ntorchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format fsdp_dtensor\n",
    )
    _, lines = lint(capsys, "env.sh")
    assert [line.partition(" ")[0] for line in lines] == ["env.sh:1:36:"]


def test_since_a_revision_it_is_told_that_the_helper_changed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    me = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    write("sharding.py", PLAIN)
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*me, *command], check=True)
    assert lint(capsys, "--since=HEAD", "sharding.py") == (0, [])
    write("sharding.py", SHARDED)
    assert lint(capsys, "--since=HEAD", "sharding.py")[1][0].startswith(AT_HELPER)
