"""New settings in a framework's file: where it writes them, under its own names, in its own words."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.fixes.yaml import open_yaml

SOMEWHERE = Origin(Span("run.yaml", 1, 1, 1, 1), "default")

PRIMUS = """\
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    overrides:
      save: /checkpoints
"""


def written(text: str, *new: tuple[str, Plain]) -> str | None:
    file = open_yaml("run.yaml", text)
    edits = file.assign_at_end(SOMEWHERE, new) if file else None
    return None if edits is None else apply_edits("run.yaml", text, edits)


@pytest.mark.parametrize(
    ("text", "setting", "value", "line"),
    [
        (PRIMUS, "checkpoint.ckpt_format", "fsdp_dtensor", "      ckpt_format: fsdp_dtensor\n"),
        (PRIMUS, "ddp.average_in_collective", False, "      ddp_average_in_collective: false\n"),
        (PRIMUS, "checkpoint.load_optim", False, "      no_load_optim: true\n"),
        (
            "distributed:\n  strategy: megatron_fsdp\n",
            "ddp.data_parallel_sharding_strategy",
            "optim_grads_params",
            "  zero_dp_strategy: 3\n",
        ),
        ("ddp:\n  use_megatron_fsdp: true\n", "ddp.nccl_ub", True, "  nccl_ub: true\n"),
    ],
)
def test_a_new_setting_is_written_as_the_framework_would(text: str, setting: str, value: Plain, line: str) -> None:
    assert written(text, (setting, value)) == text + line


def test_a_section_of_overrides_is_begun() -> None:
    text = PRIMUS.partition("    overrides")[0]
    assert written(text, ("checkpoint.ckpt_format", "fsdp_dtensor")) == (
        text + "    overrides:\n      ckpt_format: fsdp_dtensor\n"
    )


def test_what_has_no_key_or_no_word_is_not_written() -> None:
    automodel = "distributed:\n  strategy: megatron_fsdp\n"
    assert written(automodel, ("checkpoint.ckpt_format", "fsdp_dtensor")) is None
    assert written(automodel, ("ddp.data_parallel_sharding_strategy", "some")) is None
    assert written(PRIMUS, ("checkpoint.load_optim", None)) is None


def test_of_several_places_none_is_chosen() -> None:
    text = "policy: {megatron_cfg: {enabled: true}}\nvalue: {megatron_cfg: {enabled: true}}\n"
    assert written(text, ("ddp.overlap_grad_reduce", True)) is None
