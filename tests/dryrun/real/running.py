"""How these tests run the tool: with the Python that has torch and Megatron."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.dryrun.conftest import PYTHON as INSTALLED

ROOT = Path(__file__).resolve().parents[3]
PYTHON = str(INSTALLED.absolute())

FSDP = {
    "dist.use_megatron_fsdp": True,
    "ddp.use_megatron_fsdp": True,
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "ddp.overlap_grad_reduce": True,
    "ddp.overlap_param_gather": True,
    "checkpoint.ckpt_format": "fsdp_dtensor",
    "comm_overlap": None,
}


def mfsdp_lint(*arguments: str, folder: Path, cwd: Path = ROOT, **environment: str) -> tuple[int, Any, str]:
    """The exit code, the document that was printed, and what was said beside it.

    Nothing may be left in the temporary folder.
    """
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "mfsdp_lint", *arguments, "--python", PYTHON, "--output-format", "json"],
        capture_output=True,
        env={**os.environ, "TMPDIR": str(temporary), **environment},
        cwd=cwd,
        check=False,
    )
    assert list(temporary.iterdir()) == []
    assert done.stdout, done.stderr.decode()
    return done.returncode, json.loads(done.stdout), done.stderr.decode()
