"""All rules as one data file, for the wheel: `python -m mfsdp_lint.rules.compile OUT`."""

from __future__ import annotations

import sys
from pathlib import Path

from mfsdp_lint.plaindata import write_json
from mfsdp_lint.rules.load import load_rules, raw_rules


def write(out_path: Path, folder: Path | None = None) -> None:
    """Write the rules of `folder` (default: the checkout's) to `out_path`. Raises RuleError if one is not right."""
    load_rules(folder)
    write_json(out_path, raw_rules(folder))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
