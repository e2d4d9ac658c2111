"""`--since REV`: what the change since then caused, and nothing that was there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main

HELPER = """\
    def shard(cfg, fmt="{value}"):
        cfg.ddp.use_megatron_fsdp = True
        cfg.dist.use_megatron_fsdp = True
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
        cfg.ddp.average_in_collective = False
        cfg.checkpoint.save = "/results"
        cfg.checkpoint.ckpt_format = fmt
    """
RECIPE = """\
    from helper import shard
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


    def {name}():
        cfg = llama3_8b_pretrain_config()
        shard(cfg)
        return cfg
    """
WRONG = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(exist_ok=True, parents=True)
    Path(path).write_text(dedent(text), encoding="utf-8")


def git(*arguments: str) -> None:
    me = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
    subprocess.run(["git", *me, *arguments], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    git("init", "-q")
    write("old.yaml", WRONG)
    write("helper.py", HELPER.format(value="fsdp_dtensor"))
    write("one.py", RECIPE.format(name="one"))
    write("two.py", RECIPE.format(name="two"))
    git("add", ".")
    git("commit", "-qm", "first")


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    capsys.readouterr()
    options = ("--target-bridge=0.3.1", "--select=MFSDP1,MFSDP9", "--output-format=concise")
    code = main(["--since", "HEAD", *options, *arguments])
    out, err = capsys.readouterr()
    return code, [*out.splitlines(), *err.splitlines()]


def test_without_a_change_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = lint(capsys)
    assert code == 0
    (summary,) = lines
    assert "0 findings; 2 there before; " in summary


def test_lines_that_move_and_touched_lines_cause_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    write("old.yaml", "# moved\n\n" + WRONG.replace("torch_dist", "'torch_dist'"))
    assert lint(capsys)[0] == 0


def test_a_changed_helper_shows_the_recipes_that_it_broke(capsys: pytest.CaptureFixture[str]) -> None:
    write("helper.py", HELPER.format(value="torch_dist"))
    code, (finding, _) = lint(capsys)
    assert code == 1
    assert finding.startswith("helper.py:1:20: error MFSDP101 ")
    # The recipes alone, of which no line was touched, show it as well.
    assert lint(capsys, "one.py")[0] == 1


def test_a_hook_of_a_linked_work_tree_finds_the_root_from_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git tells such a hook where its own files are, and takes any folder for the root then."""
    write("inner/old.yaml", WRONG)
    git("add", ".")
    git("commit", "-qm", "second")
    git("worktree", "add", "-q", "linked")
    monkeypatch.chdir("linked/inner")
    monkeypatch.setenv("GIT_DIR", os.path.abspath("../../.git/worktrees/linked"))
    assert lint(capsys)[0] == 0
    write("new.yaml", WRONG)
    code, (finding, _) = lint(capsys)
    assert code == 1
    assert finding.startswith("new.yaml:4:16: ")


def test_a_new_recipe_that_uses_what_was_wrong_already_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    write("helper.py", HELPER.format(value="torch_dist"))
    git("commit", "-qam", "wrong")
    assert lint(capsys)[0] == 0
    write("three.py", RECIPE.format(name="three"))
    assert lint(capsys)[0] == 1


def test_a_renamed_file_causes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.yaml").rename("new.yaml")
    assert lint(capsys)[0] == 0


def test_a_copy_does(capsys: pytest.CaptureFixture[str]) -> None:
    write("copy.yaml", WRONG)
    code, (finding, _) = lint(capsys)
    assert code == 1
    assert finding.startswith("copy.yaml:4:16: ")


def test_a_comment_that_is_taken_out_lets_a_finding_out(capsys: pytest.CaptureFixture[str]) -> None:
    write("old.yaml", WRONG.replace("torch_dist", "torch_dist  # mfsdp: ignore[MFSDP101] so far"))
    git("commit", "-qam", "silenced")
    write("old.yaml", WRONG)
    assert lint(capsys)[0] == 1


def test_a_mistake_that_became_worse_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    write("old.yaml", WRONG.replace("  save: /results\n", ""))
    git("commit", "-qam", "a warning")
    assert lint(capsys)[0] == 0
    write("old.yaml", WRONG)
    assert lint(capsys)[0] == 1


def test_a_folder_below_the_root_will_do(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write("sub/old.yaml", WRONG)
    git("add", ".")
    git("commit", "-qm", "second")
    monkeypatch.chdir("sub")
    assert lint(capsys, "old.yaml")[0] == 0
    assert lint(capsys, os.path.abspath("old.yaml"))[0] == 0


def test_a_file_that_cannot_be_read_any_more_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    write("old.yaml", "ddp: [\n")
    assert lint(capsys)[1][0].startswith("old.yaml:2:1: error MFSDP901 ")


@pytest.mark.parametrize("revision", ["nothing", "--help", "HEAD:old.yaml", "a\x00b"])
def test_a_revision_that_is_none_is_told(capsys: pytest.CaptureFixture[str], revision: str) -> None:
    capsys.readouterr()
    assert main([f"--since={revision}"]) == 2
    assert "no such revision" in capsys.readouterr().err


def test_outside_of_a_repository_it_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    write("old.yaml", WRONG)
    assert main(["--since=HEAD"]) == 2
    assert "--since: not in a repository of git" in capsys.readouterr().err


def test_git_runs_nothing_of_the_repository(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    write(".gitattributes", "*.yaml filter=x diff=x\n")
    git("add", ".")
    git("commit", "-qm", "attributes")
    said = f"touch {mark}"
    for name in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.sshCommand",
        "filter.x.smudge",
        "filter.x.clean",
    ):
        git("config", name, said)
    for module in ("json", "pickle", "mfsdp_lint"):
        write(f"{module}.py", f"import pathlib\npathlib.Path({str(mark)!r}).write_text('executed')\n")
    git("-c", "filter.x.clean=cat", "add", ".")
    git("-c", "filter.x.clean=cat", "commit", "-qm", "planted")
    mark.unlink(missing_ok=True)
    lint(capsys)
    assert not mark.exists()


def test_a_change_of_a_module_by_another_one_is_told_where_that_is_imported(capsys: pytest.CaptureFixture[str]) -> None:
    write("three.py", "import patcher\n" + dedent(RECIPE).format(name="three"))
    write("patcher.py", "import helper\n")
    git("add", ".")
    git("commit", "-qm", "second")
    write("patcher.py", "import helper\nright = helper.shard\nhelper.shard = lambda cfg: right(cfg, 'torch_dist')\n")
    code, (finding, _) = lint(capsys)
    assert code == 1
    assert finding.startswith("patcher.py:3:39: error MFSDP101 ")
    assert lint(capsys, "three.py")[0] == 1
    assert lint(capsys, "one.py", "two.py")[0] == 0
