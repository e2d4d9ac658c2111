"""Scripts and commands that another file holds; each knows where it is written, and the environment that it begins
with.
"""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.readers.shell.pieces import Text
from mfsdp_lint.readers.shell.state import Variable


@dataclass(frozen=True, slots=True)
class Held:
    """The pieces of a script, and its environment as far as the file that holds it says.

    `folder` is the one that it is started in, and `when` the way to it.
    """

    text: Text
    variables: Mapping[str, Variable] = field(default_factory=dict)
    folder: str | None = None
    when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldCommand:
    """Words of a command that no shell reads, the place where it is started, and its environment."""

    words: tuple[Text, ...]
    place: Span
    variables: Mapping[str, Variable] = field(default_factory=dict)
    folder: str | None = None
    when: tuple[str, ...] = ()
