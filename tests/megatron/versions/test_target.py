"""Which versions a run is judged against."""

import pytest

from mfsdp_lint.megatron.versions import DEFAULT_TARGET, RELEASES, UnknownVersion, resolve_target


def test_without_a_version_it_is_the_newest_on_the_package_index_and_says_so() -> None:
    target = resolve_target()
    assert (target.bridge, target.core, target.assumed) == ("0.3.1", "0.16.1", True)
    assert target.reason == "the newest on the package index"
    assert target.label == "megatron-bridge 0.3.1 with megatron-core 0.16.1"
    assert target == DEFAULT_TARGET


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.bridge)
def test_a_release_brings_the_core_that_it_pins(release) -> None:  # type: ignore[no-untyped-def]
    target = resolve_target(release.bridge)
    assert (target.bridge, target.core, target.assumed) == (release.bridge, release.core, False)


@pytest.mark.parametrize("name", ["head", "HEAD", "0.7.0.dev", "0.7.0.dev0", "0.7.0", "0.7", "0.7.0rc1"])
def test_the_development_branch_has_many_names(name: str) -> None:
    assert resolve_target(name).bridge == "head"


def test_a_line_means_its_newest_release() -> None:
    assert resolve_target("0.4").bridge == "0.4.2"
    assert resolve_target("v0.5.0").bridge == "0.5.0"


def test_a_patch_release_that_came_later_is_judged_by_its_line() -> None:
    target = resolve_target("0.5.9")
    assert (target.bridge, target.core) == ("0.5.9", "0.18.2")


def test_a_prerelease_is_judged_as_its_release() -> None:
    assert resolve_target("0.4.0rc2").bridge == "0.4.0"


@pytest.mark.parametrize("name", ["", "latest", "0.1.0", "0.8.0", "1", "0", "0.3.1.4", "0.7.1", "core_v0.16.1"])
def test_anything_else_is_unknown_and_the_known_ones_are_named(name: str) -> None:
    with pytest.raises(UnknownVersion, match=r"unknown Megatron-Bridge version .* \(known: 0\.2\.0, .*, head\)"):
        resolve_target(name)


def test_the_reason_is_the_callers() -> None:
    assert resolve_target("0.4", "from --target-bridge").reason == "from --target-bridge"
