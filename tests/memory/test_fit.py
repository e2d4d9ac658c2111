"""Whether a recipe fits, and the changes that are proposed."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.memory.estimate import GIB, Answer, Limit, Memory, memory
from mfsdp_lint.memory.fit import answer
from tests.memory.test_activations import RUN
from tests.memory.test_counting import LLAMA_3_8B, MODEL
from tests.memory.test_estimate import BF16, FSDP, recipe

TARGET = resolve_target("0.3.1")


def asked(limit: int, *changes: dict[str, Any], refused: frozenset[str] = frozenset()) -> Answer:
    """Ask of Llama 3 8B on 16 ranks; a change of one of the `refused` settings breaks a rule."""
    values = BF16 | MODEL | LLAMA_3_8B | RUN | FSDP
    for each in changes:
        values |= each
    known = recipe(values)

    def memory_of(each: Recipe) -> Memory:
        return memory(each, TARGET, 16)

    def refused_by(each: Recipe) -> frozenset[str]:
        now = each.variants[0].settings
        return frozenset(path for path in refused if now.value(path) != Known(values.get(path)))

    return answer(known, memory_of(known), Limit(limit * GIB, "a GPU"), memory_of, refused_by)


def test_it_fits_is_close_or_does_not_fit() -> None:
    assert [asked(limit).fit for limit in (80, 30, 20, 8)] == ["fits", "close", "does not fit", "does not fit"]


def test_model_state_alone_may_be_too_much() -> None:
    assert asked(8).why == "model state alone is 8.4 GiB"
    assert asked(20).why.endswith("GiB by the estimate")


def test_cheap_changes_come_first() -> None:
    sharded_less = {"ddp.data_parallel_sharding_strategy": "optim"}
    first = asked(50, sharded_less).proposals[0]
    assert first.changes == (("ddp.data_parallel_sharding_strategy", "optim_grads"),)
    assert first.bytes < 50 * GIB


def test_nothing_is_proposed_that_start_up_refuses() -> None:
    proposed = {path for each in asked(20).proposals for path, _ in each.changes}
    refused = frozenset({"model.recompute_granularity"})
    assert "model.recompute_granularity" in proposed
    remaining = asked(20, refused=refused).proposals
    assert remaining
    assert refused.isdisjoint(path for each in remaining for path, _ in each.changes)


def test_sizes_divide_in_what_is_proposed() -> None:
    odd = {"model.num_attention_heads": 6, "model.num_query_groups": 6, "model.hidden_size": 4098}
    proposed = {path for each in asked(20, odd).proposals for path, _ in each.changes}
    assert "model.tensor_model_parallel_size" not in proposed


def test_changes_that_are_not_enough_are_added_up() -> None:
    (together,) = asked(13).proposals
    assert {"model.recompute_granularity", "model.tensor_model_parallel_size"} <= dict(together.changes).keys()


def test_without_numbers_it_is_not_known() -> None:
    found = asked(80, {"model.num_layers": None})
    assert (found.fit, found.proposals) == ("not known", ())
    assert "model.num_layers" in found.why


def test_absurd_sizes_are_not_known() -> None:
    found = asked(80, {"model.seq_length": 10**400})
    assert (found.fit, found.why) == ("not known", "activations: the sizes make no sense")


def test_a_part_that_is_not_counted_may_be_too_much_and_what_is_counted_alone_as_well() -> None:
    beside = {"model.__class__": "megatron.bridge.models.qwen_vl.qwen25_vl_provider.Qwen25VLModelProvider"}
    found = asked(80, beside)
    assert (found.fit, found.proposals) == ("not known", ())
    assert found.why.endswith("by the estimate, without the vision model and its projection")
    assert asked(1, beside).fit == "does not fit"
