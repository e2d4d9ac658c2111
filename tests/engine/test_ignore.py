"""Suppression comments that are written: each silences its finding, and changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main

PYTHON = """\
def recipe(cfg: ConfigContainer):
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
    cfg.checkpoint.save = "/results"
    return cfg
"""
CONTINUED = """\
def recipe(cfg: ConfigContainer):
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = \\
        "torch_dist"
    cfg.checkpoint.save = "/results"
    return cfg
"""
YAML = """\
ddp:
  use_megatron_fsdp: true
checkpoint:
  ckpt_format: torch_dist
  save: /results
"""
SHELL = """\
torchrun --nproc-per-node 8 pretrain_gpt.py \\
    --use-megatron-fsdp \\
    --ckpt-format torch_dist \\
    --save /results
"""

WRITE = ("--add-ignore", "MFSDP101", "--reason", "the launcher sets it")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", PYTHON),
        ("a.py", PYTHON.replace("\n", "\r\n")),
        ("a.py", PYTHON.replace('"torch_dist"', '"torch_dist"  # as ever')),
        ("a.py", CONTINUED),
        ("a.yaml", YAML),
        ("a.sh", SHELL),
    ],
    ids=["python", "CR LF", "a comment there", "a continued line", "yaml", "shell"],
)
def test_a_comment_silences_its_finding_and_nothing_else(
    name: str, text: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--output-format", "concise", "--target-bridge", "0.3.1", name)
    (here / name).write_bytes(text.encode())
    main([*asked])
    before = [line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert main([*WRITE, "--target-bridge", "0.3.1", name]) == 0
    assert capsys.readouterr().out == "1 finding silenced in 1 file\n"
    main([*asked])
    *after, summary = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[2] for line in after] == [line for line in before if "MFSDP101" not in line]
    assert "1 suppressed" in summary
    written = (here / name).read_bytes().decode()
    without = [line for line in written.splitlines() if not line.strip().startswith("# mfsdp:")]
    assert [line.partition("  # mfsdp:")[0] for line in without] == text.splitlines()


def test_a_patch_writes_nothing(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text(YAML)
    assert main([*WRITE, "--diff", "a.yaml"]) == 0
    assert "+  ckpt_format: torch_dist  # mfsdp: ignore[MFSDP101] the launcher sets it" in capfd.readouterr().out
    assert (here / "a.yaml").read_text() == YAML


@pytest.mark.parametrize(
    "arguments",
    [
        ["--add-ignore", "MFSDP101"],
        ["--reason", "x"],
        ["--add-ignore", "MFSDP101", "--reason", " "],
        ["--add-ignore", "MFSDP101", "--reason", "a # b"],
        ["--add-ignore", "MFSDP101", "--reason", "a\nb"],
        ["--add-ignore", "MFSDP101", "--reason", "x", "--fix"],
        ["--add-ignore", "MFSDP1234", "--reason", "x"],
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], here: Path) -> None:
    (here / "a.yaml").write_text(YAML)
    assert main([*arguments, "a.yaml"]) == 2
    assert (here / "a.yaml").read_text() == YAML


def test_where_no_comment_can_stand_the_file_stays_and_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "run:\n  command: |\n    torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format torch_dist --save /r\n"
    (here / "a.yaml").write_text(text)
    (here / "b.yaml").write_text(YAML)
    main([*WRITE, "."])
    assert (here / "a.yaml").read_text() == text
    assert "ignore[MFSDP101]" in (here / "b.yaml").read_text()
