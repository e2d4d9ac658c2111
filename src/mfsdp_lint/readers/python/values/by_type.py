"""Tables by the type of a value."""

from __future__ import annotations

from typing import TypeVar

Entry = TypeVar("Entry")


class ByType(dict[type, Entry]):
    """A table of actions for values of each type; a type that has no entry shares that of its nearest base.

    Raises KeyError where no base has one (an entry for `object` is one for all).
    """

    def __missing__(self, kind: type) -> Entry:
        for base in kind.__mro__[1:]:
            if base in self:
                found = self[kind] = self[base]
                return found
        raise KeyError(kind)
