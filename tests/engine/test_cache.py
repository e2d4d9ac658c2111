"""What is kept of a run: used while nothing that decided it has changed, and never otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.core.kept import dumps, loads
from mfsdp_lint.core.records import replace
from mfsdp_lint.engine import cache
from mfsdp_lint.engine import run as running
from mfsdp_lint.engine.cache import Outcome
from mfsdp_lint.engine.recall import Recall
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.projects import OWN_FOLDER
from tests.engine.conftest import Told

HELPER = """\
def fsdp(cfg):
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "torch_dist"
    return cfg
"""
RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from helper import fsdp


def recipe():
    return fsdp(llama3_8b_pretrain_config())
"""
TEAM_RULE = """\
code: TEAM001
name: our-format
summary: For these tests
why: For these tests.
applies: checkpoint.ckpt_format == "torch_dist"
cases:
  - severity: warning
    stage: never
    message: not here
    consequence: nothing
blame: {value: [checkpoint.ckpt_format]}
fix: {none: it is for these tests}
examples:
  bad: [{severity: warning, settings: {checkpoint.ckpt_format: torch_dist}}]
"""

FORMATS = ("full", "concise", "json", "github")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.delenv(cache.VARIABLE)
    (project / "pyproject.toml").write_text("[project]\nname = 'ours'\n")
    (project / "helper.py").write_text(HELPER)
    (project / "recipe.py").write_text(RECIPE)
    return project


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with every run that is not known already."""
    runs: list[int] = []
    run = running.run

    def counted(options: Options, recall: Recall | None = None) -> Outcome:
        runs.append(1)
        return run(options, recall)

    monkeypatch.setattr(running, "run", counted)
    return runs


@pytest.mark.parametrize("name", FORMATS)
def test_a_second_run_says_the_same_without_looking_into_it(name: str, here: Path, anew: list[int], told: Told) -> None:
    first = told("--output-format", name)
    assert "MFSDP101" in first
    assert told("--output-format", name) == first
    assert len(anew) == 1


def test_formats_that_show_the_same_share_it(here: Path, anew: list[int], told: Told) -> None:
    told("--output-format", "full")
    assert "MFSDP101" in told("--output-format", "json")
    assert len(anew) == 1
    assert "up to" in told("--output-format", "concise")  # which spares the proofs
    told("--output-format", "github")
    assert len(anew) == 2


def _edit_helper(here: Path) -> None:
    (here / "helper.py").write_text(HELPER.replace("torch_dist", "fsdp_dtensor"))


def _new_file(here: Path) -> None:
    (here / "another.py").write_text(RECIPE.replace("recipe()", "another()"))


def _ignore(here: Path) -> None:
    (here / ".gitignore").write_text("recipe.py\nhelper.py\n")


def _pin(here: Path) -> None:
    (here / "requirements.txt").write_text("megatron-bridge==0.4.2\n")


def _shadow(here: Path) -> None:
    package = here / "megatron" / "bridge" / "recipes" / "llama"
    package.mkdir(parents=True)
    for folder in package.parents[:3]:
        (folder / "__init__.py").write_text("")
    (package / "__init__.py").write_text("def llama3_8b_pretrain_config():\n    raise NotImplementedError\n")


def _remove(here: Path) -> None:
    (here / "recipe.py").unlink()


def _configure(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.mfsdp-lint]\nignore = ['MFSDP101']\n")


def _silence(here: Path) -> None:
    said = 'ckpt_format = "torch_dist"'
    (here / "helper.py").write_text(HELPER.replace(said, f"{said}  # mfsdp: ignore[MFSDP101] the launcher sets it"))


def _same_size_and_time(here: Path) -> None:
    status = (here / "helper.py").stat()
    (here / "helper.py").write_text(HELPER.replace("torch_dist", "fsdp_dist_"))
    os.utime(here / "helper.py", ns=(status.st_atime_ns, status.st_mtime_ns))


CHANGES = (
    _edit_helper,
    _new_file,
    _ignore,
    _pin,
    _shadow,
    _remove,
    _configure,
    _silence,
    _same_size_and_time,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
@pytest.mark.parametrize("old", [False, True], ids=["just written", "long written"])
def test_whatever_decides_a_run_makes_it_new(
    old: bool, change: Callable[[Path], None], here: Path, told: Told, anew: list[int]
) -> None:
    if old:  # so that the file system's own times are trusted
        for path in here.iterdir():
            os.utime(path, (1_000_000_000, 1_000_000_000))
    before = told()
    change(here)
    after = told()
    assert after == told("--no-cache")
    assert after != before
    assert len(anew) == 3


def test_so_does_a_rule_of_the_team(here: Path, told: Told, anew: list[int]) -> None:
    (here / "lint").mkdir()
    rule = here / "lint" / "TEAM001.yaml"
    rule.write_text(TEAM_RULE)
    (here / "pyproject.toml").write_text("[tool.mfsdp-lint]\nextend-rules = ['lint']\n")
    before = told()
    assert told() == before
    rule.write_text(TEAM_RULE.replace("not here", "nowhere"))
    assert told() != before
    assert len(anew) == 2


def test_data_that_a_run_makes_of_the_tools_own_files_changes_nothing(
    here: Path, told: Told, anew: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = here.parent / "own"
    own.mkdir()
    monkeypatch.setattr(cache, "PACKAGE", os.fspath(own))
    monkeypatch.setattr(cache, "RULES", os.fspath(own))
    told()
    (own / "compiled.jsonl").write_text("made by another run\n")
    assert told() == told()
    assert len(anew) == 1


def test_a_file_that_was_merely_touched_is_the_same(here: Path, told: Told, anew: list[int]) -> None:
    before = told()
    os.utime(here / "helper.py", (1_600_000_000, 1_600_000_000))
    assert told() == before
    assert len(anew) == 1


def test_a_folder_of_no_project_is_kept_as_any_other(here: Path, told: Told, anew: list[int]) -> None:
    (here / "pyproject.toml").unlink()
    (here / "below").mkdir()
    assert told(".") == told(".")
    assert len(anew) == 1


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 20)


def _another_letter(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"MFSDP101", b"MFSDP109"))


def _sealed(path: Path, data: bytes) -> bytes:
    content = cache.sealed(str(path), data)
    assert content is not None
    return content


def _another_shape(path: Path) -> None:
    path.write_bytes(_sealed(path, dumps({"looks": [], "findings": 3})))


def _unheard_of(path: Path) -> None:
    outcome = loads(path.read_bytes().partition(b"\n")[2])
    looks = [
        replace(each, stamp=None, content=tuple(look.replace(b'"read"', b'"dream"') for look in each.content))
        for each in outcome.looks
    ]
    path.write_bytes(_sealed(path, dumps(replace(outcome, looks=tuple(looks)))))


def _deep(path: Path) -> None:
    path.write_bytes(_sealed(path, b"[" * 100_000))


def _gone(path: Path) -> None:
    path.unlink()


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [_emptied, _cut, _noise, _another_letter, _another_shape, _unheard_of, _deep, _gone, _a_folder],
    ids=lambda damage: damage.__name__.strip("_"),
)
def test_what_is_damaged_is_judged_anew(
    damage: Callable[[Path], None], here: Path, told: Told, anew: list[int]
) -> None:
    before = told()
    (kept,) = (here / OWN_FOLDER).glob("*.outcome")
    damage(kept)
    assert told() == before
    assert len(anew) == 2


def test_it_is_kept_out_of_the_repository_and_holds_data_alone(here: Path, told: Told) -> None:
    told()
    (kept,) = (here / OWN_FOLDER).glob("*.outcome")
    assert (here / OWN_FOLDER / ".gitignore").read_text() == "*\n"
    outcome = loads(kept.read_bytes().partition(b"\n")[2])
    assert isinstance(outcome, cache.Kept)
    assert [finding.code for finding in outcome.findings] == ["MFSDP301", "MFSDP101"]


def test_nothing_is_kept_where_that_is_not_wanted(here: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    told("--no-cache")
    monkeypatch.setenv(cache.VARIABLE, "")
    told()
    monkeypatch.delenv(cache.VARIABLE)
    (here / "pyproject.toml").write_text("[tool.mfsdp-lint]\ncache = false\n")
    told()
    assert not (here / OWN_FOLDER).exists()


def test_another_folder_may_be_named(here: Path, told: Told, anew: list[int]) -> None:
    (here / "pyproject.toml").write_text("[tool.mfsdp-lint]\ncache-dir = 'kept'\n")
    told()
    told()
    told("--cache-dir", "elsewhere")
    assert len(anew) == 2
    assert {path.parent.name for path in here.rglob("*.outcome")} == {"kept", "elsewhere"}


def test_a_folder_that_cannot_be_made_costs_time_alone(here: Path, told: Told) -> None:
    expected = told("--no-cache")
    (here / "file").write_text("")
    assert told("--cache-dir", "file/inside") == expected


def test_what_writes_is_always_done(here: Path, told: Told) -> None:
    told()
    fixed = told("--fix", "--unsafe-fixes")
    done = " 2 fixed (1 of a run that could not start);"
    assert done in fixed
    assert told("--unsafe-fixes") == fixed.replace(done, "")
    assert '"fsdp_dtensor"' in (here / "helper.py").read_text()


def test_a_name_that_is_no_text_is_kept_as_any_other(here: Path, told: Told, anew: list[int]) -> None:
    os.rename(here / "recipe.py", os.fsencode(here) + b"/recipe\xff.py")
    assert told() == told()
    assert len(anew) == 1


def test_only_the_last_runs_are_kept(here: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_RUNS", 2)
    for code in ("MFSDP1", "MFSDP2", "MFSDP3", "MFSDP4"):
        told("--ignore", code)
    assert len(list((here / OWN_FOLDER).glob("*.outcome"))) == 2


def test_several_at_once_do_not_disturb_each_other(here: Path) -> None:
    command = [sys.executable, "-m", "mfsdp_lint", "--output-format", "concise", "."]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    assert len({process.communicate() for process in running}) == 1
