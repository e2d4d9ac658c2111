"""MindSpeed-MM: `gpt_args` of a YAML file are the command line of Megatron-LM 0.12, flag by flag."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known, Value
from tests.megatron.front_ends.project import Project

RUN = """\
SAVE: &SAVE save_dir
MM_TOOL_PATH: ./tools.json
gpt_args:
  ## parallel
  use_torch_fsdp2: true
  fsdp2_config_path: ./fsdp2.yaml
  ckpt_format: torch_dcp
  training:
    micro_batch_size: 2
    save: *SAVE
  no_load_optim: true
  no_gradient_accumulation_fusion: true
  untie_embeddings_and_output_weights: true
"""


def test_keys_are_flags(project: Project) -> None:
    project.write({"run.yaml": RUN})
    assert project.values(
        "run.yaml",
        "dist.use_torch_fsdp2",
        "checkpoint.ckpt_format",
        "train.micro_batch_size",
        "checkpoint.save",
        "checkpoint.load_optim",
        "model.gradient_accumulation_fusion",
        "model.share_embeddings_and_output_weights",
        "model.pipeline_model_parallel_size",  # as the parser has it
    ) == [Known(each) for each in (True, "torch_dcp", 2, "save_dir", False, False, False, 1)]
    assert project.place("run.yaml", "checkpoint.ckpt_format") == "run.yaml:7"


@pytest.mark.parametrize(
    ("line", "path", "value"),
    [
        ("use_distributed_optimizer: true", "ddp.use_distributed_optimizer", Known(True)),
        ("use_distributed_optimizer: false", "ddp.use_distributed_optimizer", UNKNOWN),  # argparse refuses the word
        ("tensor_model_parallel_size: 2", "model.tensor_model_parallel_size", Known(2)),
        ("tensor_model_parallel_size: null", "model.tensor_model_parallel_size", UNKNOWN),  # the word None
        ("ckpt_format: torch", "checkpoint.ckpt_format", Known("torch")),  # of two the later
        ("ckpt_format: [torch_dcp, torch]", "checkpoint.ckpt_format", Known("torch")),
    ],
)
def test_what_becomes_of_a_value(project: Project, line: str, path: str, value: Value) -> None:
    project.write({"run.yaml": f"{RUN}  more:\n    {line}\n"})
    assert project.values("run.yaml", path) == [value]


def test_it_is_judged_by_the_only_core_that_it_runs_with(project: Project) -> None:
    """Megatron-LM knows fsdp_dtensor from 0.14 on; what it says of torch FSDP2, MindSpeed-MM does itself."""
    project.write({"run.yaml": RUN.replace("torch_dcp", "fsdp_dtensor")})
    assert project.values("run.yaml", "checkpoint.ckpt_format") == [UNKNOWN]
    assert project.told("run.yaml") == []


def test_a_flag_that_its_checks_refuse(project: Project) -> None:
    project.write({"run.yaml": RUN.replace("torch_dcp", "torch")})
    assert project.told("run.yaml") == ["run.yaml:7:16: error MFSDP253"]
    project.told("run.yaml", "--unsafe-fixes", "--fix")
    assert project.told("run.yaml") == []
