"""Checkpoints that the torch and megatron-core at hand write are recognised."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from mfsdp_lint.checkpoints.folder import checkpoint
from tests.dryrun.real.running import PYTHON, ROOT

pytestmark = pytest.mark.xdist_group("dry-run")
WRITE = ROOT / "tests" / "checkpoints" / "write.py"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of every format."""
    folder = tmp_path_factory.mktemp("written")
    with open(folder / "said", "wb") as said:
        writer = subprocess.Popen(
            [PYTHON, str(WRITE), str(folder / "checkpoints")],
            stdout=said,
            stderr=said,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            writer.wait(timeout=120)
        finally:
            with suppress(ProcessLookupError):  # the asynchronous writer of torch_dist outlives it
                os.killpg(writer.pid, signal.SIGKILL)
    assert writer.returncode == 0, (folder / "said").read_text()
    return folder / "checkpoints"


@pytest.mark.parametrize("name", ["torch_dist", "fsdp_dtensor", "torch_dcp", "torch"])
def test_the_format_of_what_is_written_today_is_told(written: Path, name: str) -> None:
    found = checkpoint(str(written / name))
    assert found.every_trouble == ()
    assert [(each.format, each.complete) for each in found.iterations] == [(name, True)]
