"""A repository of several people: every launch is judged by the versions that its nearest folder names."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.engine import run as running
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.reports.summary import summary_line

LAUNCH = (
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 "
    "--micro-batch-size 1 --use-torch-fsdp2 --no-gradient-accumulation-fusion --ckpt-format torch_dist "
    "--untie-embeddings-and-output-weights\n"
)
"""Megatron-LM 0.16 cannot wrap its model, and 0.19 can (MFSDP202)."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        ".git/HEAD": "",
        "requirements.txt": "megatron-core==0.16.1\n",
        "people/bob/run.sh": LAUNCH,
        "people/ida/requirements.txt": "megatron-core==0.19.0\n",
        "people/ida/jobs/run.sh": LAUNCH,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "paths", [(".",), ("people",), ("people/ida", "people/bob"), ("people/bob/run.sh", "people/ida")]
)
def test_a_finding_stands_only_where_its_version_counts(repository: Path, paths: tuple[str, ...]) -> None:
    found = running.run(Options(paths=paths))
    assert [(each.code, each.span.path, each.versions) for each in found.findings] == [
        ("MFSDP202", "people/bob/run.sh", ())
    ]
    assert summary_line(found.summary).endswith(
        "judged against megatron-bridge 0.3.1 with megatron-core 0.16.1 (requirements.txt:1); "
        "people/ida against megatron-bridge 0.6.0 with megatron-core 0.19.0 (people/ida/requirements.txt:1)"
    )


def test_files_of_one_place_are_told_as_if_it_was_the_only_one(repository: Path) -> None:
    found = running.run(Options(paths=("people/ida",)))
    assert not found.findings
    assert summary_line(found.summary).endswith(
        "judged against megatron-bridge 0.6.0 with megatron-core 0.19.0 (people/ida/requirements.txt:1)"
    )


def test_a_helper_is_judged_with_each_program_by_the_versions_of_that_program(repository: Path) -> None:
    for person in ("bob", "ida"):
        Path("people", person, "run.sh").write_text("source ../../flags.sh\ntorchrun pretrain_gpt.py $FLAGS\n")
    Path("flags.sh").write_text(f"FLAGS='{LAUNCH.partition('.py ')[2].strip()}'\n")
    found = running.run(Options(paths=(".",)))
    (finding,) = (each for each in found.findings if each.span.path == "flags.sh")
    assert [each.name for each in finding.recipes] == ["run.sh"]
    assert finding.versions == ()


def test_fixes_are_proved_by_the_versions_of_the_place(repository: Path) -> None:
    launch = Path("people/ida/jobs/run.sh")
    launch.write_text(LAUNCH.replace("--no-gradient-accumulation-fusion ", ""))
    found = running.run(Options(paths=(".",), fix=True))
    assert [each.code for each in found.fixes] == ["MFSDP252"]
    assert "--no-gradient-accumulation-fusion" in launch.read_text()


def test_a_checkpoint_that_a_script_of_another_place_saves_is_seen(repository: Path) -> None:
    ida, bob = Path("people/ida/jobs/run.sh"), Path("people/bob/run.sh")
    words = LAUNCH.replace("--use-torch-fsdp2", "--use-megatron-fsdp").replace("torch_dist", "fsdp_dtensor")
    ida.write_text(f"{words.strip()} --save /checkpoints/gpt\n")
    bob.write_text(f"{words.strip()} --load /checkpoints/gpt\n")
    alone = running.run(Options(paths=(".",)))
    ida.write_text(ida.read_text().replace("--use-megatron-fsdp", "").replace("fsdp_dtensor", "torch_dist"))
    found = running.run(Options(paths=(".",)))
    known = {each.code for each in alone.findings}
    new = {each.code: each.span.path for each in found.findings if each.code not in known}
    assert new == {"MFSDP927": "people/bob/run.sh"}
