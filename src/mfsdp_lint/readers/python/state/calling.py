"""Calls: what is called decides what happens, by a table of the kinds of values.

Nearly every part of the evaluator calls something (an operator its `__eq__`, a dictionary its factory), and what calls
do needs nearly every part. So the parts ask here, and calls.py, which lies above them all, fills the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.by_type import ByType
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import Object

Focus = Mapping[str, Any]
"""The expressions that say the values of keyword arguments, by keyword."""
NO_FOCUS: Focus = {}

Caller = Callable[[Machine, Any, list[Object], dict[str, Object], Any, Frame, Focus], Object]

CALLERS: ByType[Caller] = ByType()
"""Functions that call each kind of value; calls.py fills it."""


def call(
    machine: Machine,
    function: Object,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus = NO_FOCUS,
) -> Object:
    """Call `function(*arguments, **keywords)`. Raises Raised where the program would."""
    return CALLERS[type(function)](machine, function, arguments, keywords, node, frame, focus)
