"""A script that another file holds: its text, which knows where it is written, and the variables it begins with."""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.readers.shell.pieces import Text
from mfsdp_lint.readers.shell.state import Variable


@dataclass(frozen=True, slots=True)
class Held:
    """The pieces of a script, and its environment as far as the file that holds it says."""

    text: Text
    variables: Mapping[str, Variable] = field(default_factory=dict)
