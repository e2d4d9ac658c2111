"""Release numbers and ranges of them."""

import pytest

from mfsdp_lint.megatron.versions import VersionError, parse_range


@pytest.mark.parametrize(
    ("versions", "inside", "outside"),
    [
        ("", ["0.2.0", "0.6.0", "head"], []),
        ("<0.5", ["0.2.0", "0.4.2"], ["0.5.0", "0.5.1", "head"]),
        (">=0.5", ["0.5.0", "0.10.0", "head"], ["0.4.2"]),
        (">=0.4,<0.6", ["0.4.0", "0.5.1"], ["0.3.1", "0.6.0", "head"]),
        (">=0.3.0 <=0.4.2", ["0.3.0", "0.4.2"], ["0.2.2", "0.4.3"]),
        ("0.2 | >=0.5", ["0.2.0", "0.2.2", "0.5.0"], ["0.3.1", "0.4.2"]),
        ("!=0.3.1", ["0.3.0"], ["0.3.1"]),
        ("head", ["head"], ["0.6.0"]),
    ],
)
def test_a_range_holds_the_versions_between_its_bounds(versions: str, inside: list[str], outside: list[str]) -> None:
    assert [version for version in inside + outside if version in parse_range(versions)] == inside


def test_two_numbers_mean_the_whole_line() -> None:
    assert "0.4.2" in parse_range("0.4")
    assert "0.4.2" in parse_range("<=0.4")
    assert "0.4.2" not in parse_range(">0.4")


def test_a_patch_release_compares_by_its_patch_number_where_the_bound_has_one() -> None:
    assert "0.4.1" in parse_range("<0.4.2")
    assert "0.4.2" not in parse_range("<0.4.2")


@pytest.mark.parametrize("version", ["0.5.0rc1", "0.5.0.dev3", "v0.5.0", "0.5.0+abc123"])
def test_a_prerelease_counts_as_the_release_it_leads_to(version: str) -> None:
    assert version in parse_range(">=0.5")
    assert version not in parse_range("<0.5")


@pytest.mark.parametrize(
    "text", ["soon", ">=", "=>0.4", "0.4 |", "<0.4;>0.1", "0..4", "9" * 5000, "0." + "a." * 50 + "!"]
)
def test_nonsense_is_no_range(text: str) -> None:
    with pytest.raises(VersionError, match="is not a"):
        parse_range(text)
