"""Which rules look at a setting."""

from __future__ import annotations

from mfsdp_lint.rules.selection import rules_about


def test_a_rule_looks_at_what_its_conditions_name() -> None:
    assert rules_about("checkpoint.ckpt_format")["MFSDP101"] == "fsdp-checkpoint-format"


def test_the_settings_behind_a_term_count() -> None:
    assert "MFSDP101" in rules_about("ddp.use_megatron_fsdp")  # it says `megatron_fsdp`


def test_an_example_is_not_looked_at() -> None:
    assert "MFSDP102" not in rules_about("model.num_layers")
    assert rules_about("no.such_setting") == {}
