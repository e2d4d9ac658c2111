"""The steps of start-up as one data file, for the wheel: `python -m mfsdp_lint.upstream.compile OUT`."""

from __future__ import annotations

import sys
from pathlib import Path

from mfsdp_lint.plaindata import write_json
from mfsdp_lint.upstream.startup import raw_steps, startup
from mfsdp_lint.upstream.target import DEFAULT_TARGET


def write(out_path: Path) -> None:
    """Write the steps to `out_path`. Raises StartupError if one is not right."""
    startup(DEFAULT_TARGET)
    write_json(out_path, raw_steps())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
