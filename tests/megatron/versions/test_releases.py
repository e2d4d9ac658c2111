"""The releases are stated once; what else speaks of releases agrees with that."""

from __future__ import annotations

import pytest

from mfsdp_lint.megatron.versions import HEAD, numbers
from mfsdp_lint.megatron.versions.releases import CONTAINERS, CORE_RELEASES, NEWEST_ON_THE_INDEX, RELEASES, Container
from tools.evidenced import BRIDGE, CORE

KNOWN = [release.bridge for release in RELEASES]


def test_every_line_is_evidenced_once() -> None:
    lines = [HEAD if version == HEAD else numbers(version)[:2] for version in BRIDGE]
    assert len(lines) == len(set(lines)) == len({HEAD if each == HEAD else numbers(each)[:2] for each in KNOWN})
    assert len(CORE) == len({numbers(each.core)[:2] for each in CORE_RELEASES})


def test_the_newest_on_the_index_is_a_release() -> None:
    assert NEWEST_ON_THE_INDEX in KNOWN


@pytest.mark.parametrize("container", [each for each in CONTAINERS if each.bridge], ids=lambda each: each.tag)
def test_a_container_holds_a_release(container: Container) -> None:
    assert container.bridge in KNOWN
