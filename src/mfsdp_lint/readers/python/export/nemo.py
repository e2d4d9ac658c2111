"""From what the evaluator knows of a run of NeMo, or of a call of a framework's function, to a tree of values with the
framework's names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import UNKNOWN, Known
from mfsdp_lint.readers.python.eval.configurations import STRATEGY, TRAINER, class_of, held_by, strategy_of
from mfsdp_lint.readers.python.export.origins import Spans, origin, plain_value
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, TASK
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ClassObject,
    Frame,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Unknown,
    Write,
)
from mfsdp_lint.readers.trees import Leaf, Section, Tree

_NOWHERE = Origin(Span("", 1, 1, 1, 1), "default")
_DEEPEST = 8
HERE = "here"
"""The key of an entry of a listed object beside its arguments."""

_OPTIMIZER = "optim"
_LISTED = ("plugins", "callbacks")
"""Attributes of a trainer that are one object or several: each is told by its class."""


def tree_of_run(spans: Spans, root: Object) -> Section:
    """Return a run as a tree. It is open where the strategy, or its DDP, may hold more than is seen."""
    whole = _section(spans, root)
    if class_of(root) == STRATEGY:
        whole = Section({"trainer": Section({"strategy": whole})}, whole.origin, whole.open)
    elif class_of(root) == TRAINER:
        whole = Section({"trainer": whole}, whole.origin)
    strategy = root if class_of(root) == STRATEGY else strategy_of(root)
    ddp = strategy.fields.get("ddp", MISSING) if isinstance(strategy, Unknown) else MISSING
    closed = _is_closed(strategy) and (ddp is MISSING or not isinstance(ddp, Unknown) or _is_closed(ddp))
    made = _made(spans, strategy) or _made(spans, root)
    # The optimizer of a run may be the model's own, or that of a recipe which is not at hand.
    return Section({_OPTIMIZER: Leaf(UNKNOWN, _NOWHERE), **whole.entries}, made, open=not closed)


def tree_of_call(spans: Spans, root: Object) -> Section:
    """Return the arguments of a call of a framework's function as a tree."""
    return replace(_section(spans, root), origin=_made(spans, root))


def _made(spans: Spans, value: Object) -> Origin | None:
    """Return the call that made a task."""
    write = value.writes.get(TASK) if isinstance(value, Unknown) else None
    return origin(spans, write) if isinstance(write, Write) else None


def _is_closed(value: Object) -> bool:
    """Tell whether an object was made in sight, with arguments that are all seen."""
    return isinstance(value, Unknown) and TASK in value.fields and MAY_HAVE_CHANGED not in value.fields


def _section(spans: Spans, owner: Object, depth: int = 0) -> Section:
    entries: dict[str, Tree] = {}
    if depth < _DEEPEST:
        for name, value, write in _parts(spans, owner):
            listed = name in _LISTED
            found = _listed(spans, value, depth) if listed else None
            entries[name] = found or _tree(spans, value, write, depth)
    return Section(entries, None, open=not _is_closed(owner))


def _parts(spans: Spans, owner: Object) -> Iterator[tuple[str, Object, Write | None]]:
    """Yield the arguments of an object and the defaults of its class; attributes that were only read are left out."""
    fields: dict[Any, Any] = getattr(owner, "fields", {})
    writes: dict[Any, Any] = getattr(owner, "writes", {})
    for name, value in fields.items():
        if isinstance(name, str) and not isinstance(value, Native):
            write = writes.get(name)
            if isinstance(owner, Instance) or isinstance(write, Write) or _holds(value):
                yield name, value, write if isinstance(write, Write) else getattr(owner, "made", None)
    for name, value in _defaults(spans, owner).items():
        if name not in fields:
            yield name, value, None


def _holds(value: Object) -> bool:
    """Tell whether something was written into an unknown object, or into a part of it."""
    return isinstance(value, Unknown) and (
        bool(value.writes) or any(_holds(each) for name, each in value.fields.items() if isinstance(name, str))
    )


def _defaults(spans: Spans, owner: Object) -> dict[str, Object]:
    """Return the values that a class gives to the fields that a task for it leaves out."""
    if not isinstance(owner, Unknown) or not _is_closed(owner):
        return {}
    cls = next(iter(held_by(owner)), None)
    if not isinstance(cls, ClassObject) or cls.module.name.startswith("nemo."):
        return {}
    interp = spans.interp
    given = {name: value for name, value in owner.fields.items() if isinstance(name, str) and name in owner.writes}
    mark, steps = len(interp.path.journal), interp.path.steps
    interp.path.steps = 0
    interp.path.trial += 1
    try:
        made = invoke(interp, cls, Call([], given, None, Frame(Module("", "", cls.module.tree))))
        known = made.fields if isinstance(made, Instance) and MAY_HAVE_CHANGED not in made.writes else {}
        return {name: value for name, value in known.items() if isinstance(name, str)}
    except (Raised, RecursionError, CannotJoin, OutOfSteps):
        return {}
    finally:
        interp.path.trial -= 1
        interp.rollback(mark)
        interp.path.steps = steps


def _tree(spans: Spans, value: Object, write: Write | None, depth: int) -> Tree:
    value = spans.interp.settle(value)
    told = origin(spans, write) or _NOWHERE
    if isinstance(value, (Unknown, Instance)) and (
        TASK in value.fields or isinstance(value, Instance) or _holds(value)
    ):
        found = _section(spans, value, depth + 1)
        return Section(found.entries, told, found.open)
    return Leaf(plain_value(spans.interp, value), told)


def _listed(spans: Spans, value: Object, depth: int) -> Section | None:
    """Return objects by the names of their classes; None where the class of one of them is not known."""
    value = spans.interp.settle(value)
    items = value.items if isinstance(value, ListObject) else list(value) if isinstance(value, tuple) else [value]
    names = [class_of(item) for item in items or ()]
    if items is None or not all(names) or isinstance(value, CONSTANTS):
        return None
    found = {name: _section(spans, item, depth + 1) for name, item in zip(names, items, strict=True)}
    here = Leaf(Known(True), _NOWHERE)
    return Section({name: Section({**each.entries, HERE: here}) for name, each in found.items()})
