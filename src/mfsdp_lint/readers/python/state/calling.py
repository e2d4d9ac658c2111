"""Calls: what is called decides what happens, by a table of the kinds of values.

Nearly every part of the evaluator calls something (an operator its `__eq__`, a dictionary its factory), and what calls
do needs nearly every part. So the parts ask here, and calls.py, which lies above them all, fills the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.by_type import ByType
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.objects import Object

Caller = Callable[[Machine, Any, Call], Object]

CALLERS: ByType[Caller] = ByType()
"""Functions that call each kind of value; calls.py fills it."""


def invoke(machine: Machine, function: Object, call: Call) -> Object:
    """Evaluate a call of `function`. Raises Raised where the program would."""
    return CALLERS[type(function)](machine, function, call)
