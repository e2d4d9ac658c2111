"""Edits of YAML override files: only the touched tokens change."""

from __future__ import annotations

import pytest
import yaml as pyyaml

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.fixes.yaml import YamlFile, open_yaml, spell
from tests.fixes.marked import marked


def read(text: str) -> tuple[YamlFile, Origin]:
    plain, origin = marked(text, "o.yaml")
    file = open_yaml("o.yaml", plain)
    assert file is not None
    return file, origin


def after(file: YamlFile, edits: list[Edit] | None) -> str | None:
    return None if edits is None else apply_edits("o.yaml", file.document.text, edits)


FORMAT = "checkpoint.ckpt_format"
REPLACED = {
    "a plain scalar": (
        "checkpoint:\n  «ckpt_format: torch_dist»  # why\n  save: x\n",
        "checkpoint:\n  ckpt_format: fsdp_dtensor  # why\n  save: x\n",
    ),
    "quotes stay": (
        "checkpoint:\r\n  ckpt_format:   «'torch_dist'»\r\n",
        "checkpoint:\r\n  ckpt_format:   'fsdp_dtensor'\r\n",
    ),
    "a dotted key": ("checkpoint.ckpt_format: «torch_dist»", "checkpoint.ckpt_format: fsdp_dtensor"),
    "a flow mapping": (
        'checkpoint: {save: "é, x", «"ckpt_format": "torch_dist"»} # c\n',
        'checkpoint: {save: "é, x", "ckpt_format": "fsdp_dtensor"} # c\n',
    ),
    "nothing": ("checkpoint:\n  «ckpt_format:» # none\n", "checkpoint:\n  ckpt_format: fsdp_dtensor # none\n"),
    "an anchor stays": (
        "checkpoint:\n  «ckpt_format: &f torch_dist»\n",
        "checkpoint:\n  ckpt_format: &f fsdp_dtensor\n",
    ),
    "an alias": (
        "f: &f torch_dist\ncheckpoint:\n  «ckpt_format: *f» # c\n",
        "f: &f torch_dist\ncheckpoint:\n  ckpt_format: fsdp_dtensor # c\n",
    ),
    "the second document": (
        "checkpoint: {ckpt_format: a}\n---\ncheckpoint: {«ckpt_format: b»}\n",
        "checkpoint: {ckpt_format: a}\n---\ncheckpoint: {ckpt_format: fsdp_dtensor}\n",
    ),
}


@pytest.mark.parametrize(("before", "wanted"), REPLACED.values(), ids=REPLACED)
def test_replace_value(before: str, wanted: str) -> None:
    file, origin = read(before)
    assert after(file, file.replace_value(origin, FORMAT, "fsdp_dtensor", {})) == wanted


@pytest.mark.parametrize(
    ("before", "wanted"),
    [("a: {b: «True»}", "a: {b: False}"), ("a: {b: «TRUE»}", "a: {b: FALSE}"), ("a: {b: «yes»}", "a: {b: false}")],
)
def test_booleans_keep_their_case(before: str, wanted: str) -> None:
    file, origin = read(before)
    assert after(file, file.replace_value(origin, "a.b", False, {})) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "checkpoint:\n  «ckpt_format: |\n    torch_dist»\n",
        "checkpoint:\n  «ckpt_format: !!str torch_dist»\n",
        "checkpoint:\n  «ckpt_format: [torch_dist]»\n",
        "checkpoint:\n  «save: torch_dist»\n",
    ],
)
def test_what_is_not_certain_is_not_replaced(text: str) -> None:
    file, origin = read(text)
    assert file.replace_value(origin, FORMAT, "fsdp_dtensor", {}) is None


SWITCH = "ddp.use_megatron_fsdp"
ASSIGNED = {
    "beside its siblings": (
        "ddp:\n  «use_megatron_fsdp: true»\ncheckpoint:\n   save: x  # where\n\n# end\nmodel: {}\n",
        "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n   save: x  # where\n   ckpt_format: fsdp_dtensor\n"
        "\n# end\nmodel: {}\n",
    ),
    "in a section of its own": (
        "ddp:\n  «use_megatron_fsdp: true»\nx: 1 # c\n# end\n",
        "ddp:\n  use_megatron_fsdp: true\nx: 1 # c\ncheckpoint:\n  ckpt_format: fsdp_dtensor\n# end\n",
    ),
    "without a last line ending": (
        "ddp:\r\n  «use_megatron_fsdp: true»",
        "ddp:\r\n  use_megatron_fsdp: true\r\ncheckpoint:\r\n  ckpt_format: fsdp_dtensor",
    ),
    "with a dotted key": (
        "«ddp.use_megatron_fsdp: true»\nmodel.x: 1\n",
        "ddp.use_megatron_fsdp: true\nmodel.x: 1\ncheckpoint.ckpt_format: fsdp_dtensor\n",
    ),
    "in an empty section": (
        "ddp: {«use_megatron_fsdp: true»}\ncheckpoint:  # later\n",
        "ddp: {use_megatron_fsdp: true}\ncheckpoint:  # later\n  ckpt_format: fsdp_dtensor\n",
    ),
    "in a flow mapping": (
        "ddp: {«use_megatron_fsdp: true»}\ncheckpoint: {save: x}\n",
        "ddp: {use_megatron_fsdp: true}\ncheckpoint: {save: x, ckpt_format: fsdp_dtensor}\n",
    ),
    "in an empty flow mapping": (
        "ddp: {«use_megatron_fsdp: true»}\ncheckpoint: {}\n",
        "ddp: {use_megatron_fsdp: true}\ncheckpoint: {ckpt_format: fsdp_dtensor}\n",
    ),
    "in JSON": (
        '{\n  "ddp": {«"use_megatron_fsdp": true»},\n  "checkpoint": {\n    "save": "x"\n  }\n}\n',
        '{\n  "ddp": {"use_megatron_fsdp": true},\n  "checkpoint": {\n    "save": "x",\n'
        '    "ckpt_format": "fsdp_dtensor"\n  }\n}\n',
    ),
    "in JSON without the section": (
        '{"ddp": {«"use_megatron_fsdp": true»}}\n',
        '{"ddp": {"use_megatron_fsdp": true}, "checkpoint": {"ckpt_format": "fsdp_dtensor"}}\n',
    ),
    "behind a nested section": (
        "ddp:\n  «use_megatron_fsdp: true»\ncheckpoint:\n  deep:\n    er: |\n      text\n\nmodel:\n  x: 1\n",
        "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  deep:\n    er: |\n      text\n  ckpt_format: fsdp_dtensor\n\n"
        "model:\n  x: 1\n",
    ),
    "behind a list": (
        "ddp:\n  «use_megatron_fsdp: true»\ncheckpoint:\n  a:\n  - 1\n  - 2\n\nb: 1\n",
        "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  a:\n  - 1\n  - 2\n  ckpt_format: fsdp_dtensor\n\nb: 1\n",
    ),
    "below the keys that stand above the configuration": (
        "run:\n  config:\n    ddp:\n      «use_megatron_fsdp: true»\nother: 1\n",
        "run:\n  config:\n    ddp:\n      use_megatron_fsdp: true\n    checkpoint:\n      ckpt_format: fsdp_dtensor\n"
        "other: 1\n",
    ),
}


@pytest.mark.parametrize(("before", "wanted"), ASSIGNED.values(), ids=ASSIGNED)
def test_assign(before: str, wanted: str) -> None:
    file, origin = read(before)
    assert after(file, file.assign_after(origin, SWITCH, [(FORMAT, "fsdp_dtensor")])) == wanted


def test_an_inner_section_at_the_end_gets_its_own_before_a_new_section_follows() -> None:
    file, origin = read("dist:\n  «use_torch_fsdp2: true»\ncheckpoint:\n  load: /x\n")
    new: list[tuple[str, Plain]] = [("ddp.use_megatron_fsdp", True), ("checkpoint.ckpt_format", "fsdp_dtensor")]
    text = after(file, file.assign_after(origin, "dist.use_torch_fsdp2", new))
    assert text == (
        "dist:\n  use_torch_fsdp2: true\ncheckpoint:\n  load: /x\n  ckpt_format: fsdp_dtensor\n"
        "ddp:\n  use_megatron_fsdp: true\n"
    )


def test_settings_of_one_new_section_stand_together() -> None:
    file, origin = read("dist:\n  «use_torch_fsdp2: true»\n")
    new: list[tuple[str, Plain]] = [
        ("dist.use_megatron_fsdp", True),
        ("ddp.use_megatron_fsdp", True),
        ("ddp.data_parallel_sharding_strategy", "optim_grads_params"),
        ("checkpoint.ckpt_format", "fsdp_dtensor"),
    ]
    text = after(file, file.assign_after(origin, "dist.use_torch_fsdp2", new))
    assert text == (
        "dist:\n  use_torch_fsdp2: true\n  use_megatron_fsdp: true\n"
        "ddp:\n  use_megatron_fsdp: true\n  data_parallel_sharding_strategy: optim_grads_params\n"
        "checkpoint:\n  ckpt_format: fsdp_dtensor\n"
    )


def test_a_section_that_is_an_alias_takes_the_other_entries_and_one_of_its_own() -> None:
    file, origin = read("b: &b {x: 1}\nddp: {«use_megatron_fsdp: true»}\ncheckpoint: *b\n")
    text = after(file, file.assign_after(origin, SWITCH, [(FORMAT, "fsdp_dtensor")]))
    assert text is not None
    assert text.endswith("checkpoint:\n  <<: *b\n  ckpt_format: fsdp_dtensor\n")


@pytest.mark.parametrize(
    "text",
    [
        "b: &b [1]\nddp: {«use_megatron_fsdp: true»}\ncheckpoint: *b\n",
        "ddp: {«use_megatron_fsdp: true»}\ncheckpoint: text\n",
        "ddp: {«use_megatron_fsdp: true»}\ncheckpoint: {ckpt_format: x}\n",
    ],
)
def test_nothing_is_added_where_it_is_not_certain(text: str) -> None:
    file, origin = read(text)
    assert file.assign_after(origin, SWITCH, [(FORMAT, "fsdp_dtensor")]) is None


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ('env_vars:\n  «X: "1"»  # c\n  Y: "2"\n', 'env_vars:\n  Y: "2"\n'),
        ('env_vars:\n  Y: "2"\n  «X: "1"»', 'env_vars:\n  Y: "2"\n'),
        ('a: 1\nenv_vars: # c\n  «X: "1"»\nb: 2\n', "a: 1\nenv_vars: {} # c\nb: 2\n"),
        ('env_vars: {«X: "1"», Y: "2"}\n', 'env_vars: {Y: "2"}\n'),
        ('- env_vars: {«X: "1"»}\n', None),
    ],
)
def test_delete_write(before: str, wanted: str | None) -> None:
    file, origin = read(before)
    assert after(file, file.delete_write(origin, "env.X")) == wanted


@pytest.mark.parametrize(
    "value", ["no", "1", "a: b", "x #y", "", " x", "it's", "ü", "torch.bfloat16", "-", "null", "2024-01-01"]
)
@pytest.mark.parametrize("old", ["", "'x'", '"x"'])
def test_strings_stay_strings(value: str, old: str) -> None:
    assert pyyaml.safe_load(f"{{a: {spell(value, old)}}}") == {"a": value}


def test_sections_that_end_together_are_filled_from_the_inside_out() -> None:
    file = open_yaml("o.yaml", "train: {}\ncheckpoint:\n  save: x\n")
    assert file is not None
    new: list[tuple[str, Plain]] = [("dist.use_megatron_fsdp", True), (FORMAT, "fsdp_dtensor")]
    assert after(file, file.assign_at_end(Origin(Span("o.yaml", 1, 1, 1, 1), "assigned"), new)) == (
        "train: {}\ncheckpoint:\n  save: x\n  ckpt_format: fsdp_dtensor\ndist:\n  use_megatron_fsdp: true\n"
    )
