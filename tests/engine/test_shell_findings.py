"""What is found in launch scripts, and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

HEAD = "torchrun --nproc_per_node 8 pretrain_gpt.py"
GOOD = "--use-megatron-fsdp --ckpt-format fsdp_dtensor --no-gradient-accumulation-fusion --use-distributed-optimizer"
GOOD += " --data-parallel-sharding-strategy optim_grads_params --untie-embeddings-and-output-weights"


Check = Callable[..., list[tuple[int, int, str, str]]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Lints a script against a version; the findings as (line, column, severity, code)."""
    monkeypatch.chdir(tmp_path)

    def check(
        script: str, core: str = "0.16.1", name: str = "train.sh", shown: str = ""
    ) -> list[tuple[int, int, str, str]]:
        (tmp_path / name).write_text(script, encoding="utf-8")
        main(["--no-cache", "--output-format", "concise", "--target-core", core, "."])
        found = []
        for line in capsys.readouterr().out.splitlines():
            place, _, rest = line.partition(": ")
            if place.startswith(shown or name) and rest:
                _, row, column = place.split(":")
                severity, code = rest.split()[:2]
                found.append((int(row), int(column), severity, code))
        return found

    return check


def test_a_script_that_is_right_has_no_findings(check: Check) -> None:
    assert check(f"unset CUDA_DEVICE_MAX_CONNECTIONS\n{HEAD} {GOOD}\n") == []


def test_one_connection_with_megatron_fsdp(check: Check) -> None:
    assert check(f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{HEAD} {GOOD}\n") == [(1, 36, "error", "MFSDP501")]


def test_fsdp_that_a_branch_turns_on_at_the_end_of_an_array(check: Check) -> None:
    script = f"""\
ARGS=(--tensor-model-parallel-size 1 --ckpt-format torch_dist --save /x)
if [ "$FSDP" = 1 ]; then
  ARGS+=({GOOD.replace("--ckpt-format fsdp_dtensor", "")})
fi
{HEAD} "${{ARGS[@]}}"
"""
    assert [each[::3] for each in check(script)] == [(3, "MFSDP101")]  # the other side is right with torch_dist


def test_a_flag_that_is_only_a_comment_says_nothing(check: Check) -> None:
    script = f"ARGS=(\n  {GOOD}\n  # --ckpt-format torch_dist\n)\n{HEAD} ${{ARGS[@]}}\n"
    assert check(script) == []


def test_a_finding_in_a_file_that_is_sourced(check: Check, tmp_path: Path) -> None:
    (tmp_path / "env.sh").write_text("export CUDA_DEVICE_MAX_CONNECTIONS=1\n", encoding="utf-8")
    assert check(f"source ./env.sh\n{HEAD} {GOOD}\n", shown="env.sh") == [(1, 36, "error", "MFSDP501")]


@pytest.mark.parametrize(
    ("sizes", "wrong"),
    [
        ("--tensor-model-parallel-size 3", "-size 3"),
        ("--pipeline-model-parallel-size 1 --tensor-model-parallel-size 3", "-size 3"),
        ("--num-experts 16 --expert-model-parallel-size 16", "-size 16"),
        (
            "--num-experts 4 --tensor-model-parallel-size 4 --expert-model-parallel-size 4",
            "expert-model-parallel-size 4",
        ),
        # Experts need not be tensor parallel, and nobody knows a size that a caller gives.
        (
            "--num-experts 4 --tensor-model-parallel-size 4 --expert-model-parallel-size 4"
            " --expert-tensor-parallel-size 1 --sequence-parallel",
            "",
        ),
        ("--num-experts 16 --expert-model-parallel-size $1", ""),
    ],
)
def test_ranks_that_no_size_fits(check: Check, sizes: str, wrong: str) -> None:
    script = f"{HEAD} {sizes} {GOOD}\n"
    at = script.index(wrong) + wrong.index(" ") + 2 if wrong else 0
    assert [(column, code) for _, column, _, code in check(script)] == ([(at, "MFSDP305")] if wrong else [])


def test_a_size_is_told_before_the_number_of_ranks(check: Check) -> None:
    script = f"NODES=1\nTP=16\n{HEAD.replace('8', '8 --nnodes $NODES')} --tensor-model-parallel-size $TP {GOOD}\n"
    assert [each[::3] for each in check(script)] == [(2, "MFSDP305")]


def test_a_comment_silences(check: Check) -> None:
    script = f"export CUDA_DEVICE_MAX_CONNECTIONS=1 # mfsdp: ignore[MFSDP501] an old GPU\n{HEAD} {GOOD}\n"
    assert check(script) == []


def test_a_script_is_known_by_its_first_line(check: Check) -> None:
    script = f"#!/usr/bin/env bash\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n{HEAD} {GOOD}\n"
    assert [each[3] for each in check(script, name="launch")] == ["MFSDP501"]


def test_another_item_of_a_case_is_a_warning(check: Check) -> None:
    script = f"""\
case "${{1:-train}}" in
  train) FORMAT=fsdp_dtensor ;;
  export) FORMAT=torch_dist ;;
esac
{HEAD} {GOOD.replace("fsdp_dtensor", "$FORMAT")} --save /x
"""
    assert [each[::2] + each[3:] for each in check(script)] == [(3, "warning", "MFSDP101")]


def test_what_is_wrong_by_default_is_not_told_again_of_a_switch(check: Check) -> None:
    script = f"""\
PROFILE=${{PROFILE:-0}}
LOG=${{LOG:-1}}
TP=${{TP:-1}}
ARGS=(--tensor-model-parallel-size $TP --sequence-parallel {GOOD})
if [ "$PROFILE" = 1 ]; then BEFORE="nsys profile -o /x"; ARGS+=(--profile); else BEFORE=""; fi
if [ "$LOG" = 1 ]; then ARGS+=(--wandb-exp-name run-TP$TP); fi
COMMAND="$BEFORE python pretrain_gpt.py ${{ARGS[@]}}"
bash -c "$COMMAND"
"""
    assert [each[::2] + each[3:] for each in check(script)] == [(4, "info", "MFSDP754")]
