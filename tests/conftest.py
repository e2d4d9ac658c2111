"""What all tests share: property tests have no time limit, since machines differ, and no run knows of another one."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from mfsdp_lint.engine import cache

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_kept() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.VARIABLE, "")
        patch.delenv("GITHUB_ACTIONS", raising=False)  # where these tests may run
        yield
