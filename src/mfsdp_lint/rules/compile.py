"""All rules as one data file, for the wheel: `python -m mfsdp_lint.rules.compile OUT`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mfsdp_lint.rules.load import load_rules, raw_rules


def write(out_path: Path, folder: Path | None = None) -> None:
    """Write the rules of `folder` (default: the checkout's) to `out_path`. Raises RuleError if one is not right."""
    load_rules(folder)
    data = json.dumps(raw_rules(folder), ensure_ascii=False, separators=(",", ":"))
    out_path.write_text(data + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
