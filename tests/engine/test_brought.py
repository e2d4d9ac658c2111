"""What the change of a named file brings in files that use it is told, whatever leads there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.engine import cache
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.inputs.projects import OF_HOOKS

HEAD = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"


def _recipe(imports: str, *lines: str) -> str:
    body = "\n".join(f"    {line}" for line in ("cfg = llama3_8b_pretrain_config()", *lines, "return cfg"))
    return f"{imports}\n{HEAD}\n\ndef one():\n{body}\n"


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(cache.VARIABLE)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", OF_HOOKS):
        monkeypatch.delenv(name, raising=False)
    Path("pyproject.toml").write_text('[tool.mfsdp-lint]\ntarget-bridge = "0.3.1"\nselect = ["MFSDP101"]\n')
    _git("init", "-q")


def _git(*arguments: str) -> None:
    me = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
    subprocess.run(["git", *me, *arguments], check=True, capture_output=True)


def _commit(**texts: str) -> None:
    for name, text in texts.items():
        Path(f"{name}.py").write_text(text)
    _git("add", ".")
    _git("commit", "-qm", "one more")


def _places(capsys: pytest.CaptureFixture[str], *paths: str) -> list[str]:
    """Return the places of the findings, and compare them with those of a run without a cache."""
    told = []
    for options in ([], ["--no-cache"]):
        main(["--output-format=concise", *options, *paths])
        told.append([line.partition(": ")[0] for line in capsys.readouterr().out.splitlines()[:-1]])
    assert told[0] == told[1]
    return told[0]


WAYS = {
    "a condition": (
        "ON = {}\n",
        ("False", "True"),
        _recipe("import named", "if named.ON:", "    cfg.ddp.use_megatron_fsdp = True"),
    ),
    "a key": (
        "FIELD = {}\n",
        ('"overlap_grad_reduce"', '"use_megatron_fsdp"'),
        _recipe("from named import FIELD", "setattr(cfg.ddp, FIELD, True)"),
    ),
    "which of two": (
        "SIZE = {}\n",
        ('"small"', '"large"'),
        _recipe("import named", 'cfg.ddp.use_megatron_fsdp = {"small": False, "large": True}[named.SIZE]'),
    ),
    "how often": (
        "TIMES = {}\n",
        ("0", "1"),
        _recipe("import named", "for _ in range(named.TIMES):", "    cfg.ddp.use_megatron_fsdp = True"),
    ),
    "a comparison in a method": (
        "class Cluster:\n    gpus = {}\n\n    def is_large(self):\n        return self.gpus > 64\n",
        ("8", "512"),
        _recipe("from named import Cluster", "if Cluster().is_large():", "    cfg.ddp.use_megatron_fsdp = True"),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_change_brings_is_told_where_it_is(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    named, (before, after), recipe = WAYS[way]
    _commit(named=named.format(before), recipe=recipe)
    assert _places(capsys, "named.py") == []
    Path("named.py").write_text(named.format(after))
    (place,) = _places(capsys, "named.py")
    assert place.startswith("recipe.py:")


def test_once_it_is_committed_it_belongs_to_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    _commit(named=named.format(before), recipe=recipe)
    Path("named.py").write_text(named.format(after))
    assert _places(capsys, "named.py")
    _commit()
    assert _places(capsys, "named.py") == []
    assert _places(capsys, "recipe.py")


def test_a_run_on_changes_between_commits_compares_with_the_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    _commit(named=named.format(before), recipe=recipe)
    _commit(named=named.format(after))
    monkeypatch.setenv(OF_HOOKS, "HEAD~1")
    assert _places(capsys, "named.py")
    monkeypatch.setenv(OF_HOOKS, "nowhere")
    assert _places(capsys, "named.py") == []


def test_what_is_kept_of_a_run_depends_on_no_commit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    Path("named.py").write_text(named.format(before))
    Path("recipe.py").write_text(recipe)
    _git("add", ".")
    Path("named.py").write_text(named.format(after))
    assert _places(capsys, "named.py") == []  # there is no commit yet
    _git("commit", "-qm", "first")
    assert _places(capsys, "named.py")
    _commit()
    for _ in range(2):
        assert _places(capsys, "named.py") == []
    monkeypatch.setenv(OF_HOOKS, "HEAD~1")
    assert _places(capsys, "named.py")


@pytest.mark.parametrize("packed", [False, True])
def test_nothing_is_judged_again_while_neither_files_nor_head_change(
    *, packed: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    _commit(named=named.format(before), recipe=recipe)
    Path("named.py").write_text(named.format(after))
    if packed:
        _git("pack-refs", "--all")
    told = _places(capsys, "named.py")
    with monkeypatch.context() as patched:
        patched.setattr(Linter, "__call__", None)
        main(["--output-format=concise", "named.py"])
        assert [line.partition(": ")[0] for line in capsys.readouterr().out.splitlines()[:-1]] == told
    _commit()
    assert _places(capsys, "named.py") == []


@pytest.mark.parametrize("there", [".git", "/nowhere"])
def test_the_repository_is_that_of_the_file_whatever_git_tells_its_hooks(
    there: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    Path("inner").mkdir()
    Path("inner/recipe.py").write_text(recipe)
    Path("inner/named.py").write_text(named.format(after))
    _commit(named=named.format(before))
    monkeypatch.setenv("GIT_DIR", os.path.abspath(there))
    Path("inner/named.py").write_text(f"{named.format(after)}# changed\n")
    assert _places(capsys, "inner/named.py") == []


def test_other_files_that_are_named_do_not_stand_in_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    odd = ["a_latin.py", ":(foo)z.py", ":(top)a_latin.py", "new.py"]
    for name in odd[:-1]:
        Path(name).write_bytes(b'# -*- coding: latin-1 -*-\nX = "\xe9"\n')
    _commit(named=named.format(before), recipe=recipe)
    Path("new.py").write_text("")
    Path("named.py").write_text(named.format(after))
    assert _places(capsys, *odd, "named.py")


def test_a_mistake_that_has_another_cause_now_was_there_before(capsys: pytest.CaptureFixture[str]) -> None:
    on = "cfg.ddp.use_megatron_fsdp = True"
    recipe = _recipe("import named", on, "if named.ON:", '    cfg.checkpoint.ckpt_format = "torch_dist"')
    _commit(named="ON = False\n", recipe=recipe)
    Path("named.py").write_text("ON = True\n")
    assert _places(capsys, "named.py") == []


def test_a_recipe_with_another_name_has_the_mistakes_that_it_had(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        f"import named\n{HEAD}\n\ndef make():\n    def build():\n        cfg = llama3_8b_pretrain_config()\n"
        "        cfg.ddp.use_megatron_fsdp = True\n        return cfg\n\n    return build\n\n\n"
        "for name in named.NAMES:\n    globals()[name] = make()\n"
    )
    _commit(named='NAMES = ["one"]\n', recipe=text)
    Path("named.py").write_text('NAMES = ["two"]\n')
    assert _places(capsys, "recipe.py")
    assert _places(capsys, "named.py") == []


def test_only_files_with_other_lines_are_named_as_changed(capsys: pytest.CaptureFixture[str]) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    _commit(named=named.format(before), recipe=recipe, other="X = 1\n")
    Path("named.py").write_text(named.format(after))
    Path("other.py").write_bytes(b"X = 1\r\n")
    main(["--no-cache", "named.py", "other.py"])
    told = capsys.readouterr().out
    assert "brings it about (named.py:1)" in told
    assert "(other.py:1)" not in told


def test_what_was_there_before_the_change_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    named, (_, after), recipe = WAYS["a condition"]
    _commit(named=named.format(after), recipe=recipe)
    Path("named.py").write_text(f"{named.format(after)}# changed\n")
    assert _places(capsys, "named.py") == []


@pytest.mark.parametrize(
    "silence", ["# mfsdp: ignore[MFSDP101] the launcher sets it", "# mfsdp: ignore-file[MFSDP101] x"]
)
def test_what_a_comment_accepts_is_not_told(silence: str, capsys: pytest.CaptureFixture[str]) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    line = "use_megatron_fsdp = True"
    accepted = f"{silence}\n{recipe}" if "file" in silence else recipe.replace(line, f"{line}  {silence}")
    _commit(named=named.format(before), recipe=accepted)
    Path("named.py").write_text(named.format(after))
    assert _places(capsys, "named.py") == []


def test_it_is_not_fixed_in_a_file_that_was_not_named(capsys: pytest.CaptureFixture[str]) -> None:
    named, (before, after), recipe = WAYS["a condition"]
    _commit(named=named.format(before), recipe=recipe)
    Path("named.py").write_text(named.format(after))
    assert main(["--fix", "named.py"]) == 1
    told = capsys.readouterr().out
    assert "note: the change of this file brings it about (named.py:1)" in told
    assert Path("recipe.py").read_text() == recipe


def test_outside_of_git_nothing_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named, (_, after), recipe = WAYS["a condition"]
    Path("named.py").write_text(named.format(after))
    Path("recipe.py").write_text(recipe)
    os.rename(".git", "no.git")
    assert _places(capsys, "named.py") == []


def test_a_file_where_a_folder_was_has_no_text_before(capsys: pytest.CaptureFixture[str]) -> None:
    _, (_, after), recipe = WAYS["a condition"]
    Path("named.py").mkdir()
    Path("named.py", "inner.py").write_text("")
    _commit(recipe=recipe)
    Path("named.py", "inner.py").unlink()
    Path("named.py").rmdir()
    Path("named.py").write_text(WAYS["a condition"][0].format(after))
    assert _places(capsys, "named.py") == []
