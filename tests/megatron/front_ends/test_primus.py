"""Primus: an experiment with the presets of its module and its model, as its own parser puts them together."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known
from tests.megatron.front_ends.project import Project

PRESETS = {
    "primus/configs/modules/megatron/pre_trainer.yaml": """\
        extends:
          - trainer_base.yaml
        use_distributed_optimizer: true
        seq_length: ${PRIMUS_SEQ_LENGTH:4096}
        """,
    "primus/configs/modules/megatron/trainer_base.yaml": """\
        use_distributed_optimizer: false
        use_megatron_fsdp: false
        ckpt_format: torch_dist
        save: "null"
        tensor_model_parallel_size: 2
        sequence_parallel: true
        """,
    "primus/configs/models/megatron/small.yaml": """\
        extends: base.yaml
        num_layers: 4
        seq_length: 1
        """,
    "primus/configs/models/megatron/base.yaml": """\
        num_layers: 2
        gradient_accumulation_fusion: false
        """,
}

EXPERIMENT = """\
work_group: ${PRIMUS_TEAM:amd}
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: ${PRIMUS_MODEL:small}.yaml
    overrides:
      use_megatron_fsdp: true
      data_parallel_sharding_strategy: optim_grads_params
"""


def test_overrides_lie_over_the_module_and_that_over_the_model(project: Project) -> None:
    project.write({**PRESETS, "examples/small.yaml": EXPERIMENT})
    assert project.values(
        "examples/small.yaml",
        "dist.use_megatron_fsdp",
        "ddp.use_megatron_fsdp",
        "ddp.use_distributed_optimizer",
        "model.num_layers",
        "model.seq_length",
        "model.gradient_accumulation_fusion",
        "checkpoint.ckpt_format",
        "checkpoint.save",
    ) == [Known(each) for each in (True, True, True, 4, 4096, False, "torch_dist", None)]


def test_a_value_was_written_where_it_came_from(project: Project) -> None:
    project.write({**PRESETS, "examples/small.yaml": EXPERIMENT})
    recipe = project.recipe("examples/small.yaml")
    assert (recipe.front_end.name, recipe.line, recipe.partial) == ("primus", 3, False)
    assert project.place("examples/small.yaml", "ddp.use_megatron_fsdp") == "examples/small.yaml:8"
    assert project.place("examples/small.yaml", "checkpoint.ckpt_format") == (
        "primus/configs/modules/megatron/trainer_base.yaml:3"
    )
    assert project.place("examples/small.yaml", "model.num_layers") == "primus/configs/models/megatron/small.yaml:2"
    history = recipe.variants[0].settings.history("ddp.use_megatron_fsdp")
    assert [origin.span.path for _, origin in history] == [
        "primus/configs/modules/megatron/trainer_base.yaml",
        "examples/small.yaml",
    ]


def test_a_variable_of_the_environment_is_its_default_until_somebody_sets_it(project: Project) -> None:
    project.write({**PRESETS, "examples/small.yaml": EXPERIMENT})
    origin = project.recipe("examples/small.yaml").variants[0].origin("model.seq_length")
    assert origin is not None
    assert origin.option == "$PRIMUS_SEQ_LENGTH"


def test_what_nobody_writes_is_what_the_parser_of_megatron_lm_says(project: Project) -> None:
    project.write({**PRESETS, "examples/small.yaml": EXPERIMENT})
    assert project.values("examples/small.yaml", "model.pipeline_model_parallel_size") == [Known(1)]


def test_what_primus_itself_sets(project: Project) -> None:
    project.write({**PRESETS, "examples/small.yaml": EXPERIMENT})
    variable, parallel = "env.CUDA_DEVICE_MAX_CONNECTIONS", "model.sequence_parallel"
    assert project.values("examples/small.yaml", variable, parallel) == [Known("8"), Known(True)]
    project.write({"examples/small.yaml": EXPERIMENT + "      tensor_model_parallel_size: 1\n"})
    assert project.values("examples/small.yaml", variable, parallel) == [Known("8"), Known(False)]
    project.write({"examples/small.yaml": EXPERIMENT + "      disable_env_patches: true\n"})
    assert project.values("examples/small.yaml", variable) == [UNKNOWN]
    project.write({"examples/small.yaml": EXPERIMENT.replace("fsdp: true", "fsdp: false")})
    assert project.values("examples/small.yaml", variable) == [UNKNOWN]  # whatever the caller has


def test_without_the_presets_of_its_own_only_what_is_written_is_known(project: Project) -> None:
    project.write({"examples/small.yaml": EXPERIMENT.replace("pre_trainer.yaml", "ours.yaml")})
    assert project.recipe("examples/small.yaml").partial
    assert project.values("examples/small.yaml", "ddp.use_megatron_fsdp", "checkpoint.ckpt_format") == [
        Known(True),
        UNKNOWN,
    ]
    assert project.told("examples") == []


def test_what_primus_ships_in_its_presets_is_known_without_its_source(project: Project) -> None:
    project.write({"exp.yaml": EXPERIMENT})
    paths = ("checkpoint.ckpt_format", "ddp.data_parallel_sharding_strategy", "ddp.use_distributed_optimizer")
    assert project.values("exp.yaml", *paths) == [Known("torch_dist"), Known("optim_grads_params"), Known(True)]
    assert project.values("exp.yaml", "model.num_layers", "checkpoint.save") == [UNKNOWN, UNKNOWN]
    assert project.place("exp.yaml", "checkpoint.ckpt_format") == "exp.yaml:5"  # where the preset is named
    assert project.told("exp.yaml") == ["exp.yaml:8:26: error MFSDP101"]


@pytest.mark.parametrize(
    "other",
    [
        {"primus/configs/modules/megatron/trainer_base.yaml": "extends: pre_trainer.yaml\n"},  # a circle
        {"primus/configs/modules/megatron/trainer_base.yaml": "- a list\n"},
        {"primus/configs/modules/megatron/trainer_base.yaml": "{not: valid\n"},
        {"primus/configs/modules/megatron/pre_trainer.yaml": "extends: [gone.yaml]\n"},
        {"primus/configs/modules/megatron/pre_trainer.yaml": "extends: {a: b}\n"},
        {"primus/configs/modules/megatron/pre_trainer.yaml": "bases: [gone.yaml]\n"},  # a key that is not known
        {"primus/configs/modules/megatron/pre_trainer.yaml": ""},
    ],
)
def test_a_preset_that_cannot_be_read_leaves_what_it_could_say_unknown(project: Project, other: dict[str, str]) -> None:
    project.write({**PRESETS, **other, "examples/small.yaml": EXPERIMENT})
    assert project.values("examples/small.yaml", "ddp.use_megatron_fsdp", "checkpoint.ckpt_format") == [
        Known(True),
        UNKNOWN,
    ]


def test_other_frameworks_of_primus_are_not_ours(project: Project) -> None:
    project.write({"examples/small.yaml": EXPERIMENT.replace("framework: megatron", "framework: maxtext")})
    assert project.recipes("examples/small.yaml") == []


def test_values_are_read_as_pyyaml_reads_them(project: Project) -> None:
    project.write({**PRESETS, "examples/small.yaml": EXPERIMENT + "      lr: 1e-5\n      clip_grad: 1.0e-1\n"})
    assert project.values("examples/small.yaml", "optimizer.lr", "optimizer.clip_grad") == [Known("1e-5"), Known(0.1)]


def test_a_mistake_in_a_preset_that_others_share_is_mended_in_the_experiment(project: Project) -> None:
    """Saving in a format that Megatron-FSDP has not: the preset is right for everybody else."""
    saving = EXPERIMENT + "      save: /checkpoints # on the shared disk\n"
    other = EXPERIMENT.replace("use_megatron_fsdp: true", "use_megatron_fsdp: false")
    project.write({**PRESETS, "examples/small.yaml": saving, "examples/other.yaml": other})
    assert "examples/small.yaml:8:26: error MFSDP101" in project.told(".")
    project.told(".", "--select", "MFSDP101", "--fix")
    assert project.text("examples/small.yaml") == saving + "      ckpt_format: fsdp_dtensor\n"
    assert project.told(".", "--select", "MFSDP101") == []


def test_a_value_of_its_own_is_replaced(project: Project) -> None:
    saving = EXPERIMENT + "      save: /checkpoints\n      ckpt_format: torch_dist # as before\n"
    project.write({**PRESETS, "examples/small.yaml": saving})
    project.told(".", "--select", "MFSDP101", "--fix")
    assert project.text("examples/small.yaml") == saving.replace("torch_dist", "fsdp_dtensor")


def test_presets_that_double_with_every_file_end(project: Project) -> None:
    chain = {
        f"primus/configs/modules/megatron/p{step}.yaml": f"extends: [p{step + 1}.yaml, p{step + 1}.yaml]\n"
        for step in range(40)
    }
    last = {"primus/configs/modules/megatron/p40.yaml": "ckpt_format: torch_dist\n"}
    own = EXPERIMENT.replace("pre_trainer.yaml", "p0.yaml")
    project.write({**PRESETS, **chain, **last, "examples/small.yaml": own})
    assert project.values("examples/small.yaml", "checkpoint.ckpt_format") == [Known("torch_dist")]
