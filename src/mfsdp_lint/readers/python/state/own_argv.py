"""`sys.argv` of a program that changes it: `sys.argv = ["pretrain_gpt.py", *flags]`, in place as well.

The list is kept with the variables of the process: what may change these may change it, and an import hands it on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.python.values.markers import ARGV, WORD
from mfsdp_lint.readers.python.values.objects import MISSING, External, Frame, ListObject, Object, Unknown, Write

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.state.interpreter import Interpreter


def is_argv(value: Object) -> bool:
    """Tell whether a value is `sys.argv` as the program was started with it."""
    return type(value) is External and value.name == "sys.argv"


def own_argv(interp: Interpreter) -> Object:
    """Return the list that the program has made of `sys.argv`; MISSING where it has not."""
    return interp.settle(interp.path.environment.fields.get(ARGV, MISSING))


def replace_argv(interp: Interpreter, value: Object, node: Any, frame: Frame) -> None:
    """Run `sys.argv = value`."""
    environment = interp.path.environment
    interp.put(environment, ARGV, value)
    interp.record(environment, ARGV, interp.note(node, frame, None, "assigned", value, None))


def given_words(interp: Interpreter, own: Object) -> tuple[GivenWord, ...]:
    """Return the words that the program gives itself, at the place where it replaced `sys.argv`."""
    origin = Origin(_place_of(interp, interp.path.environment.writes.get(ARGV)), "assigned")
    items = own.items if isinstance(own, ListObject) else None
    if items is None:
        return (GivenWord(HOLE, origin, several=True),)
    return tuple(_given_word(interp.settle(each), origin) for each in items[1:])


def _given_word(item: Object, origin: Origin) -> GivenWord:
    known = item.fields.get(WORD) if isinstance(item, Unknown) else None
    return known if isinstance(known, GivenWord) else GivenWord(item if isinstance(item, str) else HOLE, origin)


def _place_of(interp: Interpreter, write: Any) -> Span:
    if not isinstance(write, Write) or write.module is None:
        return Span("", 1, 1, 1, 1)
    node: Any = write.node
    path = write.module.path
    return (
        node.point
        if isinstance(node, Origin)
        else Lines(interp.finder.sources.text_or_none(path) or "").of_node(path, node)
    )
