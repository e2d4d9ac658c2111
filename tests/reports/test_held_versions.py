"""Versions in words."""

import pytest

from mfsdp_lint.reports.summary import named_versions


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        (["megatron-bridge 0.4.2"], "megatron-bridge 0.4.2"),
        (["megatron-bridge 0.5.1", "megatron-bridge 0.4.2"], "megatron-bridge 0.4.2, 0.5.1"),
        (["megatron-bridge 0.3.0", "megatron-bridge 0.3.1", "megatron-bridge 0.4.0"], "megatron-bridge 0.3.0 to 0.4.0"),
        (
            ["megatron-bridge head", "megatron-bridge 0.6.0", "megatron-bridge 0.5.1", "megatron-bridge 0.2.0"],
            "megatron-bridge 0.2.0, 0.5.1 to head",
        ),
        (["megatron-core 0.12.0", "megatron-bridge 0.5.9"], "megatron-bridge 0.5.9; megatron-core 0.12.0"),
    ],
)
def test_runs_of_known_releases_are_told_by_their_ends(versions: list[str], words: str) -> None:
    assert named_versions(versions) == words
