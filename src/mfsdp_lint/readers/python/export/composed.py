"""From a configuration that a program composes of files (`library/hydra.py`) to a tree of values with their places."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Origin, Setting, Span
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.readers.python.export.origins import Spans, origin, plain_value
from mfsdp_lint.readers.python.export.settings import TreeSettings
from mfsdp_lint.readers.python.library.config_trees import is_whole, read_entry
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.objects import MISSING, ConfigTree, Frame
from mfsdp_lint.readers.trees import Leaf, Section, Tree

_NOWHERE = Origin(Span("", 1, 1, 1, 1), "default")


def section_of(interp: Interpreter, tree: ConfigTree, frame: Frame) -> Section:
    """Return a configuration as a tree of values, its interpolations worked out. It is open where it may hold more."""
    return _section(Spans(interp), tree, frame)


def variables_of(interp: Interpreter) -> list[Setting]:
    """Return the variables of the environment as the program has them when it composes.

    What its start gives it stays unless the program itself is seen to set it: the framework's profile speaks for code
    that cannot be followed.
    """
    settings = TreeSettings(interp, MISSING, interp.path.environment, Spans(interp))
    given = {each.path: each for each in interp.given.environment} if interp.given is not None else {}
    found = [each for each in map(settings.get, settings) if each is not None]
    return [given[each.path] if _is_in_doubt(each, given.get(each.path)) else each for each in found]


def _is_in_doubt(now: Setting, given: Setting | None) -> bool:
    if given is None or now.origin is None or given.origin is None:
        return False
    return now.value == UNKNOWN and now.origin.point == given.origin.point


def _section(spans: Spans, tree: ConfigTree, frame: Frame) -> Section:
    entries: dict[str, Tree] = {}
    for key in [key for key in tree.fields if isinstance(key, str)]:
        value, write = read_entry(spans.interp, tree, key, frame)
        value = spans.interp.settle(value)
        if isinstance(value, ConfigTree):
            entries[key] = _section(spans, value, frame)
        else:
            entries[key] = Leaf(plain_value(spans.interp, value), origin(spans, write) or _NOWHERE)
    first = next((each.origin for each in entries.values() if each.origin not in (None, _NOWHERE)), None)
    return Section(entries, first, open=not is_whole(tree))
