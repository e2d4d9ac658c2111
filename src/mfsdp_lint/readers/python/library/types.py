"""Types: questions about them, dataclasses, and classes that a call makes (`namedtuple`, `Enum`, `type`)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.attribute_writes import write
from mfsdp_lint.readers.python.eval.class_views import hint, order, own_annotations
from mfsdp_lint.readers.python.eval.classes import (
    GENERATED_INIT,
    NAMED_TUPLE,
    fields_of,
    has_fields,
    is_instance,
    is_subclass,
    opaque,
    special,
)
from mfsdp_lint.readers.python.eval.construction import initialize
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.records import LAX, Conversion
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.library.program_words import annotations_of
from mfsdp_lint.readers.python.state.calling import BUILTINS, Model, invoke, models
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_methods, forget_reachable, part_of, shallow_copy
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import FACTORY, MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    ClassObject,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Partial,
    SetObject,
    Unknown,
    all_are,
    is_constant,
)


def _made(name: str, bases: list[Object], fields: list[str], values: dict[str, Object], frame: Frame) -> ClassObject:
    body: list[ast.stmt] = [
        ast.AnnAssign(ast.Name(field, ast.Store()), ast.Name("object", ast.Load()), None, 1) for field in fields
    ]
    node = ast.ClassDef(name, [], [], body, [])  # type: ignore[call-arg, unused-ignore]
    cls = ClassObject(name, frame.module, node, None)
    cls.bases_of, cls.fields, cls.ran = bases, dict(values), True
    return cls


def _names(interp: Interpreter, value: Object, frame: Frame) -> list[Object] | None:
    value = interp.settle(value)
    return list(value.replace(",", " ").split()) if isinstance(value, str) else iterate(interp, value, frame)


def _unknown_class(interp: Interpreter) -> Object:
    return interp.unknown("type", not_none=True)


@models("collections.namedtuple", "typing.NamedTuple")
def _named_tuple(interp: Interpreter, call: Call) -> Object:
    name = interp.settle(call.argument(0))
    given = call.argument(1, "field_names")
    fields = None if given is None else _names(interp, given, call.frame)
    if not isinstance(name, str) or fields is None or call.keywords.keys() - {"field_names", "defaults"}:
        return _unknown_class(interp)
    names = [field[0] if isinstance(field, tuple) and field else field for field in fields]
    said = call.keywords.get("defaults")
    defaults = [] if said is None else iterate(interp, said, call.frame)
    if defaults is None or not all_are(names, str):
        return _unknown_class(interp)
    values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=False))
    return _made(name, [written(interp, "typing.NamedTuple")], list(names), values, call.frame)


@models("typing.get_type_hints", "typing_extensions.get_type_hints")
def _type_hints(interp: Interpreter, call: Call) -> Object:
    owner = interp.settle(call.argument(0))
    if not isinstance(owner, ClassObject) or len(call.values) > 1 or order(interp, owner) is None:
        return interp.unknown("hints", not_none=True)
    said = annotations_of(interp, owner).items()
    return DictObject({name: hint(interp, annotation, frame) for name, (annotation, frame) in said}, interp.tick())


@models("inspect.get_annotations")
def _own_annotations(interp: Interpreter, call: Call) -> Object:
    owner = interp.settle(call.argument(0))
    said = own_annotations(interp, owner) if isinstance(owner, ClassObject) and len(call.values) == 1 else None
    return interp.unknown("annotations", not_none=True) if said is None else said


@models("dataclasses.make_dataclass")
def _make_dataclass(interp: Interpreter, call: Call) -> Object:
    name = interp.settle(call.argument(0))
    entries = iterate(interp, call.arguments[1], call.frame) if len(call.arguments) == 2 else None
    if not isinstance(name, str) or entries is None or call.keywords:
        return _unknown_class(interp)
    rows = [entry if isinstance(entry, tuple) else (entry,) for entry in entries]
    names = [row[0] for row in rows if row]
    if len(names) < len(rows) or not all_are(names, str):
        return _unknown_class(interp)
    values = {name: row[2] for name, row in zip(names, rows, strict=True) if len(row) == 3}
    made = _made(name, [], list(names), values, call.frame)
    made.decorator = (ast.Name("dataclass", ast.Load()), "dataclasses.dataclass")
    return made


def _enumeration(kind: str) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        name = interp.settle(call.argument(0))
        given = interp.settle(call.arguments[1]) if len(call.arguments) > 1 else None
        if not isinstance(name, str) or given is None or call.keywords:
            return _unknown_class(interp)
        members = _members(interp, given, kind, call.frame)
        return _unknown_class(interp) if members is None else _made(name, [External(kind)], [], members, call.frame)

    return model


def _members(interp: Interpreter, given: Object, kind: str, frame: Frame) -> dict[str, Object] | None:
    if isinstance(given, DictObject):
        pairs: list[Object] | None = None if iterate(interp, given, frame) is None else list(given.fields.items())
    else:
        pairs = _names(interp, given, frame)
    if pairs is None:
        return None
    members = {}
    for pair in pairs:
        name, value = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, External("enum.auto()"))
        if not isinstance(name, str) or not (is_constant(value) or isinstance(value, External)):
            return None
        members[name] = value
    return members


for _kind in ("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"):
    models(_kind)(_enumeration(_kind))


def class_of(interp: Interpreter, arguments: list[Object], frame: Frame) -> Object:
    """Make a class as `type(name, bases, namespace)` does."""
    name, bases, namespace = (interp.settle(argument) for argument in arguments)
    if not isinstance(name, str) or not isinstance(bases, tuple) or not isinstance(namespace, DictObject):
        return _unknown_class(interp)
    if iterate(interp, namespace, frame) is None or MISSING in bases:
        return _unknown_class(interp)
    return _made(name, list(bases), [], namespace.fields, frame)


@models("builtins.isinstance")
def _isinstance(interp: Interpreter, call: Call) -> Object:
    known = is_instance(interp, call.arguments[0], call.arguments[1])
    if known is None and isinstance(call.arguments[0], Unknown):
        asked = ast.unparse(call.node) if isinstance(call.node, ast.AST) else ""
        return part_of(interp, call.arguments[0], ("isinstance", asked), "isinstance")
    return interp.unknown("", not_none=True) if known is None else known


@models("inspect.isclass")
def _isclass(interp: Interpreter, call: Call) -> Object:
    return _isinstance(interp, call.passing([call.argument(0, "object"), BUILTINS["type"]]))


@models("builtins.issubclass")
def _issubclass(interp: Interpreter, call: Call) -> Object:
    others = call.arguments[1] if isinstance(call.arguments[1], tuple) else (call.arguments[1],)
    found = [is_subclass(interp, call.arguments[0], other) for other in others]
    if True in found:
        return True
    return interp.unknown("", not_none=True) if None in found else False


@models("builtins.callable")
def _callable(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    if isinstance(value, (Function, Bound, Native, Partial, ClassObject)):
        return True
    if isinstance(value, EnumMember):
        return special(interp, value, "__call__") is not None
    if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject)):
        return False
    return interp.unknown("", not_none=True)


@models("builtins.type")
def _type(interp: Interpreter, call: Call) -> Object:
    if len(call.arguments) == 3:
        return class_of(interp, call.arguments, call.frame)
    value = interp.settle(call.arguments[0])
    if isinstance(value, Choice):
        return join(interp, [_type(interp, call.passing([option])) for option in value.options])
    if len(call.arguments) == 1 and isinstance(value, (Instance, EnumMember, DictObject)) and value.cls is not None:
        return value.cls
    if len(call.arguments) == 1 and isinstance(value, CONSTANTS) and value is not None:
        return BUILTINS.get(type(value).__name__, interp.unknown("type"))
    kinds: tuple[tuple[Any, str], ...] = (
        (tuple, "tuple"), (frozenset, "frozenset"), (SetObject, "set"), (DictObject, "dict"),
    )  # fmt: skip
    name = next((name for kind, name in kinds if isinstance(value, kind)), "list" if type(value) is ListObject else "")
    if len(call.arguments) == 1 and name and not (isinstance(value, DictObject) and FACTORY in value.writes):
        return BUILTINS[name]
    return interp.unknown("type", not_none=True)


@models(GENERATED_INIT)
def _generated_init(interp: Interpreter, call: Call) -> Object:
    """Model `Base.__init__(self, …)` and `super().__init__(…)` where nobody wrote it."""
    base, owner, *arguments = call.arguments
    owner = interp.settle(owner)
    if isinstance(base, ClassObject) and isinstance(owner, Instance) and isinstance(owner.cls, ClassObject):
        initialize(interp, owner, base, call._replace(arguments=arguments))
    else:
        forget_reachable(interp, owner)
    return None


@models(f"{NAMED_TUPLE}.__new__")
def _new_named_tuple(interp: Interpreter, call: Call) -> Object:
    """Model `super().__new__(cls, …)` of a named tuple, which takes its fields."""
    cls, *arguments = call.arguments
    if not isinstance(cls, ClassObject):
        return interp.unknown("a named tuple", not_none=True)
    made = Instance(cls, interp.tick())
    initialize(interp, made, cls, call._replace(arguments=arguments))
    return made


@models("dataclasses.replace", "copy.replace", "attrs.evolve", "attr.evolve", "attr.assoc")
def _replace(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    if isinstance(value, Choice):
        return join(interp, [_replace(interp, call.passing([option], call.keywords)) for option in value.options])
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
        specs = fields_of(interp, value.cls)
        # (attrs takes a field `_depth` as `depth`.)
        named = {spec.given_as: spec.name for spec in specs if spec.given_as}
        keywords = {named.get(name, name): item for name, item in call.keywords.items()}
        if any(name not in {spec.name for spec in specs} and name != "**" for name in keywords):
            raise Raised("TypeError", "replace() got an unexpected field name")
        given = {spec.name: value.fields[spec.name] for spec in specs if spec.init and spec.name in value.fields}
        if "**" in keywords:
            given = {name: join(interp, [part, interp.unknown(name)]) for name, part in given.items()}
        given |= {name: item for name, item in keywords.items() if name != "**"}
        made = invoke(interp, value.cls, Call([], given, call.node, call.frame, _said(call.node)))
        if not isinstance(made, Instance):
            return made
        for name in given.keys() - keywords.keys():
            # What replace() only hands on keeps the origin it had.
            if name in value.writes and name in made.writes:
                made.writes[name] = value.writes[name]
            elif name in made.writes:
                made.writes.pop(name)
        return made
    if isinstance(value, Instance) or type(value) is Unknown:
        return _of_unknown_class(interp, value, call)
    return interp.unknown("replace()", not_none=True)


class _Structure(Conversion):
    """The way of plain data into a class of fields as cattrs 26.1 and dacite 1.9 go it, where nothing is converted."""

    def converted(self, interp: Interpreter, annotation: ast.expr, value: Object, call: Call) -> Object:
        """Take a value by an annotation; unknown where the libraries would make another one of it, or refuse it."""
        name, value = getattr(annotation, "id", ""), interp.settle(value)
        if name in LAX and type(value).__name__ != name:
            return interp.unknown(name)
        return super().converted(interp, annotation, value, call)

    def of_class(self, interp: Interpreter, cls: Object, value: Object, call: Call) -> Object:
        """Make an object of the entries that are its fields; both libraries pass over others."""
        if isinstance(cls, ClassObject) and isinstance(value, DictObject) and has_fields(interp, cls):
            if value.writes.get(MAY_HAVE_CHANGED):
                return interp.unknown(cls.name, not_none=True)
            fields = annotations_of(interp, cls)
            taken = DictObject({}, interp.tick())
            for name in value.fields.keys() & fields.keys():
                annotation = fields[name][0] or ast.Name("Any", ast.Load())
                taken.fields[name] = _Structure(cls, annotation, ()).converted(
                    interp, annotation, value.fields[name], call
                )
            taken.writes = {name: write for name, write in value.writes.items() if name in taken.fields}
            value = taken
        return super().of_class(interp, cls, value, call)


@models("cattrs.structure", "cattr.structure", "dacite.from_dict")
def _structure(interp: Interpreter, call: Call) -> Object:
    """Make an object of plain data, unless the program says how (hooks of cattrs, a configuration of dacite)."""
    hooked = any("structure_hook" in (interp.finder.sources.text_or_none(path) or "") for path in interp.program())
    first, second = map(interp.settle, (*call.arguments[:2], *call.keywords.values())[:2])
    cls, data = (first, second) if isinstance(first, ClassObject) else (second, first)
    if hooked or len(call.values) != 2 or not isinstance(cls, ClassObject) or "config" in call.keywords:
        return interp.unknown("structure()", not_none=True)
    return _Structure(cls, ast.Name(cls.name, ast.Load()), ()).of_class(interp, cls, data, call)


def _said(node: Any) -> dict[str, Any]:
    """Return the keyword arguments of a call, as they are written."""
    return {keyword.arg: keyword for keyword in getattr(node, "keywords", ()) if keyword.arg}


def _of_unknown_class(interp: Interpreter, value: Unknown | Instance, call: Call) -> Object:
    """Model `replace` of an object of unknown class: it may have a `__post_init__`, one of the program's own too."""
    said = _said(call.node)
    made = shallow_copy(interp, value)
    made.not_none = True
    for name, item in call.keywords.items():
        if name != "**":
            write(interp, made, name, item, call.node, call.frame, said.get(name), "argument")
    forget_reachable(interp, made)
    forget_methods(interp, "__post_init__")
    return made


@models("dataclasses.fields")
def _fields(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, ClassObject) or opaque(interp, cls):
        return interp.unknown("fields", not_none=True)
    found = []
    for spec in fields_of(interp, cls):
        described = interp.unknown(spec.name, not_none=True)
        described.fields |= {"name": spec.name, "init": spec.init, "kw_only": spec.keyword_only}
        if spec.default is not MISSING:
            described.fields["default"] = spec.default
        if spec.metadata is not MISSING:
            described.fields["metadata"] = DictObject({}, interp.tick()) if spec.metadata is None else spec.metadata
        found.append(described)
    return tuple(found)


@models("dataclasses.is_dataclass")
def _is_dataclass(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    cls = value.cls if isinstance(value, Instance) else value
    if isinstance(cls, ClassObject):
        return has_fields(interp, cls)
    known = isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject))
    return False if known else interp.unknown("", not_none=True)


Shape = Callable[[Interpreter, dict[str, Object]], Object]


def _copies_fields(name: str, shape: Shape) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        found = None if call.keywords else _field_values(interp, call.arguments[0], shape)
        return interp.unknown(name, not_none=True) if found is None else shape(interp, found)

    return model


models("dataclasses.asdict")(_copies_fields("asdict", lambda interp, values: DictObject(values, interp.tick())))
models("dataclasses.astuple", "attrs.astuple", "attr.astuple")(
    _copies_fields("astuple", lambda interp, values: tuple(values.values()))
)


def _field_values(interp: Interpreter, value: Object, shape: Shape) -> dict[str, Object] | None:
    value = interp.settle(value)
    if not isinstance(value, Instance) or not isinstance(value.cls, ClassObject):
        return None
    names = [spec.name for spec in fields_of(interp, value.cls) if spec.name in value.fields]
    return {name: _plain_copy(interp, value.fields[name], shape) for name in names}


def _plain_copy(interp: Interpreter, value: Object, shape: Shape) -> Object:
    value = interp.settle(value)
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject) and has_fields(interp, value.cls):
        return shape(interp, _field_values(interp, value, shape) or {})
    if type(value) is ListObject and value.items is not None:
        return ListObject([_plain_copy(interp, item, shape) for item in value.items], interp.tick())
    if type(value) is tuple:
        return tuple(_plain_copy(interp, item, shape) for item in value)
    if isinstance(value, DictObject) and not value.writes.get(MAY_HAVE_CHANGED):
        found = {key: _plain_copy(interp, item, shape) for key, item in value.fields.items()}
        return DictObject(found, interp.tick())
    return deep_copy(interp, value)


models("dataclasses.field")(lambda interp, call: Partial(External("dataclasses.field"), [], call.keywords))


@models("pydantic.Field", "attrs.field", "attr.field", "attr.ib", "attr.attrib")
def _attrs_field(interp: Interpreter, call: Call) -> Object:
    first = {"default": call.arguments[0]} if call.arguments else {}
    return Partial(External("dataclasses.field"), [], first | call.keywords)


models("attrs.Factory", "attr.Factory")(
    lambda interp, call: Partial(External("attrs.Factory"), list(call.arguments), call.keywords)
)
