"""ms-swift: options in a YAML file, and variables that hold where the caller sets no others."""

from __future__ import annotations

from mfsdp_lint.core.values import UNKNOWN, Known
from tests.megatron.front_ends.project import Project

RUN = """\
ENV:
  NPROC_PER_NODE: 8
model: Qwen/Qwen3-8B
tuner_type: full
use_megatron_fsdp: true
tensor_model_parallel_size: 2
sequence_parallel: true
no_save_optim: true
"""


def test_what_the_options_come_to(project: Project) -> None:
    project.write({"run.yaml": RUN})
    assert project.values(
        "run.yaml",
        "ddp.use_megatron_fsdp",
        "ddp.use_distributed_optimizer",
        "ddp.data_parallel_sharding_strategy",
        "model.tensor_model_parallel_size",
        "model.pipeline_model_parallel_size",
        "model.sequence_parallel",
        "checkpoint.save_optim",
        "checkpoint.ckpt_format",
        "env.NPROC_PER_NODE",
    ) == [Known(each) for each in (True, True, "optim_grads_params", 2, 1, True, False, "fsdp_dtensor", "8")]
    assert project.values("run.yaml", "env.CUDA_DEVICE_MAX_CONNECTIONS", "checkpoint.save") == [UNKNOWN, UNKNOWN]
    assert project.told(".") == []


def test_sequence_parallelism_needs_tensor_parallelism(project: Project) -> None:
    project.write({"run.yaml": RUN.replace("tensor_model_parallel_size: 2\n", "")})
    assert project.values("run.yaml", "model.sequence_parallel") == [Known(False)]


def test_a_variable_that_its_own_check_refuses(project: Project) -> None:
    project.write({"run.yaml": RUN.replace("NPROC_PER_NODE: 8", "CUDA_DEVICE_MAX_CONNECTIONS: 1")})
    assert project.told(".") == ["run.yaml:2:32: error MFSDP501"]
    project.told(".", "--fix")
    assert project.text("run.yaml") == RUN.replace("ENV:\n  NPROC_PER_NODE: 8", "ENV: {}")


def test_what_only_megatron_lm_validates_is_no_mistake(project: Project) -> None:
    project.write({"run.yaml": RUN + "optimizer_cpu_offload: true\ncalculate_per_token_loss: true\n"})
    assert [line for line in project.told(".") if "error" in line] == []


def test_other_files_with_the_same_key_are_not_ours(project: Project) -> None:
    project.write({"run.yaml": "use_megatron_fsdp: true\nmodel: x\n"})
    assert project.recipes("run.yaml") == []
