"""The tests in real/ need an environment with torch and Megatron, which `make test` provides, and no other way does."""

from __future__ import annotations

import os
from pathlib import Path

PYTHON = Path(os.environ.get("MFSDP_LINT_DRY_RUN_PYTHON", ".venv-dryrun/bin/python"))

collect_ignore_glob = [] if PYTHON.exists() else ["real/*"]
