"""Calls of generator functions, and of asynchronous ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Frame
from mfsdp_lint.readers.python.values.objects import MISSING, Object


class GeneratorCall:
    """A call of a generator function: its body runs when something iterates over it (or enters it with `with`).

    It runs once. What is left of one that was not run to its end is not known. `left_by` are the signals (see
    nodes.py) by which a loop over it may have been left from within a loop of its own that could not be followed.
    """

    __slots__ = ("body", "born", "fields", "frame", "interp", "left_by", "managed", "returned")

    def __init__(self, interp: Interpreter, frame: Frame, body: Callable[[Callable[[Object], Object]], Object]) -> None:
        self.interp = interp
        self.frame = frame
        self.body = body
        self.born = interp.tick()
        self.fields: dict[Any, Object] = {"state": "new"}
        self.managed = False
        self.left_by: list[Any] = []
        self.returned: Object = None

    @property
    def state(self) -> str:
        """ "new", "open" (begun and left) or "done"."""
        state = self.fields["state"]
        return state if isinstance(state, str) else "open"

    def run(self, on_yield: Callable[[Object], Object]) -> None:
        """Run the body, calling `on_yield` with every element."""
        if self.state == "new":
            self.interp.put(self, "state", "open")
            self.returned = self.body(on_yield)
            self.interp.put(self, "state", "done")

    def first(self) -> Object:
        """Return the next element: known of a new generator only; MISSING where there is none."""
        if self.state == "open":
            return self.interp.unknown()
        trial = self.interp.path.trial

        def stop(value: Object) -> Object:
            # Which element is the first is open where a branch before it is.
            raise _FirstElement(value if self.interp.path.trial == trial else self.interp.unknown())

        try:
            self.run(stop)
        except _FirstElement as found:
            return found.value
        return MISSING


class Coroutine:
    """A call of an asynchronous function: its body runs once, when something awaits it. `given` are its arguments."""

    __slots__ = ("body", "born", "fields", "given", "interp")

    def __init__(self, interp: Interpreter, body: Callable[[], Object], given: tuple[Object, ...] = ()) -> None:
        self.interp = interp
        self.given = given
        self.body = body
        self.born = interp.tick()
        self.fields: dict[Any, Object] = {}

    def result(self) -> Object:
        """Return the result of the function."""
        if "result" not in self.fields:
            self.interp.put(self, "result", self.interp.unknown("a coroutine that awaits itself"))
            self.interp.put(self, "result", self.body())
        return self.fields["result"]


class _FirstElement(BaseException):
    def __init__(self, value: Object) -> None:
        super().__init__()
        self.value = value


def awaited(interp: Interpreter, value: Object) -> Object:
    """Evaluate `await value`."""
    value = interp.settle(value)
    return value.result() if isinstance(value, Coroutine) else interp.unknown("await")
