"""A call that is evaluated: what the function is given, and where the program calls it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import Object

Focus = Mapping[str, Any]
"""The expressions that give the values of keyword arguments, by keyword."""
NO_FOCUS: Focus = {}


class Call(NamedTuple):
    """The arguments of a call, and the place of the call.

    `node` is the calling expression or statement, None where no text of the program calls; `frame` is the frame that
    calls. `focus` has the expressions of keyword arguments, where they stand elsewhere than in `node`.
    """

    arguments: list[Object]
    keywords: dict[str, Object]
    node: Any
    frame: Frame
    focus: Focus = NO_FOCUS

    def passing(self, arguments: list[Object], keywords: dict[str, Object] | None = None) -> Call:
        """Return a call at the same place with other arguments."""
        return Call(arguments, {} if keywords is None else keywords, self.node, self.frame)
