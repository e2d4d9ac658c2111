"""Flags of Megatron-LM's command line in YAML: `MODEL_ARGS` and `ENV_VARS` of its functional tests."""

from __future__ import annotations

from textwrap import dedent

import pytest

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.recipe import Origin, Recipe
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.readers.yaml.read import read_yaml


class At:
    """The versions that are judged against."""

    bridge = "head"

    def __init__(self, core: str = "0.16.1") -> None:
        self.core = core


def recipe(text: str, core: str = "0.16.1") -> Recipe:
    (only,) = read_yaml("tests/case/model_config.yaml", dedent(text), At(core))
    return only


def given(line: str, path: str, core: str = "0.16.1") -> Value:
    """The value of a setting where the flags are these."""
    return recipe(f"MODEL_ARGS:\n  --lr: 1e-4\n  {line}\n", core).variants[0].value(path)


CASE = """\
ENV_VARS:
  CUDA_DEVICE_MAX_CONNECTIONS: 1
  SKIP_PYTEST: true
TEST_TYPE: regular
MODEL_ARGS:
  # FSDP args
  --use-megatron-fsdp: true
  --ckpt-format: "fsdp_dtensor"
  #--save: ${CHECKPOINT_SAVE_PATH}
  --no-gradient-accumulation-fusion: true
"""


def test_flags_are_the_settings_that_they_set() -> None:
    read = recipe(CASE)
    variant = read.variants[0]
    assert read.front_end == MEGATRON_LM
    assert (read.name, read.path, read.line, read.kind) == (
        "model_config.yaml",
        "tests/case/model_config.yaml",
        5,
        "arguments",
    )
    assert not read.partial
    assert variant.value("dist.use_megatron_fsdp") == Known(True)
    assert variant.value("ddp.use_megatron_fsdp") == Known(True)
    assert variant.value("checkpoint.ckpt_format") == Known("fsdp_dtensor")
    assert variant.value("model.gradient_accumulation_fusion") == Known(False)


def test_a_flag_knows_where_it_was_written() -> None:
    text = CASE.splitlines()
    for path in ("dist.use_megatron_fsdp", "ddp.use_megatron_fsdp"):
        origin = recipe(CASE).variants[0].origin(path)
        assert origin is not None
        assert (origin.how, origin.span.line, origin.point.column) == ("assigned", 7, 24)
        assert text[6][origin.point.column - 1 : origin.point.end_column - 1] == "true"


def test_variables_are_set_and_others_unknown() -> None:
    variant = recipe(CASE).variants[0]
    assert variant.value("env.CUDA_DEVICE_MAX_CONNECTIONS") == Known("1")
    assert variant.value("env.SKIP_PYTEST") == Known("true")
    assert variant.value("env.NCCL_ALGO") == UNKNOWN


@pytest.mark.parametrize(
    ("path", "core", "value"),
    [
        ("checkpoint.save", "0.16.1", Known(None)),
        ("checkpoint.load_optim", "0.16.1", Known(True)),
        ("ddp.data_parallel_sharding_strategy", "0.17.1", Known("no_shard")),
        ("ddp.data_parallel_sharding_strategy", "0.18.0", Known("optim_grads_params")),
        ("model.params_dtype", "0.16.1", UNKNOWN),
        ("train.no_such_setting", "0.16.1", UNKNOWN),
    ],
)
def test_a_flag_that_is_left_out_is_what_the_parser_says(path: str, core: str, value: Value) -> None:
    variant = recipe(CASE, core).variants[0]
    assert variant.value(path) == value


def test_a_default_stands_where_the_flag_could_be_added() -> None:
    origin = recipe(CASE).variants[0].origin("checkpoint.save")
    assert isinstance(origin, Origin)
    assert (origin.how, origin.span.line, origin.span.column, origin.span.end_column) == ("default", 5, 1, 11)


@pytest.mark.parametrize(
    ("line", "path", "value"),
    [
        ("--use-distributed-optimizer: true", "optimizer.use_distributed_optimizer", Known(True)),
        ("--use-distributed-optimizer: 'true'", "optimizer.use_distributed_optimizer", Known(True)),
        ("--use-distributed-optimizer: false", "optimizer.use_distributed_optimizer", Known(False)),  # left out
        ("--no-gradient-accumulation-fusion: false", "model.gradient_accumulation_fusion", Known(True)),
        ("--use-distributed-optimizer: 1", "optimizer.use_distributed_optimizer", UNKNOWN),  # argparse refuses it
        ("--untie-embeddings-and-output-weights: true", "model.share_embeddings_and_output_weights", Known(False)),
        ("--no-load-optim: true", "checkpoint.load_optim", Known(False)),
        ("--no-strict-fsdp-dtensor-load: true", "checkpoint.strict_fsdp_dtensor_load", Known(False)),
        ("--disable-strict-fsdp-dtensor-load: true", "checkpoint.strict_fsdp_dtensor_load", Known(False)),
        ("--tensor-model-parallel-size: 2", "model.tensor_model_parallel_size", Known(2)),
        ("--tensor-model-parallel-size: ${TP}", "model.tensor_model_parallel_size", NOT_NONE),
        ("--tensor-model-parallel-size: two", "model.tensor_model_parallel_size", UNKNOWN),
        ("--clip-grad: 1", "optimizer.clip_grad", Known(1.0)),
        ("--ckpt-format: '\"torch_dist\"'", "checkpoint.ckpt_format", Known("torch_dist")),
        ("--ckpt-format: zarr", "checkpoint.ckpt_format", UNKNOWN),  # 0.16.1 has no such choice
        ("--ckpt-format:", "checkpoint.ckpt_format", UNKNOWN),
        ("--save: ${CHECKPOINT_SAVE_PATH}", "checkpoint.save", NOT_NONE),
        ("--save: $OUT/run", "checkpoint.save", NOT_NONE),
        ("--save: /results/my run", "checkpoint.save", Known("/results/my run")),
        ("--recompute-modules: core_attn", "model.recompute_modules", Known(["core_attn"])),
        ("--recompute-modules: '[layernorm moe_act]'", "model.recompute_modules", Known(["layernorm", "moe_act"])),
        ("--recompute-modules: [layernorm, moe_act]", "model.recompute_modules", Known(["layernorm", "moe_act"])),
        ("--recompute-modules: {a: b}", "model.recompute_modules", UNKNOWN),
        ("--attention-backend: unfused", "model.attention_backend", Known("unfused")),
        ("--attention-backend: 5", "model.attention_backend", NOT_NONE),
        ("--num-experts: 8", "model.num_moe_experts", Known(8)),
    ],
)
def test_values(line: str, path: str, value: Value) -> None:
    assert given(line, path) == value


@pytest.mark.parametrize(
    ("line", "core", "path", "value"),
    [
        ("--use-custom-fsdp: true", "0.13.0", "ddp.use_custom_fsdp", Known(True)),
        ("--use-custom-fsdp: true", "0.14.0", "args.use_custom_fsdp", Known(True)),  # no such flag any more
        ("--swiglu: true", "0.16.1", "args.swiglu", Known(True)),
        ("--log-interval: 5", "0.16.1", "args.log_interval", Known(5)),  # a flag that is no setting
        ("--no-such-flag: some text", "0.16.1", "args.no_such_flag", Known("some text")),
        ("--no-such-flag: ${TEXT}", "0.16.1", "args.no_such_flag", NOT_NONE),
        ("--fp8-format: hybrid", "0.12.0", "model.fp8", Known("hybrid")),
        ("--use-megatron-fsdp: true", "0.11.0", "args.use_megatron_fsdp", Known(True)),
    ],
)
def test_a_flag_counts_as_in_the_version_judged_against(line: str, core: str, path: str, value: Value) -> None:
    assert given(line, path, core) == value


def test_the_second_run_has_flags_of_its_own() -> None:
    first, second = read_yaml(
        "a/model_config.yaml",
        dedent("""\
            MODEL_ARGS: &BASE
              --use-megatron-fsdp: true
              --save: /out
            MODEL_ARGS_2:
              <<: *BASE
              --save: /other
            """),
        At(),
    )
    assert [first.name, second.name] == ["model_config.yaml", "model_config.yaml[MODEL_ARGS_2]"]
    assert [each.variants[0].value("checkpoint.save") for each in (first, second)] == [Known("/out"), Known("/other")]
    assert second.variants[0].value("ddp.use_megatron_fsdp") == Known(True)


@pytest.mark.parametrize(
    "text",
    [
        "MODEL_ARGS: null\n",
        "MODEL_ARGS: [--use-megatron-fsdp]\n",
        "MODEL_ARGS:\n  trainer.max_steps: 100\n",  # NeMo's, which has no flags
        "# MODEL_ARGS: none\ndescription: nothing\n",
    ],
)
def test_what_holds_no_flags_is_no_recipe(text: str) -> None:
    assert read_yaml("a.yaml", text, At()) == []
