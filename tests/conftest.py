"""Settings that all tests share: a run depends on neither chance, nor speed, nor an earlier run."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from mfsdp_lint.engine import cache

settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
settings.register_profile(
    "random", deadline=None, database=None, print_blob=True
)  # benchmarks/random_tests.py asks for it
settings.load_profile("fixed")

# Looking for garbage after every 700 objects, among all that thousands of tests are made of, took a third of the time.
gc.set_threshold(50_000, 20, 20)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Set the tests themselves aside: they stay. Raises UsageError where pytest-xdist does not see their groups."""
    gc.freeze()
    grouped = (item for item in session.items if item.get_closest_marker("xdist_group"))
    if session.config.getoption("loadgroup", False) and any("@" not in item.nodeid for item in grouped):
        raise pytest.UsageError("this pytest-xdist does not see the groups of tests in this pytest")


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("user")))
        patch.setenv(cache.VARIABLE, "")
        patch.delenv("GITHUB_ACTIONS", raising=False)  # where these tests may run
        yield


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """The folder of the site, built once for all tests of a worker, and the end of the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    root = Path(__file__).parents[1]
    return folder, subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, check=False)
