"""The GPU that a recipe names, and the model state that it surely needs there."""

from __future__ import annotations

from typing import Any

import pytest

from mfsdp_lint.core.records import replace
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import gpu_in, resolve_target
from mfsdp_lint.memory.estimate import least_state
from mfsdp_lint.rules.index import GPU, STATE, SettingsViews, gpu_memory
from tests.memory.test_counting import LLAMA_3_8B, MODEL
from tests.memory.test_estimate import BF16, FSDP, recipe

TARGET = resolve_target("0.3.1")
WEIGHTS = 8_030_261_248


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["llama3_8b_h100_config"], "h100"),
        (["llama3_8b", "recipes.qwen.b200.qwen3"], "b200"),
        (["llama3_8b_h100", "recipes.b200"], "h100"),
        (["h100_or_b200"], None),
        (["llama3_h1000", "gh200x"], None),
    ],
)
def test_a_gpu_is_a_word_of_a_name(texts: list[str], kind: str | None) -> None:
    assert gpu_in(texts) == kind


@pytest.mark.parametrize(
    ("name", "arguments", "target", "memory"),
    [
        ("llama_h100", {}, None, 80),
        ("llama_h100", {"gpu": "gb200"}, None, 192),
        ("llama_h100", {"gpu": "gb200"}, "b200", 180),
        ("llama_b300", {}, None, None),
        ("llama", {"precision": "bf16"}, None, None),
    ],
)
def test_the_target_names_the_gpu_or_the_arguments_or_the_name(
    name: str, arguments: dict[str, Any], target: str | None, memory: int | None
) -> None:
    named = replace(recipe({}), name=name, qualified_name=f"recipes.{name}", arguments=arguments)
    assert gpu_memory(named, replace(TARGET, gpu=target)) == memory


def least(*changes: dict[str, Any], ranks: int | None = None) -> int | None:
    values = BF16 | MODEL | LLAMA_3_8B
    for each in changes:
        values |= each
    return least_state(WrittenSettings.of({path: Known(value) for path, value in values.items()}), TARGET, ranks)


def test_what_is_sharded_over_an_unknown_number_of_ranks_counts_as_nothing() -> None:
    whole, known = least(FSDP | {"ddp.data_parallel_sharding_strategy": "optim"}), least(FSDP, ranks=16)
    assert whole == WEIGHTS * (2 + 4)
    assert (least(FSDP), known) == (0, round(WEIGHTS * (2 + 4 + 4 + 8) / 16))


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"peft": {}}, WEIGHTS * 2),
        ({"model.cpu_offloading_weights": True}, None),
        ({"model.num_layers": 0}, None),
    ],
)
def test_what_is_not_certain_counts_as_nothing(changes: dict[str, Any], state: int | None) -> None:
    assert least(FSDP, {"ddp.data_parallel_sharding_strategy": "no_shard"}, changes) == state


def test_a_recipe_without_a_gpu_has_neither() -> None:
    (variant,) = recipe(BF16 | MODEL | LLAMA_3_8B | FSDP | {"ddp.data_parallel_sharding_strategy": "optim"}).variants
    site = Site(TARGET)
    on_gpu, elsewhere = (SettingsViews(variant, site, memory).of("run") for memory in (80, None))
    assert (on_gpu.value(GPU), on_gpu.value(STATE)) == (Known(80), Known(44.8))
    assert not {GPU, STATE} & {path for path in (GPU, STATE) if isinstance(elsewhere.value(path), Known)}
