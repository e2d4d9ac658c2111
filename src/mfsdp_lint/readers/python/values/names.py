"""Global names whose values are not worked out yet."""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import EnumMember, External, Function, Object

READY = frozenset((ClassObject, Function, Module, External, str, int, float, bool, type(None), EnumMember))
"""Kinds of global values that need nothing more to be done before they are used."""


class Deferred:
    """A global name whose value is worked out when it is first read (an import, a decorated definition)."""

    __slots__ = ("resolve", "running", "settled")

    def __init__(self, resolve: Callable[[], Object]) -> None:
        self.resolve = resolve
        self.running = False
        self.settled = False


class StarOut:
    """`from package import *` of a package that is not at hand: any missing name may come from it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
