"""NVIDIA's own recipes of megatron-bridge 0.3.1, as shipped and with the headline mistakes put in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.real.trees import RECIPES, SWITCH_OFF, Run, changed_lines, commit, copy_to, errors, lint, rewrite

CALLABLE_WITHOUT_ARGUMENTS = 159
"""Recipe functions of the 0.3.1 wheel that return a configuration when called without arguments."""


OVERWRITTEN = {
    "ddp.average_in_collective",
    "ddp.grad_reduce_in_fp32",
    "ddp.use_distributed_optimizer",
    "model.sequence_parallel",
}
"""What start-up changes with FSDP on, whatever the recipe says; a safe fix writes what will run."""

QWEN = f"{RECIPES}/qwen"
"""One family, where the whole tree would show no more."""

FINE_TUNING_WITH_A_SWITCH = 5
"""Shared fine-tuning functions of the vision models that take `use_megatron_fsdp` and leave the format as it is."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copy_to(tmp_path)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run over the recipes as they are."""
    return lint(copy_to(tmp_path_factory.mktemp("shipped")), "--output-format", "json", RECIPES)


@pytest.mark.xdist_group("shipped")
def test_as_shipped_only_what_start_up_really_refuses_is_an_error(shipped: Run) -> None:
    # The real validation refuses them as well: sequence parallelism without tensor parallelism, and two models whose
    # sequence length (131,072 by their provider) is not that of the data set (8,192).
    assert errors(shipped) == [
        "MFSDP304 megatron/bridge/recipes/glm/glm45.py:182",
        "MFSDP308 megatron/bridge/recipes/nemotronh/nemotron_nano_v2.py:40",
        "MFSDP308 megatron/bridge/recipes/nemotronh/nemotron_nano_v2.py:143",
    ]
    assert shipped.code == 1
    assert json.loads(shipped.out)["summary"]["files"] == 50


def certain(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that hold for the recipes as they are, and not only when they are called with a parameter on."""
    return [each for each in found if "when called with" not in each["message"]]


@pytest.mark.xdist_group("shipped")
def test_a_parameter_that_switches_fsdp_on_is_a_warning(shipped: Run) -> None:
    found = shipped.of("MFSDP101")
    assert len(found) == FINE_TUNING_WITH_A_SWITCH
    assert certain(found) == []
    assert {each["severity"] for each in found} == {"warning"}
    assert all(each["message"].endswith("(when called with use_megatron_fsdp=True)") for each in found)


def settings_of(lines: list[str]) -> set[str]:
    """What assignments assign to, and keyword arguments give."""
    return {line.partition("=")[0].strip() for line in lines}


def lines_with(tree: Path, text: str) -> set[tuple[str, int]]:
    """Where a piece of text stands in the recipes."""
    return {
        (str(path.relative_to(tree)), number)
        for path in (tree / RECIPES).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if text in line
    }


def to_blame(tree: Path) -> set[tuple[str, int]]:
    """The line to change for every function that switches FSDP on: its own choice of format, if it makes one.

    Where the format comes from a helper, other, healthy recipes use that too: then it is the switch.
    """
    switches = lines_with(tree, "cfg.ddp.use_megatron_fsdp = True")
    formats = lines_with(tree, 'cfg.checkpoint.ckpt_format = "torch_dist"')
    heads = lines_with(tree, "def ")

    def function(place: tuple[str, int]) -> int:
        return max(line for path, line in heads if path == place[0] and line < place[1])

    own = {(path, function((path, line))): (path, line) for path, line in formats}
    return {own.get((path, function((path, line))), (path, line)) for path, line in switches}


def fixed(tree: Path, *recipes: str) -> Run:
    """Fix the recipes, and run again: the format is right, and no safe fix is left that a further run would apply."""
    assert lint(tree, "--fix-only", *recipes).code == 0
    again = lint(tree, "--show-fixes", "--output-format", "json", *recipes)
    assert certain(again.of("MFSDP101")) == []
    assert json.loads(again.out)["summary"]["fixable"] == 0
    return again


@pytest.mark.long
def test_with_fsdp_switched_on_every_recipe_is_reported_where_it_switches_and_fixed(tree: Path) -> None:
    switched = rewrite(tree, SWITCH_OFF, "cfg.ddp.use_megatron_fsdp = True")
    commit(tree)
    run = lint(tree, "--select", "MFSDP101", "--output-format", "json", RECIPES)
    found = certain(run.of("MFSDP101"))
    assert {(each["path"], each["line"]) for each in found} == to_blame(tree)
    assert len(found) == switched
    assert {each["stage"] for each in found} == {"startup"}
    assert {each["raises"] for each in found} == {"Megatron FSDP only supports fsdp_dtensor checkpoint format"}

    fixed(tree, RECIPES)
    removed, added = changed_lines(tree)
    changed = {each.removeprefix("cfg.") for each in settings_of([*removed, *added])}
    # The fine-tuning functions with a switch give theirs as an argument.
    assert changed <= {"checkpoint.ckpt_format", "ckpt_format"} | OVERWRITTEN
    assert added.count('cfg.checkpoint.ckpt_format = "fsdp_dtensor"') == switched


HELPER = '''"""Switches Megatron-FSDP on."""


def shard_everything(config):
    config.dist.use_megatron_fsdp = True
    config.ddp.data_parallel_sharding_strategy = "optim_grads_params"
'''


@pytest.mark.long
def test_a_switch_in_a_shared_helper_is_one_finding_there_and_one_edit(tree: Path) -> None:
    helper = f"{RECIPES}/sharding.py"
    (tree / helper).write_text(HELPER)
    called = rewrite(tree, r"^( +)" + SWITCH_OFF.replace(".", r"\."), r"\1shard_everything(cfg)", QWEN)
    assert called > 15
    rewrite(
        tree,
        r"^(from megatron\.bridge\.recipes\.common import .*)$",
        r"\1\nfrom megatron.bridge.recipes.sharding import shard_everything",
        QWEN,
    )
    rewrite(tree, r'^ +cfg\.ddp\.data_parallel_sharding_strategy = "no_shard"\n', "", QWEN)
    commit(tree)
    run = lint(tree, "--select", "MFSDP101", "--output-format", "json", helper, QWEN)
    own_choice = lines_with(tree, 'cfg.checkpoint.ckpt_format = "torch_dist"')
    found = [each for each in certain(run.of("MFSDP101")) if (each["path"], each["line"]) not in own_choice]
    assert [(each["path"], each["line"]) for each in found] == [(helper, 5)]
    assert len(found[0]["recipes"]) > 15

    fixed(tree, helper, QWEN)
    removed, added = changed_lines(tree)
    assert added.count('config.checkpoint.ckpt_format = "fsdp_dtensor"') == 1
    # A recipe that chooses its own format afterwards is mended there.
    own_edits = removed.count('cfg.checkpoint.ckpt_format = "torch_dist"')
    assert added.count('cfg.checkpoint.ckpt_format = "fsdp_dtensor"') == own_edits


def with_pipeline_stages(tree: Path) -> set[str]:
    """The recipes that run in more than one pipeline stage."""
    size = "model.pipeline_model_parallel_size"
    out = lint(tree, "audit", "--output-format", "json", "--settings", size, QWEN).out
    return {each["name"] for each in json.loads(out)["recipes"] if each["settings"][size].get("value", 1) > 1}


@pytest.mark.long
def test_torch_fsdp2_is_replaced_by_megatron_fsdp(tree: Path) -> None:
    rewrite(tree, SWITCH_OFF, "cfg.dist.use_torch_fsdp2 = True", QWEN)
    commit(tree)
    run = lint(tree, "--select", "MFSDP202", "--output-format", "json", QWEN)
    found = run.of("MFSDP202")
    assert {(each["path"], each["line"]) for each in found} == lines_with(tree, "cfg.dist.use_torch_fsdp2 = True")
    assert {each["stage"] for each in found} == {"wrap"}
    assert all("pg_collection" in each["raises"] for each in found)

    left = fixed(tree, QWEN).of("MFSDP202")
    # Megatron-FSDP does not work with pipeline stages either: there the choice is left to a person.
    assert {each["name"] for finding in left for each in finding["recipes"]} <= with_pipeline_stages(tree)
    assert len(left) < len(found)
    removed, added = changed_lines(tree)
    assert "cfg.dist.use_torch_fsdp2 = False" in added
    allowed = {
        "dist.use_torch_fsdp2",
        "dist.use_megatron_fsdp",
        "ddp.use_megatron_fsdp",
        "ddp.data_parallel_sharding_strategy",
        "ddp.average_in_collective",
        "checkpoint.ckpt_format",
    }
    assert {each.removeprefix("cfg.") for each in settings_of([*removed, *added])} <= allowed | OVERWRITTEN


@pytest.mark.long
def test_cpu_offloading_with_pipeline_parallelism_is_switched_off(tree: Path) -> None:
    offloading = rewrite(
        tree,
        r"^( +)(cfg\.model\.pipeline_model_parallel_size = (?:[2-9]|\d\d+))$",
        r"\1\2\n\1cfg.model.cpu_offloading = True",
        QWEN,
    )
    assert offloading > 5
    commit(tree)
    run = lint(tree, "--select", "MFSDP401", "--output-format", "json", QWEN)
    found = run.of("MFSDP401")
    reported = {(each["path"], each["line"]) for each in found}
    assert reported
    assert reported <= lines_with(tree, "cfg.model.cpu_offloading = True")
    assert fixed(tree, QWEN).of("MFSDP401") == []
    removed, added = changed_lines(tree)
    assert "cfg.model.cpu_offloading = False" in added
    changed = {each.removeprefix("cfg.") for each in settings_of([*removed, *added])}
    assert changed <= {"model.cpu_offloading"} | OVERWRITTEN
