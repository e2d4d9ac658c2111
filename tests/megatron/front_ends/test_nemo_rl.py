"""NeMo-RL: `defaults` names what lies below a file; Megatron gets the keys that NeMo-RL passes on, and no others."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known
from tests.megatron.front_ends.project import Project

BASE = """\
policy:
  precision: bfloat16
  train_global_batch_size: 512
  megatron_cfg:
    enabled: true
    activation_checkpointing: true
    pipeline_dtype: ${policy.precision}
    tensor_model_parallel_size: 1
    sequence_parallel: false
    optimizer:
      use_distributed_optimizer: true
      clip_grad: 1
    env_vars:
      NCCL_ALGO: ${oc.env:NCCL_ALGO,Tree}
      PATIENCE: 3
    distributed_data_parallel_config:
      grad_reduce_in_fp32: false
      overlap_grad_reduce: true
      use_custom_fsdp: false
      data_parallel_sharding_strategy: optim_grads_params
"""

CHILD = """\
defaults: ../base.yaml
policy:
  megatron_cfg:
    tensor_model_parallel_size: 4
    sequence_parallel: true
"""

FILES = {"configs/base.yaml": BASE, "configs/recipes/child.yaml": CHILD}


def test_a_switch_that_nobody_reads(project: Project) -> None:
    switched = BASE.replace("use_custom_fsdp: false", "use_megatron_fsdp: true")
    project.write({"configs/base.yaml": switched})
    assert project.values("configs/base.yaml", "ddp.use_megatron_fsdp") == [Known(False)]
    assert "configs/base.yaml:19:7: warning MFSDP705" in project.told(".")


@pytest.mark.parametrize(
    ("base", "told"),
    [
        pytest.param("/opt/rl/examples/configs/sft_openmathinstruct2_megatron.yaml", True, id="elsewhere"),
        pytest.param("../../RL/examples/configs/recipes/vlm/vlm_grpo-2b-megatron.yaml", True, id="beside the project"),
        pytest.param("/opt/rl/examples/configs/recipes/llm/performance/grpo-32b.yaml", True, id="all of them have it"),
        pytest.param("../grpo_math_1B_megatron.yaml", True, id="where the folder is copied to"),
        pytest.param("../grpo-32b.yaml", False, id="any file there"),
        pytest.param("/opt/rl/examples/configs/sft.yaml", False, id="one without Megatron"),
        pytest.param("/data/grpo_megatron.yaml", False, id="a file of somebody's own"),
    ],
)
def test_files_of_nemo_rl_itself_that_run_megatron(project: Project, base: str, told: bool) -> None:
    child = f"defaults: [{base}]\npolicy:\n  megatron_cfg:\n    distributed_data_parallel_config:\n"
    project.write({"conf/mid.yaml": f"defaults: {base}\n", "conf/run.yaml": f"{child}      use_custom_fsdp: true\n"})
    assert project.told(".") == (["conf/run.yaml:5:24: warning MFSDP750"] if told else [])


def test_nothing_else_is_known_of_such_a_file(project: Project) -> None:
    project.write({"run.yaml": "defaults: /opt/rl/examples/configs/grpo_math_8B_megatron.yaml\n"})
    paths = ("ddp.use_megatron_fsdp", "model.tensor_model_parallel_size", "ddp.data_parallel_sharding_strategy")
    assert project.values("run.yaml", *paths) == [Known(False), UNKNOWN, UNKNOWN]


def test_a_file_lies_over_those_that_it_names(project: Project) -> None:
    project.write(FILES)
    assert project.values(
        "configs/recipes/child.yaml",
        "model.tensor_model_parallel_size",
        "model.sequence_parallel",
        "model.bf16",
        "model.fp16",
        "train.global_batch_size",
        "ddp.use_distributed_optimizer",
        "optimizer.use_distributed_optimizer",
        "optimizer.clip_grad",
        "ddp.overlap_grad_reduce",
    ) == [Known(each) for each in (4, True, True, False, 512, True, True, 1, True)]
    assert project.place("configs/recipes/child.yaml", "model.tensor_model_parallel_size") == (
        "configs/recipes/child.yaml:4"
    )
    assert project.place("configs/recipes/child.yaml", "ddp.use_distributed_optimizer") == "configs/base.yaml:11"


def test_what_nemo_rl_sets_itself(project: Project) -> None:
    project.write(FILES)
    recipe = project.recipe("configs/recipes/child.yaml")
    assert (recipe.front_end.name, recipe.partial) == ("nemo-rl", False)
    assert project.values(
        "configs/recipes/child.yaml",
        "ddp.use_megatron_fsdp",
        "ddp.average_in_collective",
        "model.calculate_per_token_loss",
        "model.recompute_granularity",
    ) == [Known(each) for each in (False, False, True, "full")]
    project.write({"configs/base.yaml": BASE.replace("checkpointing: true", "checkpointing: false")})
    assert project.values("configs/recipes/child.yaml", "model.recompute_granularity") == [UNKNOWN]


def test_variables_of_the_environment_are_texts(project: Project) -> None:
    project.write(FILES)
    assert project.values("configs/base.yaml", "env.PATIENCE", "env.NCCL_ALGO") == [Known("3"), Known("Tree")]
    origin = project.recipe("configs/base.yaml").variants[0].origin("env.NCCL_ALGO")
    assert origin is not None
    assert origin.option == "$NCCL_ALGO"


def test_nobody_reads_the_switch_of_megatron_fsdp(project: Project) -> None:
    project.write({"configs/base.yaml": BASE.replace("custom_fsdp: false", "custom_fsdp: true")})
    assert project.told(".") == ["configs/base.yaml:19:24: warning MFSDP750"]
    project.told(".", "--unsafe-fixes", "--fix")  # no key turns FSDP on
    assert project.text("configs/base.yaml") == BASE.replace("custom_fsdp: false", "custom_fsdp: true")


def test_what_bridge_validates_is_no_error_where_nobody_validates(project: Project) -> None:
    project.write({"configs/base.yaml": BASE})
    assert project.told(".") == []


@pytest.mark.parametrize(
    ("base", "known"),
    [
        (BASE, Known("bfloat16")),
        ("defaults: [base.yaml]\n", UNKNOWN),  # a circle
        ("- no mapping\n", UNKNOWN),
        ("defaults: elsewhere.yaml\n", UNKNOWN),
    ],
)
def test_a_base_that_is_not_there_leaves_what_it_could_say_unknown(project: Project, base: str, known: object) -> None:
    own = "policy: {megatron_cfg: {enabled: true, optimizer: {params_dtype: '${policy.precision}'}}}\n"
    project.write({"base.yaml": base, "child.yaml": "defaults: [base.yaml]\n" + own})
    assert project.values("child.yaml", "optimizer.params_dtype") == [known]


def test_a_section_may_replace_the_one_below(project: Project) -> None:
    child = CHILD.replace("policy:\n", "policy:\n  _override_: true\n").replace("cfg:\n", "cfg:\n    enabled: true\n")
    project.write({"configs/base.yaml": BASE, "configs/recipes/child.yaml": child})
    assert project.values("configs/recipes/child.yaml", "model.bf16", "model.tensor_model_parallel_size") == [
        UNKNOWN,
        Known(4),
    ]


def test_a_run_without_megatron_is_none_of_ours(project: Project) -> None:
    project.write({"base.yaml": BASE.replace("enabled: true", "enabled: false") + "logger: {log_dir: logs}\n"})
    assert project.recipes("base.yaml") == []


def test_several_models_are_several_recipes(project: Project) -> None:
    project.write({"base.yaml": BASE + "teacher: ${policy}\n"})
    assert [recipe.name for recipe in project.recipes("base.yaml")] == ["base.yaml[policy]", "base.yaml[teacher]"]
