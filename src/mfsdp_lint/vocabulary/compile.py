"""The whole vocabulary as one data file, for the wheel: `python -m mfsdp_lint.vocabulary.compile OUT`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mfsdp_lint.vocabulary.load import raw_data
from mfsdp_lint.vocabulary.tables import Table


def write(out_path: Path) -> None:
    """Write the vocabulary to `out_path`. Raises VocabularyError if an entry is not right."""
    raw = raw_data()
    _ = Table(raw).entries
    out_path.write_text(json.dumps(raw, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
