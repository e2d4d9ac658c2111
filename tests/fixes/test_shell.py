"""Fixes in launch scripts: what is written, and that a second run writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

HEAD = "torchrun --nproc_per_node 8 pretrain_gpt.py"
REST = "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
GOOD = f"{HEAD} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor"

Fix = Callable[..., str]


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fix:
    """What `--fix` makes of a script."""
    monkeypatch.chdir(tmp_path)

    def fix(script: str, *, unsafe: bool = False) -> str:
        path = tmp_path / "train.sh"
        path.write_bytes(script.encode())
        written = []
        for _ in range(2):
            main(["--no-cache", "--target-core", "0.16.1", "--fix", *(["--unsafe-fixes"] if unsafe else []), "."])
            written.append(path.read_bytes())
        capsys.readouterr()
        assert written[0] == written[1], "a second run changes nothing"
        return written[0].decode()

    return fix


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            f"{HEAD} --use-megatron-fsdp {REST} --ckpt-format torch_dist\n",
            f"{HEAD} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor\n",
            id="the word behind a flag",
        ),
        pytest.param(
            f"{HEAD} --use-megatron-fsdp {REST} --ckpt-format='torch_dist'\n",
            f"{HEAD} --use-megatron-fsdp {REST} --ckpt-format='fsdp_dtensor'\n",
            id="behind an equals sign, in its quotes",
        ),
        pytest.param(
            f"F=torch_dist  # how\n{HEAD} --use-megatron-fsdp {REST} --ckpt-format $F\n",
            f"F=fsdp_dtensor  # how\n{HEAD} --use-megatron-fsdp {REST} --ckpt-format $F\n",
            id="what a variable holds",
        ),
        pytest.param(
            f"{HEAD} --use-megatron-fsdp {REST}\n",
            f"{HEAD} --use-megatron-fsdp --ckpt-format fsdp_dtensor {REST}\n",
            id="a flag that is not there, behind the one that needs it",
        ),
        pytest.param(
            f"{HEAD} \\\n    {REST} \\\n    --use-megatron-fsdp\n",
            f"{HEAD} \\\n    {REST} \\\n    --use-megatron-fsdp \\\n    --ckpt-format fsdp_dtensor\n",
            id="on a line of its own, that is continued as the others",
        ),
        pytest.param(
            f'A=(\n  {REST}\n  "--use-megatron-fsdp"\n)\n{HEAD} "${{A[@]}}"\n',
            f'A=(\n  {REST}\n  "--use-megatron-fsdp"\n  --ckpt-format fsdp_dtensor\n)\n{HEAD} "${{A[@]}}"\n',
            id="an element of an array",
        ),
        pytest.param(
            f'A="--use-megatron-fsdp {REST}"\n{HEAD} $A\n',
            f'A="--use-megatron-fsdp --ckpt-format fsdp_dtensor {REST}"\n{HEAD} $A\n',
            id="within quotes",
        ),
        pytest.param(
            f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{HEAD} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor\n",
            f"{HEAD} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor\n",
            id="an export",
        ),
        pytest.param(
            f"export A=1 CUDA_DEVICE_MAX_CONNECTIONS=1 B=2\n{GOOD}\n",
            f"export A=1 B=2\n{GOOD}\n",
            id="one of several that are exported",
        ),
        pytest.param(
            f"CUDA_DEVICE_MAX_CONNECTIONS=1 {HEAD} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor\n",
            f"{HEAD} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor\n",
            id="in front of the command",
        ),
        pytest.param(
            f"cat > job.sh <<EOF\n{HEAD} \\\\\n  --use-megatron-fsdp {REST} --ckpt-format torch\nEOF\nsbatch job.sh\n",
            "cat > job.sh <<EOF\n" + GOOD.replace(" --use", " \\\\\n  --use", 1) + "\nEOF\nsbatch job.sh\n",
            id="in a heredoc",
        ),
        pytest.param(
            f"#！/bin/bash\n{HEAD} --tensor-model-parallel-size 1",
            f"#!/bin/bash\n{HEAD} --tensor-model-parallel-size 1\n",
            id="the first line and the last one",
        ),
    ],
)
def test_what_is_written(fixed: Fix, before: str, after: str) -> None:
    assert fixed(before) == after


def test_an_override_takes_its_value_from_a_sourced_file(fixed: Fix, tmp_path: Path) -> None:
    (tmp_path / "defaults.sh").write_text("SAVE=${SAVE:-true}\n")
    lines = "\n" * 8
    script = (
        f'{lines}source defaults.sh\nO="a=b"\nO="$O checkpoint.async_save=$SAVE ddp.use_megatron_fsdp=true"\n'
        "torchrun run_recipe.py --recipe llama32_1b_pretrain_config $O checkpoint.ckpt_format=fsdp_dtensor"
        " ddp.data_parallel_sharding_strategy=optim_grads_params ddp.average_in_collective=false\n"
    )
    assert fixed(script, unsafe=True) == script
    assert (tmp_path / "defaults.sh").read_text() == "SAVE=${SAVE:-false}\n"


def test_a_branch_that_turns_fsdp_on_takes_the_variable_away(fixed: Fix) -> None:
    script = f"""export CUDA_DEVICE_MAX_CONNECTIONS=1
A=()
if [ "$FSDP" = 1 ]; then
    A+=(--use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor)
fi
{HEAD} --tensor-model-parallel-size 1 "${{A[@]}}"
"""
    line = "    A+=("
    assert fixed(script) in (
        script.replace(line, f"    unset CUDA_DEVICE_MAX_CONNECTIONS\n{line}"),
        script.replace("\nfi", "\n    unset CUDA_DEVICE_MAX_CONNECTIONS\nfi"),
    )


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f'{HEAD} --use-megatron-fsdp {REST} --ckpt-format "$(cat format)"\n', id="a value nobody knows"),
        pytest.param(f"{HEAD}\n  --use-megatron-fsdp\n", id="a lost backslash"),
        pytest.param(f"{HEAD} \\\r\n --use-megatron-fsdp {REST}\r\n", id="lines that end with CR LF"),
        pytest.param(f'{HEAD} --use-megatron-fsdp {REST}\necho "\n', id="a quote that is never closed"),
    ],
)
def test_what_is_left_as_it_is(fixed: Fix, script: str) -> None:
    assert fixed(script) == script
