"""What a framework refuses by checks of its own: cases of the rules that are about it, or of MFSDP706."""

from __future__ import annotations

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.front_ends import FRONT_ENDS
from mfsdp_lint.megatron.conditions.language import parse
from mfsdp_lint.megatron.front_ends import Profile, profiles
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.rules.load import load_rules
from tests.megatron.front_ends.project import Project

AUTOMODEL = """\
shared: &shared
  strategy: {strategy}
  tp_size: 2

distributed:
  <<: *shared
  {key}: {value}
"""

NEMO_RL = """\
policy:
  megatron_cfg:
    enabled: true
    use_fused_linear_logprobs: {fused}
    optimizer:
      optimizer: {optimizer}
      use_distributed_optimizer: {sharded}
      optimizer_cpu_offload: {offload}
      optimizer_offload_fraction: {fraction}
      overlap_cpu_optimizer_d2h_h2d: {hidden}
    distributed_data_parallel_config:
      overlap_param_gather: {gather}
"""

FINE = {
    "fused": "false",
    "optimizer": "adam",
    "sharded": "true",
    "offload": "true",
    "fraction": "0.5",
    "hidden": "true",
    "gather": "true",
}

PRIMUS = """\
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: llama3_8B.yaml
    overrides:
      use_torch_fsdp2: {fsdp2}
      use_distributed_optimizer: false
      gradient_accumulation_fusion: false
      untie_embeddings_and_output_weights: true
      ckpt_format: {format}
      fp8: hybrid
      fp8_recipe: {recipe}
      {own}
"""

NEMO = """\
from nemo import lightning as nl

if __name__ == "__main__":
    strategy = nl.MegatronStrategy(
        {arguments}
    )
    trainer = nl.Trainer(devices=8, strategy=strategy)
"""

SWIFT = """\
import json
from pathlib import Path

from swift.megatron import MegatronPretrainArguments, megatron_pretrain_main

chosen = json.loads((Path(__file__).parent / "chosen.json").read_text())
megatron_pretrain_main(MegatronPretrainArguments(model="Qwen/Qwen3-8B", **chosen))
"""

MEGATRON_LM = """\
language_model:
  num_layers: 24
model_parallel:
  tensor_model_parallel_size: 1
overlap_param_gather: {gather}
overlap_grad_reduce: {reduce}
use_distributed_optimizer: {sharded}
"""

every = pytest.mark.parametrize("profile", profiles(), ids=lambda profile: profile.front_end.name)


@every
def test_a_refusal_is_of_a_rule_and_says_where_it_is_made(profile: Profile) -> None:
    rules = {rule.code for rule in load_rules()}
    for each in profile.front_end.refuses:
        assert each.rule in rules
        assert ":" in each.evidence
        assert each.raises


@every
def test_a_refusal_asks_for_settings_and_keys_of_its_own(profile: Profile) -> None:
    for each in (each for each in profile.front_end.refuses if each.when):
        for path in parse(each.when, {}).paths():
            assert path.startswith("own.") or table().entry(path), path


def test_nobody_else_refuses_it() -> None:
    assert not any(front_end.refuses for front_end in FRONT_ENDS.values())


@pytest.mark.parametrize("strategy", ["megatron_fsdp", "megatron-fsdp", "mfsdp"])
@pytest.mark.parametrize(
    ("key", "code"), [("pp_size", "MFSDP350"), ("ep_size", "MFSDP706"), ("dp_replicate_size", "MFSDP706")]
)
def test_what_automodel_has_no_megatron_fsdp_for(project: Project, strategy: str, key: str, code: str) -> None:
    project.write({"run.yaml": AUTOMODEL.format(strategy=strategy, key=key, value=2)})
    assert project.told(".") == [f"run.yaml:7:{len(key) + 5}: error {code}"]


@pytest.mark.parametrize(
    ("strategy", "key", "value"),
    [
        ("megatron_fsdp", "pp_size", "1"),
        ("megatron_fsdp", "ep_size", "null"),
        ("megatron_fsdp", "dp_replicate_size", "1"),
        ("megatron_fsdp", "cp_size", "2"),
        ("fsdp2", "pp_size", "2"),
    ],
)
def test_what_automodel_trains_with(project: Project, strategy: str, key: str, value: str) -> None:
    project.write({"run.yaml": AUTOMODEL.format(strategy=strategy, key=key, value=value)})
    assert project.told(".") == []


@pytest.mark.parametrize(("strategy", "told"), [(0, ["run.py:4:31: warning MFSDP301"]), (3, [])])
def test_automodels_own_class_is_a_run(project: Project, strategy: int, told: list[str]) -> None:
    text = "from nemo_automodel.components.distributed.config import DDPConfig, MegatronFSDPConfig\n\n"
    text += f"def config():\n    return MegatronFSDPConfig(zero_dp_strategy={strategy})\n"
    project.write({"run.py": text})
    assert project.told(".") == told


def test_the_error_is_the_frameworks(project: Project) -> None:
    project.write({"run.yaml": AUTOMODEL.format(strategy="mfsdp", key="pp_size", value=4)})
    main([".", "--no-cache"])
    said = project.capsys.readouterr().out
    assert "the error will be: megatron_fsdp does not support pipeline parallelism" in said
    assert "at start-up: automodel refuses it before the model is built (nemo_automodel/" in said


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"fraction": "0"}, 8),
        ({"fraction": "1.5"}, 8),
        ({"sharded": "false"}, 8),
        ({"optimizer": "muon"}, 8),
        ({"offload": "false"}, 8),
        ({"fused": "true"}, 12),
        ({}, None),
        ({"fraction": "1"}, None),
        ({"offload": "false", "hidden": "false", "fraction": "0.0", "optimizer": "muon"}, None),
        ({"fused": "true", "gather": "false"}, None),
    ],
)
def test_what_nemo_rl_checks_of_its_optimizer(project: Project, changes: dict[str, str], line: int | None) -> None:
    project.write({"run.yaml": NEMO_RL.format(**(FINE | changes))})
    told = [each.split(":")[1] + each[-9:] for each in project.told(".")]
    assert told == ([] if line is None else [f"{line} MFSDP706"])


def test_a_fraction_that_the_environment_has_is_not_known(project: Project) -> None:
    project.write({"run.yaml": NEMO_RL.format(**(FINE | {"fraction": "${oc.env:FRACTION}"}))})
    assert [each[-8:] for each in project.told(".")] == ["MFSDP907"]


def test_a_file_is_told_where_it_brings_together_what_others_keep_apart(project: Project) -> None:
    base = NEMO_RL.format(**(FINE | {"offload": "false", "hidden": "false", "fraction": "0.0"}))
    child = "defaults: base.yaml\npolicy:\n  megatron_cfg:\n    optimizer: {optimizer_cpu_offload: true}\n"
    project.write({"base.yaml": base, "child.yaml": child})
    assert project.told(".") == ["child.yaml:4:40: error MFSDP706"]


@pytest.mark.parametrize(
    ("own", "fsdp2", "format", "recipe", "told"),
    [
        ("data_parallel_replicate_degree: 2", "true", "torch_dist", "tensorwise", 1),
        ("data_parallel_replicate_degree: 2", "true", "torch_dcp", "tensorwise", 0),
        ("data_parallel_replicate_degree: 2", "false", "torch_dist", "tensorwise", 1),
        ("data_parallel_replicate_degree: 1", "false", "torch_dist", "tensorwise", 0),
        ("use_fsdp2_fp8_all_gather: true", "true", "torch_dist", "delayed", 1),
        ("use_fsdp2_fp8_all_gather: true", "true", "torch_dist", "tensorwise", 0),
        ("use_fsdp2_fp8_all_gather: false", "true", "torch_dist", "delayed", 0),
        (
            "use_fsdp2_fp32_param_optimizer: true\n      use_fsdp2_bf16_master_weight_optimizer: true",
            "true",
            "torch_dist",
            "tensorwise",
            1,
        ),
        ("use_fsdp2_fp32_param_optimizer: true", "true", "torch_dist", "tensorwise", 0),
    ],
)
def test_keys_that_only_primus_has(project: Project, own: str, fsdp2: str, format: str, recipe: str, told: int) -> None:
    project.write({"exp.yaml": PRIMUS.format(own=own, fsdp2=fsdp2, format=format, recipe=recipe)})
    assert [each[-14:] for each in project.told(".")] == ["error MFSDP706"] * told


def test_a_key_of_its_own_that_a_missing_file_may_have_is_not_known(project: Project) -> None:
    text = PRIMUS.format(own="seed: 1", fsdp2="true", format="torch_dist", recipe="delayed")
    project.write({"exp.yaml": text.replace("pre_trainer.yaml", "elsewhere.yaml")})
    assert project.told(".") == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('fsdp="pytorch"', ["run.py:5:9: error MFSDP706"]),
        ('fsdp="megatron", ddp="pytorch"', ["run.py:5:9: error MFSDP706"]),
        ('fsdp="zero"', ["run.py:5:9: error MFSDP706"]),
        ('ddp="pytorch"', []),
        ("fsdp=None", []),
        ("fsdp=choose()", []),
    ],
)
def test_the_fsdp_that_nemos_strategy_does_not_have(project: Project, arguments: str, told: list[str]) -> None:
    project.write({"run.py": NEMO.format(arguments=arguments)})
    assert project.told(".") == told


@pytest.mark.parametrize(
    ("optimizer", "fsdp", "told"),
    [
        ("dist_muon", "true", ["chosen.json:3:15: error MFSDP262"]),
        ("lion", "true", ["chosen.json:3:15: error MFSDP262"]),
        ("adam", "true", []),
        ("dist_muon", "false", []),
    ],
)
def test_an_optimizer_that_ms_swift_refuses(project: Project, optimizer: str, fsdp: str, told: list[str]) -> None:
    chosen = f'{{\n "use_megatron_fsdp": {fsdp},\n "optimizer": "{optimizer}"\n}}\n'
    project.write({"train.py": SWIFT, "chosen.json": chosen})
    assert project.told(".") == told


@pytest.mark.parametrize(
    ("gather", "reduce", "sharded", "told"),
    [
        ("true", "true", "false", ["run.yaml:5:23: error MFSDP562"]),
        ("true", "false", "true", ["run.yaml:5:23: error MFSDP562"]),
        ("true", "true", "true", []),
        ("false", "false", "false", []),
    ],
)
def test_megatron_lms_own_check_of_its_yaml_file(
    project: Project, gather: str, reduce: str, sharded: str, told: list[str]
) -> None:
    project.write({"run.yaml": MEGATRON_LM.format(gather=gather, reduce=reduce, sharded=sharded)})
    assert project.told(".") == told


def test_explain_prints_what_a_framework_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--front-end", "nemo-rl"]) == 0
    assert "refuses   MFSDP706 when optimizer.optimizer_cpu_offload and (" in capsys.readouterr().out
