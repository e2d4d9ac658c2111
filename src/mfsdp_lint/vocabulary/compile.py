"""The whole vocabulary as one data file, for the wheel: `python -m mfsdp_lint.vocabulary.compile OUT`."""

from __future__ import annotations

import sys
from pathlib import Path

from mfsdp_lint.plaindata import write_json
from mfsdp_lint.vocabulary.load import raw_data
from mfsdp_lint.vocabulary.tables import Table


def write(out_path: Path) -> None:
    """Write the vocabulary to `out_path`. Raises VocabularyError if an entry is not right."""
    raw = raw_data()
    _ = Table(raw).entries
    write_json(out_path, raw)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
