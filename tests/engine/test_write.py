"""What --fix writes, and what it says of it: nobody's change is lost, and nothing is counted that is not on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.engine import write as writing
from mfsdp_lint.engine.repair import Repair
from mfsdp_lint.fixes.apply import Fixed
from mfsdp_lint.fixes.prove import Unfixed
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.inputs.writing import replace_file

BAD = (
    "ddp:\n  use_megatron_fsdp: true\n  average_in_collective: false\n"
    "checkpoint:\n  ckpt_format: torch_dist\n  save: /results\n  load: null\n  pretrained_checkpoint: null\n"
)
GOOD = BAD.replace("torch_dist", "fsdp_dtensor")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(BAD)
    return tmp_path


def test_a_file_that_somebody_changed_meanwhile_is_left_and_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = BAD + "train:\n  train_iters: 5\n"
    write = writing.write

    def later(fixed: Fixed, sources: Sources, faults: Faults) -> writing.Written:
        (here / "b.yaml").write_text(mine)
        return write(fixed, sources, faults)

    monkeypatch.setattr(writing, "write", later)
    assert main(["--fix"]) == 1
    out, err = capsys.readouterr()
    assert err == "mfsdp-lint: error: b.yaml: not written: changed by somebody else since it was read\n"
    assert " --> b.yaml:5:16\n" in out
    assert "2 files, 2 recipes: 1 finding (1 error); 1 fixed (1 of a run that could not start); " in out
    assert (here / "a.yaml").read_text() == GOOD
    assert (here / "b.yaml").read_text() == mine


def test_a_change_at_the_last_moment_is_seen_as_well(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace = replace_file

    def last(path: str, *arguments: object) -> None:
        (here / path).write_text("mine: 1\n")
        replace(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "replace_file", last)
    assert main(["--fix", "a.yaml"]) == 1
    out, err = capsys.readouterr()
    assert "a.yaml: not written: changed by somebody else" in err
    assert "fixed" not in out
    assert sorted(os.listdir(here)) == ["a.yaml", "b.yaml"]
    assert (here / "a.yaml").read_text() == "mine: 1\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_read_only_folders(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here.chmod(0o555)
    try:
        assert main(["--fix", "a.yaml"]) == 1
    finally:
        here.chmod(0o755)
    assert "a.yaml: not written: its folder is read-only" in capsys.readouterr().err


def test_what_cannot_be_written_stays_a_finding_and_does_not_count(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.yaml").chmod(0o444)
    os.link(here / "b.yaml", here / "also.txt")
    assert main(["--fix", "--output-format", "json"]) == 1
    out, err = capsys.readouterr()
    assert err == (
        "mfsdp-lint: error: a.yaml: not written: it is read-only\n"
        "mfsdp-lint: error: b.yaml: not written: it has 2 names (hard links), of which only one would change\n"
    )
    summary = json.loads(out)["summary"]
    assert (summary["errors"], summary["fixed"]) == (2, 0)
    assert (here / "b.yaml").read_text() == (here / "a.yaml").read_text() == BAD


def test_leftovers_of_a_killed_run_are_removed_by_the_next(here: Path) -> None:
    (here / ".mfsdp-lint-0123456789ab.tmp").write_text("x")
    assert main([]) == 1
    assert len(os.listdir(here)) == 3
    assert main(["--fix"]) == 0
    assert sorted(os.listdir(here)) == ["a.yaml", "b.yaml"]


def test_a_figure_is_the_same_in_every_format_and_what_fix_then_does(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = []
    for name in ("full", "concise", "github"):
        assert main(["--output-format", name, "--show-fixes"]) == 1
        said.append(capfd.readouterr().out.rpartition("\n2 files")[2])
    assert main(["--diff"]) == 1
    said.append(capfd.readouterr().err.removeprefix("2 files"))
    assert len(set(said)) == 1
    assert "2 findings (2 errors); 2 fixable with --fix; " in said[0]
    assert main(["--fix"]) == 0
    assert "0 findings; 2 fixed (2 of a run that could not start); " in capfd.readouterr().out


@pytest.mark.parametrize("arguments", [["--output-format", "concise"], ["--no-show-fixes"]])
def test_what_nobody_sees_is_not_proved_and_not_promised(
    arguments: list[str], here: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Repair, "proved", lambda *_, **__: pytest.fail("a proof that nobody sees"))
    assert main(arguments) == 1
    assert "2 findings (2 errors); up to 2 fixable with --fix; " in capfd.readouterr().out


def test_what_fixing_could_not_do_is_not_hoped_for_afterwards(
    here: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Unfixed, "judge", lambda _, trial: trial.blame.update(dict.fromkeys(trial.chosen, "no")))
    assert main(["--fix", "--output-format", "concise"]) == 1
    assert "2 findings (2 errors); judged against " in capfd.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_asked_to_end_leaves_nothing_behind(here: Path, number: signal.Signals) -> None:
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run in the background, where it is ignored
from mfsdp_lint import cli
from mfsdp_lint.inputs import writing
fsync = os.fsync
def end(descriptor):
    os.kill(os.getpid(), {int(number)})
    fsync(descriptor)
os.fsync = end
sys.exit(cli.main(["--fix", "a.yaml"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 128 + number
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(here)) == ["a.yaml", "b.yaml"]
    assert (here / "a.yaml").read_text() == BAD


def test_fix_only_says_what_was_fixed_and_nothing_of_what_remains(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.yaml").write_text(BAD.replace("average", "data_parallel_sharding_strategy: no_shard\n  average"))
    assert main(["--fix-only"]) == 0
    assert capsys.readouterr() == ("2 files: 2 findings fixed\n", "")
    assert "fsdp_dtensor" in (here / "a.yaml").read_text()
    assert main([]) == 1  # the strategy is a choice


def test_fix_only_ends_with_1_where_a_file_was_not_written_or_not_read(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.yaml").chmod(0o444)
    (here / "c.py").write_text("from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\ndef f(:\n")
    assert main(["--fix-only"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("c.py:2:7: error MFSDP901 not checked: ")
    assert out.endswith("\n3 files: 1 finding fixed\n")
    assert err.startswith("mfsdp-lint: error: a.yaml: not written: ")


def test_show_fixes_lists_place_rule_safety_and_settings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.yaml", "--fix", "--show-fixes"]) == 0
    made = 'a.yaml:5: fixed MFSDP101 (safe): checkpoint.ckpt_format = "fsdp_dtensor"\n'
    assert capsys.readouterr().out.startswith(
        f"{made}1 file, 1 recipe: 0 findings; 1 fixed (1 of a run that could not start); "
    )
    assert main(["b.yaml", "--diff", "--show-fixes"]) == 1
    assert capsys.readouterr().err.startswith(made.replace("a.yaml", "b.yaml").replace("fixed", "would fix"))


def test_the_document_for_programs_says_what_was_fixed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.yaml", "--fix-only", "--output-format=json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(each["code"], each["line"]) for each in document["fixes"]] == [("MFSDP101", 5)]
    assert (document["findings"], document["summary"]["fixed"]) == ([], 1)


def test_every_fix_says_why_it_is_safe_and_every_other_finding_why_it_has_none(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "b.yaml").write_text(BAD.replace("load: null", "load: /other"))
    (here / "c.yaml").write_text("ddp:\n  use_megatron_fsdp: true\nmodel:\n  pipeline_model_parallel_size: 2\n")
    main(["--output-format=json", "--select=MFSDP101,MFSDP350"])
    safe, unsafe, none = json.loads(capsys.readouterr().out)["findings"]
    condition = (
        "checkpoint.load is not None and checkpoint.load == checkpoint.save "
        "or checkpoint.load is None and checkpoint.pretrained_checkpoint is None"
    )
    assert safe["fix"]["why"] == f"safe because {condition}"
    assert unsafe["fix"]["why"].startswith(f"unsafe unless {condition}; a checkpoint that it loads has to be converted")
    assert (none["code"], none["fix"]) == ("MFSDP350", None)
    assert none["no_fix"] == "the parallel layout is planned for the model and the machines"
