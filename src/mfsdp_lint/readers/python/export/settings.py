"""From the evaluator's objects to the settings of a recipe: dotted paths, values, origins."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mfsdp_lint.core.recipe import Call, How, Origin, Setting, Settings, Span, Undeclared
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value, join
from mfsdp_lint.readers.python.eval.classes import ClassObject, qualified
from mfsdp_lint.readers.python.eval.containers import uncertain
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.modules import Module
from mfsdp_lint.readers.python.values.limits import is_small
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    External,
    Instance,
    IteratorObject,
    ListObject,
    Object,
    Option,
    Unknown,
    Write,
)

ENVIRONMENT = "env."
DTYPES = {
    "float32", "float", "float16", "half", "bfloat16", "float64", "double", "int8", "uint8", "int16", "int32",
    "int64", "bool",
    "float8_e4m3fn", "float8_e5m2",
}  # fmt: skip
"""torch's dtype names (torch 2.13.0, torch/__init__.pyi)."""
FUNCTIONS = {"torch.nn.functional.relu", "torch.nn.functional.sigmoid", "torch.nn.functional.silu"}
"""Gates and activations that are known by the name they are used by; gelu's own is another (torch 2.13.0)."""


class Spans:
    """Turns syntax nodes into spans; `ast` counts columns in bytes, spans in characters."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._lines: dict[str, list[str]] = {}
        self.origins: dict[int, tuple[Write, Origin | None]] = {}

    def of(self, module: Module, node: ast.AST) -> Span:
        """The span of a node of a module."""
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1) or 1
        return Span(
            module.path,
            line,
            self._column(module, line, getattr(node, "col_offset", 0)),
            end_line,
            self._column(module, end_line, getattr(node, "end_col_offset", 0) or 0),
        )

    def _column(self, module: Module, line: int, offset: int) -> int:
        lines = self._lines.get(module.path)
        if lines is None:
            try:
                # Python ends a line at these three only, unlike str.splitlines.
                text = self.machine.finder.sources.text(module.path)
                lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            except Exception:
                lines = []
            self._lines[module.path] = lines
        text = lines[line - 1] if line <= len(lines) else ""
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1


def origin(spans: Spans, write: Write | None) -> Origin | None:
    """Where a write happened, with the writes it replaced."""
    if write is None or not isinstance(write, Write):
        return None
    chain: list[Write] = []
    here: Any = write
    found: Origin | None = None
    while isinstance(here, Write) and len(chain) < 50:
        known = spans.origins.get(id(here))
        if known is not None:
            found = known[1]
            break
        chain.append(here)
        here = here.earlier
    for one in reversed(chain):
        found = _origin(spans, one, found)
        # Recipes share the writes of the helpers that they call. The write is kept, so that its id stays its own.
        spans.origins[id(one)] = (one, found)
    return found


def _origin(spans: Spans, write: Write, earlier: Origin | None) -> Origin | None:
    if isinstance(write.module, Module) and write.node is not None and hasattr(write.node, "lineno"):
        focus = (
            spans.of(write.module, write.focus) if write.focus is not None and hasattr(write.focus, "lineno") else None
        )
        how: How = write.how  # type: ignore[assignment]
        return Origin(
            spans.of(write.module, write.node),
            how,
            focus,
            write.function,
            write.module.upstream,
            write.order,
            earlier,
            plain_value(spans.machine, write.value) if spans.machine.tracing else UNKNOWN,
            _calls(spans, write),
            write.value.text if spans.machine.tracing and _is_unknown(write.value) else "",
            _option(write.value),
        )
    if isinstance(write.node, Origin):
        value = plain_value(spans.machine, write.value) if spans.machine.tracing else UNKNOWN
        return replace(write.node, order=write.order, earlier=earlier, value=value, calls=_calls(spans, write))
    return earlier


def _is_unknown(value: Object) -> bool:
    return isinstance(value, Unknown) and not (type(value) is Option and value.default is not MISSING)


def _option(value: Object) -> str:
    """The options of a command line that a value may come from."""
    options = value.options if isinstance(value, Choice) else (value,)
    return ", ".join(dict.fromkeys(option.text for option in options if type(option) is Option))


def _calls(spans: Spans, write: Write) -> tuple[Call, ...]:
    return tuple(
        Call(spans.of(module, node), function)
        for module, node, function in write.frames
        if module is not None and node is not None and hasattr(node, "lineno")
    )


def plain_value(machine: Machine, value: Object, depth: int = 0) -> Value:
    """What is known of a value, as recipes have it."""
    value = machine.settle(value)
    if isinstance(value, (bytes, complex, type(...))):
        return NOT_NONE
    if isinstance(value, CONSTANTS):
        if not is_small(value):
            return NOT_NONE
        return Known(value)  # type: ignore[arg-type]
    if isinstance(value, Unknown):
        known = value.not_none or machine.facts.fields.get(("not none", id(value))) is True
        return NOT_NONE if known or (value.fields and _written(value)) else UNKNOWN
    if isinstance(value, Choice):
        return join(plain_value(machine, option, depth) for option in value.options if option is not MISSING)
    if isinstance(value, EnumMember):
        return Known(value.name)
    if isinstance(value, External):
        top, _, last = value.name.rpartition(".")
        if value.name in FUNCTIONS:
            return Known(f"<function {value.name}>")
        return Known(value.name) if top == "torch" and last in DTYPES else NOT_NONE
    if isinstance(value, (tuple, ListObject)) and depth < 8 and not isinstance(value, IteratorObject):
        items = list(value) if isinstance(value, tuple) else value.items
        return (
            NOT_NONE
            if items is None or any(map(uncertain, items))
            else _known_list([plain_value(machine, item, depth + 1) for item in items])
        )
    if isinstance(value, DictObject) and depth < 8 and not value.writes.get("<hazy>"):
        if any(map(uncertain, value.fields.values())):
            return NOT_NONE
        return _known_dict({key: plain_value(machine, item, depth + 1) for key, item in value.fields.items()})
    return NOT_NONE


def _written(value: Unknown) -> bool:
    return bool(value.writes)


def _known_list(items: list[Value]) -> Value:
    found: list[Plain] = []
    for item in items:
        if not isinstance(item, Known):
            return NOT_NONE
        found.append(item.value)
    return Known(found)


def _known_dict(items: dict[Any, Value]) -> Value:
    found: dict[str, Plain] = {}
    for key, item in items.items():
        if not isinstance(item, Known):
            return NOT_NONE
        found[str(key)] = item.value
    return Known(found)


class TreeSettings(Settings):
    """The settings of one path through a recipe, read from its configuration tree when they are asked for."""

    def __init__(self, machine: Machine, root: Object, environment: DictObject, spans: Spans) -> None:
        self._machine = machine
        self._facts = machine.facts
        self._root = root
        self._environment = environment
        self._spans = spans
        self._known: dict[str, Setting | None] = {}
        self._values: dict[str, Value] = {}
        self._all: list[str] | None = None

    def get(self, path: str) -> Setting | None:
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Every write that had to do with a setting, in order: of itself, or of a section that it is in.

        A section counts where it replaces another, or where nothing else is known to have been written.
        """
        machine = self._machine
        saved, machine.facts = machine.facts, self._facts
        try:
            writes = {} if path.startswith(ENVIRONMENT) else _history(self._root, path.split("."), "")
            found = [(each, self._told(writes[each, order])) for each, order in sorted(writes, key=_order)]
        finally:
            machine.facts = saved
        return [(each, one) for each, one in found if one is not None] or super().history(path)

    def undeclared(self) -> tuple[Undeclared, ...]:
        """The assignments to names that are no fields."""
        from mfsdp_lint.readers.python.export.undeclared import undeclared

        machine = self._machine
        saved, machine.facts = machine.facts, self._facts
        try:
            found = [
                Undeclared(path, cls.name, fields, where)
                for path, cls, fields, write in undeclared(machine, self._root)
                if (where := origin(self._spans, write))
            ]
        finally:
            machine.facts = saved
        return tuple(found)

    def _told(self, write: Write) -> Origin | None:
        earlier = write.earlier and _origin(self._spans, write.earlier, None)
        return _origin(self._spans, write, earlier)

    def __iter__(self) -> Iterator[str]:
        if self._all is None:
            self._all = list(dict.fromkeys([*_paths(self._root, "", set()), *self._variables()]))
        return iter(self._all)

    def _variables(self) -> list[str]:
        names = [key for key in self._environment.fields if isinstance(key, str) and key in self._environment.writes]
        own = _field(self._root, "env_vars")
        if isinstance(own, DictObject):
            names += [key for key in own.fields if isinstance(key, str)]
        return [f"{ENVIRONMENT}{name}" for name in names]

    def _read(self, path: str) -> Setting | None:
        machine = self._machine
        saved, machine.facts = machine.facts, self._facts
        try:
            if path.startswith(ENVIRONMENT):
                return self._variable(path, path[len(ENVIRONMENT) :])
            return self._setting(path)
        finally:
            machine.facts = saved

    def value(self, path: str) -> Value:
        """The value alone, which is what most questions are about; unknown for what is not there."""
        found = self._values.get(path)
        if found is None:
            machine = self._machine
            saved, machine.facts = machine.facts, self._facts
            try:
                found = self._value(path)
            finally:
                machine.facts = saved
            self._values[path] = found
        return found

    def _value(self, path: str) -> Value:
        if path.startswith(ENVIRONMENT):
            setting = self._variable(path, path[len(ENVIRONMENT) :])
            return UNKNOWN if setting is None else setting.value
        trail = self._trail(path)
        return UNKNOWN if trail is None else plain_value(self._machine, trail[-1][2])

    def _setting(self, path: str) -> Setting | None:
        trail = self._trail(path)
        if trail is None:
            return None
        owner, name, found = trail[-1]
        return Setting(path, plain_value(self._machine, found), self._origin(owner, name))

    def _trail(self, path: str) -> list[tuple[Object, str, Object]] | None:
        """Every step from the configuration to a setting: the object, the name of its part, the part.

        None where one is missing. `__class__` is the name of a class.
        A section that is None has no settings: whoever reads one of it finds nothing.
        """
        owner = self._root
        trail: list[tuple[Object, str, Object]] = []
        for part in path.split("."):
            owner = self._machine.settle(owner)
            found = (class_name(owner) or MISSING) if part == "__class__" else _field(owner, part)
            if found is MISSING and isinstance(owner, (Instance, Choice)) and part != "__class__":
                found = self._computed(owner, part)
            if found is MISSING:
                return None
            trail.append((owner, part, found))
            owner = found
        return trail

    def _computed(self, owner: Object, name: str) -> Object:
        """A property, a class attribute, or what `__getattr__` forwards."""
        from mfsdp_lint.readers.python.eval.attributes import get_attribute
        from mfsdp_lint.readers.python.state.machine import Frame, Raised

        machine = self._machine
        mark, steps = len(machine.journal), machine.steps
        machine.steps = 0
        machine.trial += 1
        try:
            module = (
                owner.cls.module
                if isinstance(owner, Instance) and isinstance(owner.cls, ClassObject)
                else Module("", "", ast.Module([], []))
            )
            return get_attribute(machine, owner, name, Frame(module))
        except Exception as error:
            if isinstance(error, (Raised, RecursionError)) or type(error).__name__ in ("CannotMerge", "OutOfSteps"):
                return MISSING
            raise
        finally:
            machine.trial -= 1
            machine.rollback(mark)
            machine.steps = steps

    def _origin(self, owner: Object, name: str) -> Origin | None:
        write = _write(owner, name)
        if write is None and isinstance(owner, Instance) and name not in owner.fields:
            write = next(
                (
                    inner.writes[name]
                    for inner in owner.fields.values()
                    if isinstance(inner, Instance) and name in inner.writes
                ),
                None,
            )
        if write is not None:
            return origin(self._spans, write)
        made = getattr(owner, "made", None)
        return origin(self._spans, made)

    def _variable(self, path: str, name: str) -> Setting | None:
        if name in self._environment.writes:
            value, write = self._environment.fields.get(name, MISSING), self._environment.writes[name]
            if value is MISSING:
                return None
        else:
            own = _field(self._root, "env_vars")
            if not isinstance(own, DictObject) or name not in own.fields:
                return None
            value, write = own.fields[name], own.writes.get(name)
        known = plain_value(self._machine, value)
        if uncertain(value):
            known = join([known, UNKNOWN])
        if isinstance(known, Known) and known.value is not None:
            known = Known(str(known.value))
        return Setting(path, known, origin(self._spans, write))


def _field(owner: Object, name: str) -> Object:
    if isinstance(owner, (Instance, Unknown)):
        return owner.fields.get(name, MISSING)
    if isinstance(owner, DictObject):
        return owner.fields.get(name, MISSING)
    return MISSING


def _write(owner: Object, name: str) -> Write | None:
    found = owner.writes.get(name) if isinstance(owner, (Instance, Unknown, DictObject)) else None
    return found if isinstance(found, Write) else None


def _order(key: tuple[str, int]) -> int:
    return key[1]


def _history(owner: Object, parts: list[str], above: str) -> dict[tuple[str, int], Write]:
    """The writes of a setting below `owner` by path and order, those into sections that were replaced included."""
    name, rest = parts[0], parts[1:]
    path = above + name
    chain: list[Write] = []
    here = _write(owner, name)
    while here is not None and len(chain) < 50:
        chain.insert(0, here)
        here = here.earlier
    if not rest:
        made = getattr(owner, "made", None)
        if not chain and isinstance(made, Write):
            chain = [made._replace(value=_field(owner, name))]
        return {(path, write.order): write for write in chain}
    found: dict[tuple[str, int], Write] = {}
    for position, write in enumerate(chain):
        if position and write.value is not chain[position - 1].value:
            found[path, write.order] = write
        found |= _history(write.value, rest, path + ".")
    found |= _history(_field(owner, name), rest, path + ".")
    return found or {(path, write.order): write for write in chain[-1:]}


def _paths(owner: Object, prefix: str, above: set[int]) -> Iterator[str]:
    if id(owner) in above or len(above) > 12:
        return
    names = [name for name in getattr(owner, "fields", {}) if isinstance(name, str) and not name.startswith("<")]
    for name in names:
        path = prefix + name
        value = owner.fields[name]
        if isinstance(value, (Instance, Unknown)) and _has_fields(value):
            if isinstance(value, Instance):
                yield path
            yield from _paths(value, path + ".", above | {id(owner)})
        elif not isinstance(owner, Unknown) or name in owner.writes:
            yield path


def _has_fields(value: Object) -> bool:
    return any(isinstance(name, str) and not name.startswith("<") for name in value.fields)


def class_name(owner: Object) -> str | None:
    """The dotted name of an object's class, if it is known."""
    if isinstance(owner, Instance) and not isinstance(owner.cls, Choice):
        return qualified(owner.cls)
    return None
