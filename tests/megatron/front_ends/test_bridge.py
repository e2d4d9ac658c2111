"""Megatron-Bridge's own YAML: override files, and the configuration that a run has dumped."""

from __future__ import annotations

from tests.megatron.front_ends.project import Project

DUMP = """\
_target_: megatron.bridge.training.config.ConfigContainer
checkpoint:
  _target_: megatron.bridge.training.config.CheckpointConfig
  ckpt_format: torch_dist
  save: /checkpoints
  load: null
  pretrained_checkpoint: null
ddp:
  _target_: megatron.bridge.training.config.DistributedDataParallelConfig
  use_megatron_fsdp: true
  average_in_collective: false
  data_parallel_sharding_strategy: optim_grads_params
"""


def test_a_dump_is_a_whole_configuration(project: Project) -> None:
    project.write({"run_config.yaml": DUMP, "override.yaml": DUMP.partition("\n")[2]})
    dump, override = project.recipe("run_config.yaml"), project.recipe("override.yaml")
    assert [(each.kind, each.partial) for each in (dump, override)] == [("configuration", False), ("overrides", True)]


def test_a_mistake_in_a_dump(project: Project) -> None:
    project.write({"run_config.yaml": DUMP})
    assert project.told(".") == ["run_config.yaml:4:16: error MFSDP101"]
    project.told(".", "--fix")
    assert project.text("run_config.yaml") == DUMP.replace("torch_dist", "fsdp_dtensor")


def test_what_names_others_below_it_is_no_override_file(project: Project) -> None:
    project.write({"child.yaml": "defaults: base.yaml\nddp:\n  use_megatron_fsdp: true\n"})
    assert project.recipes("child.yaml") == []


def test_a_configuration_of_nemo_1_is_no_override_file(project: Project) -> None:
    model = "model:\n  sequence_parallel: true\n  tensor_model_parallel_size: 1\n"
    project.write({"gpt3.yaml": f"trainer:\n  devices: 8\nexp_manager:\n  name: megatron_gpt\n{model}"})
    assert project.recipes("gpt3.yaml") == []
