"""Data as a file has it: values, each with its place in the text."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Placed:
    """A value of a data file: a constant, a list of Placed, or a dictionary of them by key.

    `origin` is where it stands, None where that is not known. A value that is `open` is not known: it depends on what
    is not in the file.
    """

    value: Any
    origin: Origin | None = None
    open: bool = False


NOT_KNOWN = Placed(None, open=True)


class NoData(Exception):
    """A text that is not in the format: the loader refuses it."""
