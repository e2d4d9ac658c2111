"""Programs that take a file of a framework, and changes of it on their command line."""

from __future__ import annotations

import re

import pytest

from mfsdp_lint.cli import main
from tests.megatron.front_ends.project import Project

NEMO_RL = """\
policy:
  precision: bfloat16
  dtensor_cfg: {enabled: false}
  megatron_cfg:
    enabled: true
    tensor_model_parallel_size: 1
    distributed_data_parallel_config: {overlap_grad_reduce: true}
"""
GRPO = "uv run /opt/rl/examples/run_grpo.py"
SWITCH = "++policy.megatron_cfg.distributed_data_parallel_config.use_megatron_fsdp=true"

AUTOMODEL = """\
recipe: TrainFinetuneRecipeForNextTokenPrediction
distributed:
  strategy: megatron_fsdp
  ep_size: 1
"""


def told(project: Project, script: str, **files: str) -> list[str]:
    project.write({"train.sh": f"{script}\n", **{f"conf/{name}.yaml": text for name, text in files.items()}})
    main(["--no-cache", "--target-bridge", "0.6.0", "--output-format", "concise", "."])
    found = re.finditer(r"^(\S+?:\d+):\d+: \w+ (MFSDP\d+)", project.capsys.readouterr().out, re.MULTILINE)
    return [f"{each[1]} {each[2]}" for each in found]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param("--config conf/rl.yaml", [], id="as it is"),
        pytest.param(f"--config conf/rl.yaml {SWITCH}", ["train.sh:1 MFSDP705"], id="a switch that nobody reads"),
        pytest.param(f"--config=conf/rl.yaml {SWITCH}", ["train.sh:1 MFSDP705"], id="the file behind ="),
        pytest.param("--config conf/rl.yaml policy.dtensor_cfg.enabled=true", ["train.sh:1 MFSDP706"], id="a refusal"),
        pytest.param(f"--config /elsewhere/rl.yaml {SWITCH}", [], id="a file that is not at hand"),
        pytest.param(f"--config conf/other.yaml {SWITCH}", [], id="a file of another program"),
    ],
)
def test_overrides_behind_a_file_of_nemo_rl(project: Project, words: str, found: list[str]) -> None:
    assert told(project, f"{GRPO} {words}", rl=NEMO_RL, other="policy: {}\n") == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        pytest.param("automodel conf/sft.yaml --nproc-per-node 8", [], id="as it is"),
        pytest.param("automodel conf/sft.yaml --distributed.ep_size 4", ["train.sh:1 MFSDP706"], id="the command"),
        pytest.param(
            "automodel finetune llm -c conf/sft.yaml --distributed.ep_size=4", ["train.sh:1 MFSDP706"], id="-c"
        ),
        pytest.param(
            "torchrun --nproc-per-node 8 -m nemo_automodel.cli.app conf/sft.yaml --distributed.ep_size 4",
            ["train.sh:1 MFSDP706"],
            id="the module",
        ),
        pytest.param(
            "torchrun finetune.py --config conf/sft.yaml --distributed.pp_size 2",
            ["train.sh:1 MFSDP350"],
            id="a script",
        ),
        pytest.param(
            "automodel conf/sft.yaml --distributed.strategy fsdp2 --distributed.ep_size 4", [], id="another strategy"
        ),
        pytest.param(
            "automodel conf/sft.yaml --distributed.activation_checkpointing=selective",
            ["train.sh:1 MFSDP706"],
            id="a mode",
        ),
    ],
)
def test_options_behind_a_file_of_automodel(project: Project, command: str, found: list[str]) -> None:
    assert told(project, command, sft=AUTOMODEL) == found


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("--config conf/rl.yaml", id="the file"),
        pytest.param('--config "$PWD/conf/${NAME}.yaml" "$@"', id="a name that is put together"),
    ],
)
def test_what_bridge_validates_for_nemo_rl(project: Project, words: str) -> None:
    offloads = "enabled: true\n    fine_grained_activation_offloading: true\n    offload_modules: [core_attn]"
    wrong = NEMO_RL.replace("enabled: true", f"{offloads}\n    env_vars: {{NVTE_CPU_OFFLOAD_V1: 'true'}}")
    project.write({"requirements.txt": "transformer-engine==2.14.1\n"})
    script = f"NAME=rl\n{GRPO} {words}"
    assert told(project, script, rl=wrong) == ["conf/rl.yaml:8 MFSDP404"]
    assert told(project, script, rl=wrong.replace("'true'", "'1'")) == []


def test_a_file_is_no_run_where_all_that_use_it_correct_it(project: Project) -> None:
    custom = NEMO_RL.replace("{overlap_grad_reduce: true}", "{overlap_grad_reduce: true, use_custom_fsdp: true}")
    corrected = "policy.megatron_cfg.distributed_data_parallel_config.use_custom_fsdp=false"
    child = (
        "defaults: base.yaml\npolicy: {megatron_cfg: {distributed_data_parallel_config: {use_custom_fsdp: false}}}\n"
    )
    assert told(project, f"{GRPO} --config conf/base.yaml", base=custom) == ["conf/base.yaml:7 MFSDP750"]
    project.write({"conf/child.yaml": child})
    for script in (f"{GRPO} --config conf/base.yaml {corrected}", f"{GRPO} --config conf/child.yaml"):
        project.write({"train.sh": f"{script}\n"})
        main(["--no-cache", "--target-bridge", "0.6.0", "--output-format", "concise", "--show-info", "."])
        out = project.capsys.readouterr().out
        assert "conf/base.yaml:7" in out
        assert re.findall(r" (error|warning|info) MFSDP750", out) == ["info"]


SLIME = (
    "export CUDA_DEVICE_MAX_CONNECTIONS=8\npython3 train.py --actor-num-nodes 1 --num-rollout 10 "
    "--no-gradient-accumulation-fusion --untie-embeddings-and-output-weights "
)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param(
            "--use-torch-fsdp2 --ckpt-format torch_dcp --save /c", ["MFSDP251"], id="the distributed optimizer"
        ),
        pytest.param("--use-megatron-fsdp --swiglu --ckpt-format fsdp_dtensor --save /c", [], id="bf16"),
        pytest.param("--use-megatron-fsdp --fp16 --ckpt-format fsdp_dtensor", ["MFSDP659"], id="unless it is fp16"),
    ],
)
def test_slime_sets_arguments_before_they_are_validated(project: Project, words: str, found: list[str]) -> None:
    rest = "--data-parallel-sharding-strategy optim_grads_params --megatron-fsdp-main-grads-dtype fp32"
    rest = rest if "megatron-fsdp" in words else ""
    assert [each.partition(" ")[2] for each in told(project, f"{SLIME} {words} {rest}")] == found
