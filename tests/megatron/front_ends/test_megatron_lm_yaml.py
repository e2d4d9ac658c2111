"""Megatron-LM's `--yaml-cfg`: a file in the place of the command line, which nobody validates for FSDP."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known
from tests.megatron.front_ends.project import Project

RUN = """\
language_model:
  num_layers: 24
  recompute_granularity: full
model_parallel:
  tensor_model_parallel_size: 1
  sequence_parallel: true
  gradient_accumulation_fusion: true
use_megatron_fsdp: true
use_distributed_optimizer: true
data_parallel_sharding_strategy: optim_grads_params
ckpt_format: torch_dist
ddp_average_in_collective: false
"""

NO_FSDP = RUN.replace("use_megatron_fsdp: true\n", "")


def test_what_the_file_comes_to(project: Project) -> None:
    project.write({"run.yaml": RUN})
    assert project.values(
        "run.yaml",
        "ddp.use_megatron_fsdp",
        "model.num_layers",
        "model.recompute_granularity",
        "model.sequence_parallel",
        "ddp.average_in_collective",
        "checkpoint.ckpt_format",
    ) == [Known(each) for each in (True, 24, "full", False, False, "torch_dist")]
    # It has no defaults.
    assert project.values("run.yaml", "ddp.overlap_grad_reduce") == [UNKNOWN]


def test_only_what_megatron_itself_refuses_is_said(project: Project) -> None:
    project.write({"run.yaml": RUN})
    assert [line for line in project.told(".") if "MFSDP101" in line] == []
    project.write({"run.yaml": RUN.replace("tensor_model", "pipeline_model_parallel_size: 2\n  tensor_model")})
    assert project.told(".") == ["run.yaml:5:33: error MFSDP350"]


def test_files_of_others_with_a_language_model_are_not_ours(project: Project) -> None:
    project.write({"run.yaml": "language_model:\n  name: x\nuse_megatron_fsdp: true\n"})
    assert project.recipes("run.yaml") == []


FLAGS = "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params --ckpt-format fsdp_dtensor"


@pytest.mark.parametrize(
    ("file", "command", "wanted"),
    [
        (NO_FSDP, f"--yaml-cfg conf/run.yaml {FLAGS}", ["job.sh:1:51: warning MFSDP705"]),
        (NO_FSDP, f"--yaml-cfg=conf/run.yaml {FLAGS}", ["job.sh:1:51: warning MFSDP705"]),
        (NO_FSDP, "--yaml-cfg conf/run.yaml --ckpt-format fsdp_dtensor", []),
        (RUN, f"--yaml-cfg conf/run.yaml {FLAGS}", []),
        (NO_FSDP, f"--yaml-cfg $CONFIG {FLAGS}", []),
    ],
    ids=["a word", "behind =", "no FSDP", "the file turns it on as well", "a file that is not known"],
)
def test_the_flags_beside_it_are_dropped(file: str, command: str, wanted: list[str], project: Project) -> None:
    project.write({"conf/run.yaml": file, "job.sh": f"torchrun pretrain_gpt.py {command}\n"})
    assert [line for line in project.told(".") if "job.sh" in line and "info" not in line] == wanted
