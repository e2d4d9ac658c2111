"""Rules about assignments: names that are no fields, values that start-up replaces. And exposed switches."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.rules.check import violations
from mfsdp_lint.rules.findings import check
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.snapshots.knowledge import load_knowledge

TARGET = resolve_target("0.3.1")
HEADER = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"


def found(tmp_path: Path, text: str, *codes: str) -> list[Finding]:
    path = tmp_path / "recipe.py"
    path.write_text(HEADER + dedent(text))
    recipes = read_python([str(path)], Sources(), load_knowledge(TARGET)).recipes
    findings = check(recipes, TARGET, load_rules(), is_linted=lambda each: each == str(path))
    return [finding for finding in findings if finding.code in codes]


def recipe(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"def pretrain_config():\n    cfg = llama3_8b_pretrain_config()\n{body}    return cfg\n"


def test_a_misspelt_name_is_told_with_the_nearest_field(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, recipe('cfg.checkpoint.ckpt_fromat = "fsdp_dtensor"'), "MFSDP701")
    assert finding.message == "CheckpointConfig has no field ckpt_fromat; did you mean ckpt_format?"
    assert (finding.severity, finding.span.line, finding.span.column) == ("warning", 4, 5)


def test_a_name_that_is_like_no_field_may_be_the_recipes_own(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, recipe('cfg.train.remark = "nightly"'), "MFSDP701")
    assert (finding.severity, finding.message) == ("info", "TrainingConfig has no field remark")


def test_setattr_is_an_assignment_too(tmp_path: Path) -> None:
    assert found(tmp_path, recipe('setattr(cfg.ddp, "use_megatron_fdsp", True)'), "MFSDP701")


@pytest.mark.parametrize(
    "text",
    [
        recipe('cfg.checkpoint.ckpt_format = "fsdp_dtensor"'),  # a field
        recipe("cfg.dataset = load_dataset()", "cfg.dataset.anything = 1"),  # a class that nobody knows
        """
        from dataclasses import dataclass

        @dataclass
        class Notes:
            text: str = ""

            def keep(self):
                self.kept = True

            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)

        @dataclass
        class Plain:
            text: str = ""

            def keep(self):
                self.kept = True

            @property
            def short(self):
                return self.text

        def pretrain_config():
            cfg = llama3_8b_pretrain_config()
            cfg.logger = Notes()
            cfg.logger.colour = "red"
            cfg.rng = Plain()
            cfg.rng.keep()
            return cfg
        """,  # a hook of its own, and what a class keeps on itself
        recipe("cfg.train._remark = 1"),
        recipe("cfg.train.remark = 1") + "\ndef report(cfg):\n    return cfg.train.remark\n",
        recipe("cfg.train.remark = 1") + "\ndef report(cfg):\n    return getattr(cfg.train, 'remark', None)\n",
    ],
    ids=[
        "a field",
        "a class out of sight",
        "a class with hooks, and its own attributes",
        "a private name",
        "a name that other code reads",
        "a name that other code asks for",
    ],
)
def test_what_may_be_meant_is_not_reported(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text, "MFSDP701") == []


def test_writing_a_name_elsewhere_is_not_reading_it(tmp_path: Path) -> None:
    text = recipe("cfg.train.remark = 1") + "\ndef report(cfg):\n    cfg.train.remark = 2\n"
    assert found(tmp_path, text, "MFSDP701")


def test_a_value_that_start_up_replaces_is_told_with_the_line_that_does_it(tmp_path: Path) -> None:
    text = recipe(
        "cfg.dist.use_megatron_fsdp = True", 'cfg.mixed_precision = "bf16_mixed"', "cfg.ddp.grad_reduce_in_fp32 = False"
    )
    (finding,) = found(tmp_path, text, "MFSDP702")
    assert finding.message == "ddp.grad_reduce_in_fp32 is False, but start-up makes it True"
    assert "mixed_precision.py:142" in finding.consequence
    assert finding.span.line == 6


OVERLAP = (
    "from megatron.bridge.training.comm_overlap import CommOverlapConfig",
    "cfg.dist.use_megatron_fsdp = True",
    "cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=False)",
)


@pytest.mark.parametrize(("overlaps", "safety"), [(OVERLAP, "unsafe"), (OVERLAP[:2], "safe")])
def test_what_runs_is_not_written_safely_where_another_step_looks_at_what_is_written(
    overlaps: tuple[str, ...], safety: str, tmp_path: Path
) -> None:
    """Communication overlap sets sizes of buckets only where the recipe itself uses the distributed optimizer."""
    rest = ("cfg.ddp.use_distributed_optimizer = False", "cfg.ddp.bucket_size = 40_000_000")
    text = recipe(*overlaps, *([] if len(overlaps) == 3 else ["cfg.comm_overlap = None"]), *rest)
    path = tmp_path / "recipe.py"
    path.write_text(HEADER + text)
    recipes = read_python([str(path)], Sources(), load_knowledge(TARGET)).recipes
    broken = violations(recipes, TARGET, load_rules(), lambda each: each == str(path))
    (about,) = (each for each in broken if each.rule.code == "MFSDP702" and "use_distributed" in each.primary.setting)
    assert about.remedy is not None
    assert about.remedy.safety == safety


def test_what_wrapping_replaces_is_told_where_start_up_may_have_replaced_it(tmp_path: Path) -> None:
    rest = ('cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"', "cfg.ddp.overlap_grad_reduce = False")
    (finding,) = found(tmp_path, recipe(*OVERLAP, *rest), "MFSDP704")
    assert finding.span.line == 3 + len(OVERLAP) + len(rest)


def test_what_a_rule_about_settings_speaks_of_is_not_told_twice(tmp_path: Path) -> None:
    text = recipe("cfg.dist.use_megatron_fsdp = True", "cfg.ddp.average_in_collective = True")
    (finding,) = found(tmp_path, text, "MFSDP502", "MFSDP702")
    assert finding.code == "MFSDP502"


def test_what_upstream_writes_is_nobodys_fault_here(tmp_path: Path) -> None:
    assert found(tmp_path, recipe(), "MFSDP701", "MFSDP702") == []


EXPOSED = """
def pretrain_config(use_fsdp: bool = False):
    cfg = llama3_8b_pretrain_config()
    if use_fsdp:
        cfg.dist.use_megatron_fsdp = True
    return cfg
"""


def test_a_switch_that_a_parameter_exposes_is_a_warning_that_says_how_to_call_it(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, EXPOSED, "MFSDP101")
    assert finding.severity == "warning"
    assert '"torch_dist" (when called with use_fsdp=True)' in finding.message
    assert finding.span.line == 6
    assert [affected.severity for affected in finding.recipes] == ["warning"]


def test_a_caller_who_turns_it_on_makes_it_an_error_in_the_same_place(tmp_path: Path) -> None:
    caller = "\ndef fsdp_config():\n    return pretrain_config(use_fsdp=True)\n"
    (finding,) = found(tmp_path, EXPOSED + caller, "MFSDP101")
    assert finding.severity == "error"
    assert [(affected.name, affected.severity) for affected in finding.recipes] == [
        ("pretrain_config", "warning"),
        ("fsdp_config", "error"),
    ]
