"""How an evaluation may end without a value."""

from __future__ import annotations

from typing import Any, TypeVar

from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Object

Ending = TypeVar("Ending", bound=Exception)


def kept(ending: Ending) -> Ending:
    """An ending that is kept for later, without the frames of the evaluator that it went through.

    They hold all that was evaluated until then; where one of them keeps it, only the collector could free that again.
    """
    ending.__traceback__ = ending.__context__ = None
    return ending


class Raised(Exception):
    """The evaluated program raises here.

    `module` and `node` are the innermost piece of the files that were asked for (of any file, where none of those had
    a part in it). Where a call is refused an argument, `keyword` is its name, `nearest` the parameter that may have
    been meant, and `focus` the text that gives it.
    """

    def __init__(self, name: str, text: str = "", keyword: str = "", nearest: str = "") -> None:
        super().__init__(text)
        self.name = name
        self.text = text
        self.keyword = keyword
        self.nearest = nearest
        self.value: Object = None
        self.module: Module | None = None
        self.node: Any = None
        self.focus: Any = None

    def passes(self, module: Module, node: Any, focus: Any = None) -> None:
        """Told of every call and statement that the exception leaves, the innermost first."""
        if self.module is None or (module.asked_for and not self.module.asked_for):
            self.module, self.node, self.focus = module, node, focus


class Refused(Raised):
    """A call is refused its arguments: they do not fit the parameters, whatever the code does otherwise."""

    def __init__(self, text: str, keyword: str = "", nearest: str = "") -> None:
        super().__init__("TypeError", text, keyword, nearest)


class OutOfSteps(Exception):
    """The evaluation was longer than a recipe can be; nothing is known of it."""


class CannotJoin(Exception):
    """Two sides of an undecided branch leave the block in different ways."""
