"""From the nodes of a snapshot to the evaluator's objects; the effects of calling a summarised function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute, write
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import enum_members, fields_of, has_fields, is_enum, lookup, mro, namespace
from mfsdp_lint.readers.python.eval.functions import bind
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.code import Call, classes_of, qualified
from mfsdp_lint.readers.python.values.markers import EITHER, IDENTITY, MAY_HAVE_CHANGED, UNKNOWN_KEYS
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    ClassObject,
    Descriptor,
    DictObject,
    External,
    FieldSpec,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Partial,
    Place,
    SetObject,
    Unknown,
    Write,
    identical,
)
from mfsdp_lint.snapshots import Node

if TYPE_CHECKING:
    from mfsdp_lint.core.recipe import Origin
    from mfsdp_lint.megatron.versions import Target


def forget_within(interp: Interpreter, value: Object, bound: Any) -> None:
    """Forget what a call may change of a value: what its bound names, else all that the value leads to."""
    if bound is None or not forget_names(interp, [value], bound[0], bound[1]):
        forget_reachable(interp, value)


def forget_names(interp: Interpreter, values: Iterable[Object], names: Sequence[str], contents: bool) -> bool:
    """Make the attributes of these names unknown in all that the values lead to; False where that is not enough.

    It is not where code of the user's own is among them, which upstream's may call. With `contents`, what lists and
    dictionaries hold is forgotten as well.
    """
    found = list(_reachable(interp, values))
    if not all(_is_known(interp, value) for value in found):
        return False
    for value in found:
        if isinstance(value, (Instance, Unknown)):
            known = value.cls.data if isinstance(value, Instance) and isinstance(value.cls, ClassObject) else None
            also = () if known is None else [other for name in names for other in known.also_set(name)]
            for name in (*names, *also):
                if name in value.fields:
                    _forget(interp, value, name)
        elif contents and isinstance(value, ListObject):
            interp.put(value, "items", None)
        elif contents and isinstance(value, DictObject):
            interp.record(value, MAY_HAVE_CHANGED, True)
            for key in list(value.fields):
                _forget(interp, value, key)
    for value in values:
        if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
            for name in names:
                # The passed object may have gained them.
                if name not in value.fields and lookup(interp, value.cls, name)[0] is MISSING:
                    interp.put(value, name, Choice((MISSING, interp.unknown(name))))
    return True


def _reachable(interp: Interpreter, values: Iterable[Object]) -> Iterator[Object]:
    seen: set[int] = set()
    todo = list(values)
    while todo:
        value = interp.settle(todo.pop())
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Instance() | DictObject():
                todo += [*value.fields.values(), *value.writes.get(UNKNOWN_KEYS, ()), getattr(value, "view_of", None)]
            case Unknown():
                todo += [part for key, part in value.fields.items() if key not in IDENTITY and key is not EITHER]
                todo += value.fields.get(EITHER, ())
            case ListObject():
                todo += value.items or ()
            case Choice(options=options):
                todo += options
                continue
            case tuple():
                todo += value
                continue
            case Bound(owner=owner):
                todo += [owner, value.function]
                continue
            case Partial(function=function, arguments=arguments, keywords=keywords):
                todo += [function, *arguments, *keywords.values()]
                continue
        yield value


def only_upstream(interp: Interpreter, values: Iterable[Object]) -> bool:
    """Tell whether all code that these values bring along is upstream's."""
    return all(_is_known(interp, value) for value in _reachable(interp, values))


def _is_known(interp: Interpreter, value: Object) -> bool:
    """Tell whether the code that an object brings along is upstream's, which the bounds cover."""
    if isinstance(value, Function):
        return value.module.upstream is not None
    for cls in classes_of(value) if isinstance(value, Instance) else ():
        if isinstance(cls, ClassObject):
            own = (base for base in mro(interp, cls) if isinstance(base, ClassObject) and base.data is None)
            if not has_fields(interp, cls) or any(
                isinstance(value, (Function, Descriptor)) for base in own for value in namespace(interp, base).values()
            ):
                return False
    return True


def _forget(interp: Interpreter, value: Instance | Unknown | DictObject, name: object) -> None:
    before = interp.before(value, name)
    interp.put(value, name, interp.unknown(str(name)))
    if interp.suspect is not None:
        interp.record(value, name, interp.suspect._replace(earlier=before, value=value.fields[name]))


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call by parameter, and those of them that are not the parameter's default."""

    values: Mapping[str, Object] = field(default_factory=dict)
    given: Set[str] = frozenset()


class Upstream(Protocol):
    """A release of upstream, as its values need it; SnapshotKnowledge is one."""

    @property
    def target(self) -> Target:
        """The releases that the answers are about."""

    def module(self, interp: Interpreter, name: str) -> Module | None:
        """Return a module or package; None where nothing is known of it."""

    def reference(self, interp: Interpreter, module: str, name: str) -> Object:
        """Return a class or function by the module that defines it."""

    def provider(self, interp: Interpreter, method: str, architecture: str | None) -> Object:
        """Return the model provider that a method of AutoBridge makes for an architecture (None: for any)."""

    def origin(self, number: int) -> Origin:
        """Return the origin of an upstream write."""

    def replaced_below(self, interp: Interpreter, module_name: str) -> Place | None:
        """Return where the program replaces an object that a module's functions may use; None if it does not."""


class Builder:
    """Builds values of one module's nodes; `frame` is the call that writes them.

    `site` is the call that took these values as defaults: a syntax node of the user's, or an Origin upstream.
    """

    def __init__(
        self,
        knowledge: Upstream,
        interp: Interpreter,
        module: Module,
        frame: Frame | None = None,
        arguments: Arguments | None = None,
        site: Any = None,
    ) -> None:
        self.knowledge = knowledge
        self.interp = interp
        self.module = module
        self.frame = frame or Frame(module)
        self.arguments = arguments or Arguments()
        self.site = site
        self.repeated: dict[int, Object] = {}

    def build(self, node: Node) -> Object:
        """Build the value of a node; MISSING if the node says "what it is anyway"."""
        if not isinstance(node, list):
            constant: Object = node
            return constant
        match node[0]:
            case "obj":
                return self._object(*node[1:])
            case "list":
                return ListObject([self.build(item) for item in node[1:]], self.interp.tick())
            case "ref":
                return self.knowledge.reference(self.interp, node[1], node[2])
            case "ext":
                return External(node[1])
            case "module":
                return self.knowledge.module(self.interp, node[1]) or External(node[1])
            case "enum":
                return self._enum(*node[1:])
            case "arg":
                return self._argument(*node[1:])
            case "pass":
                return self._argument(node[1]) if node[1] in self.arguments.given else self.build(node[2])
            case "dep":
                return self._depending(*node[1:])
            case "default" | "missing":
                return MISSING
            case "?":
                unknown = self.interp.unknown(node[2], node[1])
                self._fill(unknown, node[3])
                return unknown
            case "or":
                return Choice(tuple(self.build(option) for option in node[1:]))
            case "def":
                self.repeated[node[1]] = made = self.build(node[2])
                return made
            case "same":
                found = self.repeated.get(node[1], MISSING)
                return self.interp.unknown("", not_none=True) if found is MISSING else found
            case "dict":
                return self._dict(*node[1:])
            case "tuple":
                return tuple(self.build(item) for item in node[1:])
            case "set":
                return SetObject([self.build(item) for item in node[1:]], self.interp.tick())
            case "partial":
                _, function, arguments, keywords = node
                given = {name: self.build(item) for name, item in keywords.items()}
                return Partial(self.build(function), [self.build(item) for item in arguments], given)
        raise ValueError(f"no node: {node[0]}")

    def _dict(self, *entries: Any) -> Object:
        made = DictObject({}, self.interp.tick())
        for key, item, *number in entries:
            known = self.build(key)
            made.fields[known] = self.build(item)
            if number:
                made.writes[known] = self._write(number[0], made.fields[known])
        return made

    def _enum(self, cls: Node, name: str) -> Object:
        owner = self.build(cls)
        if isinstance(owner, ClassObject) and is_enum(self.interp, owner):
            found = enum_members(self.interp, owner).get(name)
            if found is not None:
                return found
        return External(f"{getattr(owner, 'name', '?')}.{name}")

    def _argument(self, name: str, *attributes: str) -> Object:
        value = self.arguments.values.get(name, MISSING)
        try:
            for attribute in attributes:
                value = get_attribute(self.interp, value, attribute, None, self.frame)
        except Raised:
            value = MISSING
        return self.interp.unknown(name) if value is MISSING else value

    def _depending(self, alone: list[str] | str, node: Node, together: list[str] | str | None = None) -> Object:
        given = self.arguments.given
        decisive = alone if together is None or len(given) == 1 else together
        hit = bool(given) if decisive == "*" else not given.isdisjoint(decisive)
        return self.interp.unknown() if hit else self.build(node)

    def _object(self, base: Node, made: int | None, fields: Mapping[str, Any], hazy: bool = False) -> Object:
        self.interp.found_configuration()
        if base[0] == "hf":
            template = self.knowledge.provider(self.interp, base[1], base[2] or None)
            instance = deep_copy(self.interp, template)
            assert isinstance(instance, Instance)
            instance.made = self._write(made, None)
        else:
            known = self.build(base)
            cls = known if isinstance(known, (ClassObject, Choice, External)) else External(qualified(known))
            instance = Instance(cls, self.interp.tick(), self._write(made, None))
            for spec in fields_of(self.interp, cls) if isinstance(cls, ClassObject) else ():
                instance.fields[spec.name] = self._field_default(spec, instance.made)
        self._fill(instance, fields)
        if hazy:
            instance.writes[MAY_HAVE_CHANGED] = True
        return instance

    def _field_default(self, spec: FieldSpec, made: Write | None) -> Object:
        if spec.default is not MISSING:
            return spec.default
        if not isinstance(spec.factory, Native):
            return self.interp.unknown(spec.name)
        return spec.factory.call(self.interp, Call([], {}, None if made is None else made.node, self.frame))

    def _fill(self, owner: Instance | Unknown, fields: Mapping[str, Any]) -> None:
        for name, (how, *place, node) in fields.items():
            value = self.build(node)
            if value is MISSING:
                if node != ["missing"]:
                    continue
                owner.fields.pop(name, None)
                continue
            owner.fields[name] = value
            if how == "w":
                owner.writes[name] = self._write(place[0], value)
            else:
                owner.writes.pop(name, None)

    def origin(self, number: int | None) -> Any:
        """Find the place of a write of the module."""
        return None if number is None else self.knowledge.origin(number)

    def _write(self, number: int | None, value: Object) -> Write | None:
        if number is None:
            return self.interp.note(self.site, self.frame, None, "default", value, None)
        origin = self.origin(number)
        return self.interp.note(origin, self.frame, None, origin.how, value, None)


# -- calls ----------------------------------------------------------------------------------------------------


def apply(knowledge: Upstream, interp: Interpreter, function: Function, described: Any, call: Call) -> Object:
    """Call a function by its summary. Raises Raised if the arguments do not fit its parameters."""
    inner = Frame(function.module, function.name, None, call.frame, call.node, interp.tick())
    bind(interp, function, call, inner)
    found = _arguments(described, function, inner) if "outcome" in described else None
    builder = Builder(knowledge, interp, function.module, inner, found or Arguments(inner.fields))
    if found is None or not found.given.isdisjoint(described.get("broken", ())):
        names, contents, result = described.get("bound", (None, None, None))
        # Not where the arguments may bring code of their own.
        if names is not None and forget_names(interp, call.values, names, contents):
            interp.doubts += 1
            if (built := builder.build(result)) is not MISSING:
                return built
        return unfollowed(interp, f"{function.module.name}.{function.name}", call)
    return _carry_out(builder, _case(described, found) or described["outcome"], described.get("bound"))


def _case(described: Any, arguments: Arguments) -> Any:
    """Find the outcome that was computed for just these arguments; None if there is none."""
    for name, cases in described.get("cases", {}).items():
        if name in arguments.values and not arguments.given - {name}:
            value = arguments.values[name]
            for known, outcome in cases:
                if type(known) is type(value) and known == value:
                    return outcome
    return None


def _arguments(described: Any, function: Function, frame: Frame) -> Arguments | None:
    """Read the arguments of a call; None if the summary does not cover all of them."""
    values: dict[str, Object] = {}
    given = set()
    for name, kind, node in described["parameters"]:
        value = frame.fields[name]
        if kind == "*":
            if value:
                return None
        elif kind == "**":
            if value.writes.get(MAY_HAVE_CHANGED) or not value.fields.keys() <= set(described.get("keys", ())):
                return None
            values.update(value.fields)
            given.update(value.fields)
        else:
            values[name] = value
            if node != ["required"] and not identical(value, function.defaults[name]):
                given.add(name)
    return Arguments(values, given)


def _carry_out(builder: Builder, outcome: Any, bound: Any) -> Object:
    builder.repeated = {}
    interp, passed = builder.interp, builder.arguments.values
    # What a node says of an argument is what it held before the call.
    result = builder.build(outcome["result"])
    writes = [
        (builder.build(["arg", *path[:-1]]), path[-1], number, builder.build(node))
        for path, number, node in outcome.get("writes", ())
        if path[0] in passed
    ]
    variables = [(name, number, builder.build(node)) for name, number, node in outcome.get("environment", ())]
    for path in outcome.get("forgets", ()):
        if path[0] in passed:
            forget_within(interp, builder.build(["arg", *path]), bound)
    if bound is not None and bound[1] and not forget_names(interp, list(passed.values()), (), contents=True):
        for value in passed.values():
            forget_reachable(interp, value)
    for target, name, number, value in writes:
        # What is written to a part that is None here, or refuses it, is written on other ways through the function.
        if value is not MISSING and not isinstance(target, CONSTANTS):
            with suppress(Raised):
                set_attribute(interp, target, name, value, builder.origin(number), builder.frame, None, "upstream")
    for name, number, value in variables:
        if value is not MISSING:
            write(interp, interp.path.environment, name, value, builder.origin(number), builder.frame, None, "upstream")
    return result
