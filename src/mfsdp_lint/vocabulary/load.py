"""Where the vocabulary comes from: the tool's data file, which is made of YAML and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfsdp_lint.core.store import Folder, store


def raw_data() -> Mapping[str, Any]:
    """The reviewed and the generated facts as plain data: `settings`, `defaults` and `flags`, read when asked for.

    Raises OSError where there is nothing to read.
    """
    return Folder(store(), "vocabulary")
