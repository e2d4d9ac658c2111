"""Start-up's own functions, called in a recipe: what they do to its settings is what startup/ knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mfsdp_lint.core.recipe import Origin, Span, Variant
from mfsdp_lint.core.values import Known, NotNone, OneOf, Plain, Value
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute, write
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.export.settings import ENVIRONMENT, TreeSettings
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    External,
    Instance,
    ListObject,
    Object,
    Unknown,
)
from mfsdp_lint.startup.resolve import Change, changes_of
from mfsdp_lint.startup.steps import Phase
from mfsdp_lint.versions.target import Target
from mfsdp_lint.vocabulary import SETTINGS

STARTS: dict[str, frozenset[Phase]] = {
    "megatron.bridge.training.config.runtime_config_update": frozenset(("update", "validation")),
    "megatron.bridge.training.config.ConfigContainer.validate": frozenset(("validation",)),
}
"""The functions that are phases of the start-up, by their dotted names."""

MAKERS = {"mixed_precision": ("megatron.bridge.training.mixed_precision", "get_mixed_precision_config")}
"""What start-up makes a section of that is given as a name."""

Kept = tuple[Instance | Unknown, str, Object, Any]


def start(
    machine: Machine,
    target: Target,
    phases: frozenset[Phase],
    container: Instance,
    forget: Callable[[], None],
    make: Callable[[str, str], Object],
    frame: Frame,
) -> None:
    """Take these phases of the start-up on a container.

    `forget` loses what they may change, and what is known of that is put back.
    `make` is asked for the section that a name stands for. `frame` is the call of the function that does it.
    """
    settings = TreeSettings(machine, container, machine.path.environment, Spans(machine))
    changes = changes_of(Variant(settings), target, phases)
    kept = list(_kept(machine, container))
    named = [(name, each) for name in MAKERS if isinstance(each := container.fields.get(name), str)]
    forget()
    for owner, name, value, before in kept:
        if owner.fields.get(name, MISSING) is not value:
            machine.put(owner, name, value)
            if before is not None:
                machine.record(owner, name, before)
    for name, each in named:
        if any(change.path.startswith(f"{name}.") for change in changes):
            set_attribute(machine, container, name, make(name, each), frame.node, frame, None, "upstream")
    for change in {change.path: change for change in changes}.values():
        _carry_out(machine, container, change, frame)


def container_of(machine: Machine, arguments: Iterable[Object]) -> Instance | None:
    """The configuration that a call of such a function is given; None where it is not known."""
    found = [machine.settle(value) for value in arguments]
    match found:
        case [Instance() as one] if is_container(machine, one):
            return one
    return None


def _kept(machine: Machine, container: Instance) -> Iterable[Kept]:
    """The settings that start-up is known for, and the sections they are in, as they are now."""
    seen = set()
    for path in SETTINGS:
        owner: Object = container
        for name in path.split("."):
            if not isinstance(owner, (Instance, Unknown)) or name not in owner.fields:
                break
            value = owner.fields[name]
            if (id(owner), name) not in seen:
                seen.add((id(owner), name))
                yield owner, name, value, owner.writes.get(name)
            owner = machine.settle(value)


def _carry_out(machine: Machine, container: Instance, change: Change, frame: Frame) -> None:
    value = _object(machine, change.path, change.after)
    node: Any = frame.node
    if (place := change.place) is not None:
        span = Span(place.path, place.line, 1, place.line, 1)
        node = Origin(span, "upstream", None, frame.function, place.release)
    if change.path.startswith(ENVIRONMENT):
        name = change.path.removeprefix(ENVIRONMENT)
        write(machine, machine.path.environment, name, value, node, frame, None, "upstream")
        return
    *sections, name = change.path.split(".")
    owner: Object = container
    try:
        for section in sections:
            owner = get_attribute(machine, owner, section, None, frame)
        set_attribute(machine, owner, name, value, node, frame, None, "upstream")
    except Raised:
        return


def _object(machine: Machine, path: str, value: Value) -> Object:
    match value:
        case Known(plain):
            return _plain(machine, plain)
        case OneOf(values):
            return Choice(tuple(_plain(machine, each) for each in values))
        case NotNone():
            return machine.unknown(path, not_none=True)
    return machine.unknown(path)


def _plain(machine: Machine, value: Plain) -> Object:
    match value:
        case list():
            return ListObject([_plain(machine, item) for item in value], machine.tick())
        case dict():
            return DictObject({key: _plain(machine, item) for key, item in value.items()}, machine.tick())
        case str() if value.startswith("torch."):
            return External(value)
    return value
