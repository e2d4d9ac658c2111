"""Endings of an evaluation without a value."""

from __future__ import annotations

from typing import Any, TypeVar

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Object

Ending = TypeVar("Ending", bound=Exception)


def kept(ending: Ending) -> Ending:
    """Strip an ending that is kept for later of the evaluator's frames that it went through.

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
        """Note the place of a call or statement that the exception leaves; the innermost is told first."""
        if self.module is None or (module.asked_for and not self.module.asked_for):
            self.module, self.node, self.focus = module, node, focus


class Refused(Raised):
    """A call is refused its arguments, whatever the code does otherwise: they do not fit the parameters, or they are
    overrides that Hydra does not take.

    `lacking` are the required parameters that it gives nothing for; `spread` says that it gives arguments by `**`, so
    that others may give more, and `by_option` that an option of the command line gives them. `place` is where an
    override is written, if that is no code.
    """

    def __init__(
        self,
        text: str,
        keyword: str = "",
        nearest: str = "",
        *,
        lacking: tuple[str, ...] = (),
        name: str = "TypeError",
        place: Origin | None = None,
    ) -> None:
        super().__init__(name, text, keyword, nearest)
        self.lacking = lacking
        self.spread = False
        self.by_option = False
        self.place = place


class OutOfSteps(Exception):
    """The evaluation was longer than a recipe can be; nothing is known of it."""


class CannotJoin(Exception):
    """Two sides of an undecided branch leave the block in different ways."""
