"""Source of the vocabulary: the tool's data file, which is made of YAML and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfsdp_lint.core.store import Folder, store


def raw_data() -> Mapping[str, Any]:
    """Return the reviewed and the generated facts as plain data: `settings`, `defaults`, `fields` and `flags`.

    Each is read when it is first needed. Raises OSError if there is nothing to read.
    """
    return Folder(store(), "vocabulary")
