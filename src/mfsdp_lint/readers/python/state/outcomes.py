"""How an evaluation may end without a value."""

from __future__ import annotations

from mfsdp_lint.readers.python.values.objects import Object


class Raised(Exception):
    """The evaluated program raises here."""

    def __init__(self, name: str, text: str = "") -> None:
        super().__init__(text)
        self.name = name
        self.text = text
        self.value: Object = None


class OutOfSteps(Exception):
    """The evaluation was longer than a recipe can be; nothing is known of it."""


class CannotJoin(Exception):
    """Two sides of an undecided branch leave the block in different ways."""
