"""`sys.argv` of a program that changes it: `sys.argv = ["pretrain_gpt.py", *flags]`, in place as well.

The list is kept with the variables of the process: what may change these may change it, and an import hands it on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.python.values.markers import ARGV, WORD
from mfsdp_lint.readers.python.values.objects import DictObject, External, ListObject, Object, Unknown, Write


def is_argv(value: Object) -> bool:
    """Tell whether a value is `sys.argv` as the program was started with it."""
    return type(value) is External and value.name == "sys.argv"


def given_words(
    environment: DictObject, settle: Callable[[Object], Object], sources: Sources
) -> tuple[GivenWord, ...] | None:
    """Return the words that a program gives itself, placed where it replaced `sys.argv`; None where it did not."""
    if ARGV not in environment.fields:
        return None
    own = settle(environment.fields[ARGV])
    origin = Origin(_place_of(environment.writes.get(ARGV), sources), "assigned")
    items = own.items if isinstance(own, ListObject) else None
    if items is None:
        return (GivenWord(HOLE, origin, several=True),)
    return tuple(_given_word(settle(each), origin) for each in items[1:])


def _given_word(item: Object, origin: Origin) -> GivenWord:
    known = item.fields.get(WORD) if isinstance(item, Unknown) else None
    return known if isinstance(known, GivenWord) else GivenWord(item if isinstance(item, str) else HOLE, origin)


def _place_of(write: object, sources: Sources) -> Span:
    if not isinstance(write, Write) or write.module is None:
        return Span("", 1, 1, 1, 1)
    node: Any = write.node
    path = write.module.path
    return node.point if isinstance(node, Origin) else Lines(sources.text_or_none(path) or "").of_node(path, node)
