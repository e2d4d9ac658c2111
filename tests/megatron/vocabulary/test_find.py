"""What a word names."""

from __future__ import annotations

import pytest

from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import find, nearest


@pytest.mark.parametrize(
    ("word", "paths"),
    [
        ("checkpoint.ckpt_format", ["checkpoint.ckpt_format"]),
        ("ckpt_format", ["checkpoint.ckpt_format"]),
        ("--ckpt-format", ["checkpoint.ckpt_format"]),
        ("use_megatron_fsdp", ["dist.use_megatron_fsdp", "ddp.use_megatron_fsdp"]),
        ("--untie-embeddings-and-output-weights", ["model.share_embeddings_and_output_weights"]),
        ("untie_embeddings_and_output_weights", ["model.share_embeddings_and_output_weights"]),
        ("--use_megatron_fsdp", ["dist.use_megatron_fsdp", "ddp.use_megatron_fsdp"]),
        ("-tp", ["model.tensor_model_parallel_size"]),
        ("CUDA_DEVICE_MAX_CONNECTIONS", ["env.CUDA_DEVICE_MAX_CONNECTIONS"]),
        ("env.CUDA_DEVICE_MAX_CONNECTIONS", ["env.CUDA_DEVICE_MAX_CONNECTIONS"]),
        ("--rotary-base", []),
        ("no_such_thing", []),
        ("--no-such-flag", []),
    ],
)
def test_a_word_names_settings(word: str, paths: list[str]) -> None:
    assert [entry.path for entry in find(word, table()).entries] == paths


def test_a_flag_that_is_no_setting_is_found_all_the_same() -> None:
    assert find("--rotary-base", table()).flag == "--rotary-base"
    assert not find("--no-such-flag", table())


def test_a_removed_name_leads_to_what_replaced_it() -> None:
    found = find("keep_fp8_transpose_cache_when_using_custom_fsdp", table())
    assert found.removed
    assert [entry.path for entry in found.entries] == ["ddp.keep_fp8_transpose_cache"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("ckpt_fromat", "ckpt_format"),
        ("checkpoint.ckpt_fromat", "checkpoint.ckpt_format"),
        ("--ckpt-fromat", "--ckpt-format"),
        ("CUDA_DEVICES_MAX_CONNECTIONS", "CUDA_DEVICE_MAX_CONNECTIONS"),
    ],
)
def test_the_nearest_name_of_a_misspelt_one(word: str, meant: str) -> None:
    assert nearest(word, table())[0] == meant


def test_nothing_is_near_to_nonsense() -> None:
    assert nearest("zzzzzzzz", table()) == []
