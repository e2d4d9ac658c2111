"""Fields of classes that attrs and pydantic make, beside those of dataclasses.

Upstream behaviour: attrs 26.1 (`define`, `frozen`, `attr.s`; converters see defaults, too) and pydantic 2.14 (a model
converts and checks what it is given, by the annotation; defaults are taken as they are, a copy each).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.variables import is_set, variable
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    TRUTH_WORDS,
    ClassObject,
    Descriptor,
    DictObject,
    EnumMember,
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
    PathObject,
    Write,
    identical,
    is_constant,
    uncertain,
)

ATTRS = frozenset(f"{package}.{name}" for package in ("attr", "attrs") for name in ("define", "frozen", "mutable")) | {
    "attr.s",
    "attr.attrs",
    "attr.attributes",
    "attr.dataclass",
}
"""Decorators of attrs that give a class fields."""

MODEL = "pydantic.BaseModel"
SETTINGS = "pydantic_settings.BaseSettings"
"""The class of `pydantic_settings` (library/written/records.py)."""

_ONLY_MARKED = ("attr.s", "attr.attrs", "attr.attributes")
"""Decorators of attrs that take an annotation alone for no field, without `auto_attribs=True`."""

OUT_OF_SIGHT = Native("a default out of sight", lambda interp, call: interp.unknown())


def field_of(value: Object) -> dict[str, Object] | None:
    """Return the keywords of `field(…)`, of whichever library, as the body of a class has it; None for other values."""
    marker = value.function if isinstance(value, Partial) else None
    known = isinstance(marker, External) and marker.name == "dataclasses.field"
    return value.keywords if known and isinstance(value, Partial) else None


def attrs_fields(cls: ClassObject, own: dict[Any, Object], decorator: ast.expr, kind: str) -> Iterator[FieldSpec]:
    """Yield the fields that attrs makes of the body of a class."""
    options = {each.arg: each.value for each in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    marked_only = kind in _ONLY_MARKED and not _is_true(options.get("auto_attribs"))
    keyword_only = _is_true(options.get("kw_only"))
    assert cls.node is not None
    attached = [(name, method) for name, role, method in _attached(cls.node) if role == "default"]
    computed = {name: cls.module.defined.get(method, OUT_OF_SIGHT) for name, method in attached}
    for node in cls.node.body:
        name = _assigned(node)
        if name is None or "ClassVar" in ast.dump(getattr(node, "annotation", ast.Pass())):
            continue
        value = own.get(name, MISSING)
        said = field_of(value)
        if said is None and (marked_only or isinstance(node, ast.Assign)):
            continue
        yield _attrs_field(name, value if said is None else MISSING, said or {}, keyword_only, computed.get(name))


def _attrs_field(name: str, value: Object, said: dict[str, Object], keyword_only: bool, computed: Object) -> FieldSpec:
    """Return the field that `name = value` makes, or `name = field(…)` as it is `said`; its default may be `computed`
    by a method.
    """
    default, factory = said.get("default", value), said.get("factory", said.get("default_factory", MISSING))
    takes_self: Object = computed is not None
    if isinstance(default, Partial) and getattr(default.function, "name", "") == "attrs.Factory":
        options = dict(zip(("factory", "takes_self"), default.arguments, strict=False)) | default.keywords
        default, factory, takes_self = MISSING, options.get("factory", OUT_OF_SIGHT), options.get("takes_self")
    alias = said.get("alias")
    return FieldSpec(
        name,
        default,
        factory if computed is None else computed,
        said.get("init", True) is not False,
        said.get("kw_only", keyword_only) is True,
        said.get("converter", MISSING),
        True,
        alias if isinstance(alias, str) else name.lstrip("_"),
        takes_self=takes_self is True,
    )


def _assigned(node: ast.stmt) -> str | None:
    """Return the name that a statement of a class body assigns; None for other statements."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _attached(node: ast.ClassDef) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Yield the functions that are attached to fields: `@size.default` gives ("size", "default", function)."""
    for each in node.body:
        for decorator in each.decorator_list if isinstance(each, ast.FunctionDef) else ():
            if isinstance(decorator, ast.Attribute) and isinstance(decorator.value, ast.Name):
                yield decorator.value.id, decorator.attr, each  # type: ignore[misc]


def model_fields(interp: Interpreter, cls: ClassObject, own: dict[Any, Object]) -> Iterator[FieldSpec]:
    """Yield the fields that pydantic makes of the annotations in a model's body."""
    assert cls.node is not None
    checks, prefix = _validators(interp, cls, own), _variable_prefix(cls, own)
    options = _options(cls)
    for node in cls.node.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        name = node.target.id
        if name.startswith("_") or name == "model_config" or "ClassVar" in ast.dump(node.annotation):
            continue
        value = own.get(name, MISSING)
        conversion = Conversion(cls, node.annotation, [each for each in checks if {name, "*"} & {*each.names}], options)
        said = conversion.field(interp)
        if value is not MISSING:
            said |= {"default": value} if (assigned := field_of(value)) is None else assigned
        default, factory = said.get("default", MISSING), said.get("default_factory", MISSING)
        takes_self = isinstance(factory, Function) and _takes_one(factory.node.args)
        factory = _given_data(factory, name) if takes_self else factory
        default = MISSING if default is ... else default
        if default is not MISSING and not isinstance(default, (*CONSTANTS, EnumMember)):
            default, factory = MISSING, _copying(default)
        alias = said.get("validation_alias", said.get("alias"))
        convert = conversion.native(name)
        if prefix is not None:
            default, factory = MISSING, _from_variable(f"{prefix}{name}".upper(), default, factory, convert)
        yield FieldSpec(
            name,
            default,
            factory,
            keyword_only=True,
            convert=convert,
            converts_default=_is_true(options.get("validate_default")),
            given_as=alias if isinstance(alias, str) else name,
            takes_self=takes_self,
        )


def _options(cls: ClassObject) -> dict[str | None, ast.expr]:
    """Return the options of a model, its bases' first: those of `model_config`, of its keywords, and of `Config`."""
    found: dict[str | None, ast.expr] = {}
    for base in reversed(cls.order or ()):
        if not isinstance(base, ClassObject) or base.node is None:
            continue
        found.update((each.arg, each.value) for each in base.node.keywords)
        for node in base.node.body:
            if isinstance(node, ast.ClassDef) and node.name == "Config":
                found.update((_assigned(each), each.value) for each in node.body if isinstance(each, ast.Assign))
            elif _assigned(node) == "model_config" and isinstance(made := getattr(node, "value", None), ast.Call):
                found.update((each.arg, each.value) for each in made.keywords)
            elif _assigned(node) == "model_config" and isinstance(made, ast.Dict):
                keys = [getattr(key, "value", None) for key in made.keys]
                found.update(zip(keys, made.values, strict=True))
    return found


def _takes_one(parameters: ast.arguments) -> bool:
    """Tell whether a factory is called with the data that the model has: it has one parameter without a default."""
    return len(parameters.args) == 1 and not parameters.defaults


def _given_data(factory: Object, name: str) -> Native:
    def make(interp: Interpreter, call: Call) -> Object:
        (owner,) = call.arguments
        assert isinstance(owner, Instance)
        return invoke(interp, factory, call.passing([DictObject(dict(owner.fields), interp.tick())]))

    return Native(f"the default of {name}", make)


def _variable_prefix(cls: ClassObject, own: dict[Any, Object]) -> str | None:
    """Return how the variables of the environment begin that the fields of a `BaseSettings` are read from; None of any
    other model.
    """
    if not any(isinstance(base, ClassObject) and base.qualified_name == SETTINGS for base in cls.order or ()):
        return None
    options = own.get("model_config")
    prefix = options.fields.get("env_prefix", "") if isinstance(options, DictObject) else ""
    return prefix if isinstance(prefix, str) else None


def _from_variable(name: str, default: Object, factory: Object, convert: Object) -> Native:
    """Return the factory of a field that a variable of the environment gives, where it is set."""

    def make(interp: Interpreter, call: Call) -> Object:
        otherwise = default if factory is MISSING else invoke(interp, factory, call)
        if is_set(interp, name, call.frame) is True:
            return invoke(interp, convert, call.passing([variable(interp, name, call.frame)]))
        return otherwise if otherwise is MISSING else variable(interp, name, call.frame, otherwise)

    return Native(f"${name}", make)


def _copying(value: Object) -> Object:
    return Native("a copy of a default", lambda interp, call: deep_copy(interp, value))


class _Validator:
    """A function that a model has values go through: of which fields, and before or after they are converted."""

    def __init__(self, function: Object, names: Sequence[str], mode: str) -> None:
        self.function = function
        self.names = names
        self.mode = mode


def _validators(interp: Interpreter, cls: ClassObject, own: dict[Any, Object]) -> list[_Validator]:
    found = []
    for function, decorator, name in _decorated(interp, cls):
        if name not in ("pydantic.field_validator", "pydantic.validator") or not isinstance(decorator, ast.Call):
            continue
        names = [str(each.value) for each in decorator.args if isinstance(each, ast.Constant)]
        options = {each.arg: each.value for each in decorator.keywords}
        mode = options.get("mode")
        before = _is_true(options.get("pre"))
        said = str(mode.value) if isinstance(mode, ast.Constant) else "before" if before else "after"
        found.append(_Validator(own.get(function, MISSING), names, said))
    return found


def _decorated(interp: Interpreter, cls: ClassObject) -> Iterator[tuple[str, ast.expr, str]]:
    """Yield the functions in the body of a class with each decorator, and the dotted name of what that names."""
    for each in cls.node.body if cls.node is not None else ():
        for decorator in each.decorator_list if isinstance(each, ast.FunctionDef) else ():
            named = _named(interp, cls, decorator.func if isinstance(decorator, ast.Call) else decorator)
            yield getattr(each, "name", ""), decorator, named


def _named(interp: Interpreter, cls: ClassObject, node: ast.expr) -> str:
    """Return the dotted name of a library's function that the body of a class names; "" for anything else."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return ""
    try:
        return str(getattr(evaluate(interp, node, cls.closure or Frame(cls.module)), "name", ""))
    except Raised:
        return ""


def after_init(interp: Interpreter, cls: ClassObject, own: dict[Any, Object]) -> list[Object]:
    """List the functions of a model's body that run when an object of it is made: `@model_validator(mode="after")`.

    One that runs before the fields are there may give them any value; it stands for all as an unknown.
    """
    found: list[Object] = []
    for function, decorator, name in _decorated(interp, cls):
        if name in ("pydantic.model_validator", "pydantic.root_validator"):
            modes = [each.value for each in getattr(decorator, "keywords", ()) if each.arg == "mode"]
            after = len(modes) == 1 and getattr(modes[0], "value", "") == "after"
            found.append(own.get(function, MISSING) if after else OUT_OF_SIGHT)
    return found


class Conversion:
    """The way of a value into a field of a model: its validators, and the conversion by the annotation."""

    def __init__(
        self,
        cls: ClassObject,
        annotation: ast.expr,
        checks: Sequence[_Validator],
        options: Mapping[str | None, ast.expr] = MappingProxyType({}),
    ) -> None:
        self.cls = cls
        self.annotation = annotation
        self.checks = checks
        self.options = options

    def field(self, interp: Interpreter) -> dict[str, Object]:
        """Return the keywords of each `Field(…)` that the annotation has: `Annotated[int, Field(default=1)]`."""
        said: dict[str, Object] = {}
        for each in _metadata(self.annotation):
            if isinstance(each, ast.Call) and self.named(interp, each.func) == "pydantic.Field":
                said |= field_of(self.evaluated(interp, each)) or {}
        return said

    def evaluated(self, interp: Interpreter, node: ast.expr) -> Object:
        try:
            return evaluate(interp, node, self.cls.closure or Frame(self.cls.module))
        except Raised:
            return interp.unknown()

    def named(self, interp: Interpreter, node: ast.expr) -> str:
        return str(getattr(self.evaluated(interp, node), "name", ""))

    def native(self, name: str) -> Native:
        def convert(interp: Interpreter, call: Call) -> Object:
            value = call.arguments[0]
            if any(check.mode not in ("before", "after") for check in self.checks):
                return interp.unknown(name)
            for check in reversed(self.checks):
                value = self.checked(interp, check, value, call) if check.mode == "before" else value
            value = self.converted(interp, self.annotation, value, call)
            for check in self.checks:
                value = self.checked(interp, check, value, call) if check.mode == "after" else value
            return value

        return Native(f"the field {name}", convert)

    def checked(self, interp: Interpreter, check: _Validator, value: Object, call: Call) -> Object:
        function = check.function
        given: list[Object] = [value]
        if isinstance(function, Descriptor):
            given = [self.cls, value] if function.kind == "classmethod" else given
            function = function.function
        elif isinstance(function, Function):
            given = [self.cls, value]  # (as a class method, without being decorated as one)
        if not isinstance(function, Function):
            return interp.unknown()
        wanted = len(function.node.args.args)
        given += [interp.unknown("info", not_none=True)] * (wanted - len(given))
        return invoke(interp, function, call.passing(given))

    def converted(self, interp: Interpreter, annotation: ast.expr, value: Object, call: Call) -> Object:
        """Convert a value by an annotation; unknown where that is not known to keep it, or to give another one."""
        value = value if isinstance(annotation, ast.Name) and annotation.id == "Any" else interp.settle(value)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return interp.unknown()
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self.one_of(interp, [annotation.left, annotation.right], value, call)
        if isinstance(annotation, ast.Subscript):
            name = getattr(annotation.value, "id", getattr(annotation.value, "attr", ""))
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            return self.generic(interp, name, inner, value, call)
        if isinstance(annotation, ast.Constant):
            return value if value is None else interp.unknown()
        name = getattr(annotation, "id", getattr(annotation, "attr", ""))
        if name in LAX:
            return self.changed_text(interp, LAX[name](interp, value))
        if name in ("Any", "object"):
            return value
        if name in ("list", "List", "dict", "Dict", "tuple", "set"):
            return self.generic(interp, name, [], value, call)
        known = self.evaluated(interp, annotation)
        if not isinstance(known, ClassObject) and (meant := _alias(self.cls.module, name)) is not None:
            return self.converted(interp, meant, value, call)
        made = self.of_class(interp, known, value, call)
        return made.value if isinstance(made, EnumMember) and self.is_on("use_enum_values") else made

    def is_on(self, option: str) -> bool:
        """Tell whether the model has this option; one whose value is not written there is taken to be on."""
        said = self.options.get(option)
        return said is not None and not (isinstance(said, ast.Constant) and not said.value)

    def changed_text(self, interp: Interpreter, value: Object) -> Object:
        """Return a text as the options of the model have it changed."""
        for option, change in _TEXTS.items():
            if isinstance(value, str) and self.is_on(option):
                value = change(value) if _is_true(self.options[option]) else interp.unknown()
        return value

    def of_class(self, interp: Interpreter, cls: Object, value: Object, call: Call) -> Object:
        if isinstance(value, (Instance, EnumMember)):
            return value
        if isinstance(cls, External) and isinstance(value, (str, PathObject)) and cls.name in _PATHS:
            return invoke(interp, External("pathlib.Path"), Call([value], {}, call.node, call.frame))
        if isinstance(cls, External) and cls.name in _BOUNDED:
            return _BOUNDED[cls.name](interp, value)
        if isinstance(cls, ClassObject) and isinstance(value, DictObject):
            said = call.focus.get("value")
            said = said.place_in(call.frame.module) if isinstance(said, Write) else said
            literal = getattr(said, "value", said)
            entries = zip(literal.keys, literal.values, strict=True) if isinstance(literal, ast.Dict) else ()
            focus = {str(key.value): item for key, item in entries if isinstance(key, ast.Constant)}
            made = invoke(interp, cls, Call([], dict(value.fields), call.node, call.frame, focus))
            if isinstance(made, Instance):
                made.writes |= {name: write for name, write in value.writes.items() if name in made.fields}
            return made
        if isinstance(cls, ClassObject) and isinstance(value, CONSTANTS) and value is not None:
            return invoke(interp, cls, Call([value], {}, call.node, call.frame))
        return interp.unknown()

    def one_of(self, interp: Interpreter, annotations: list[ast.expr], value: Object, call: Call) -> Object:
        names = [getattr(each, "value", MISSING) if isinstance(each, ast.Constant) else each for each in annotations]
        if value is None and None in names:
            return None
        others = [each for each in annotations if not (isinstance(each, ast.Constant) and each.value is None)]
        if len(others) == 1:
            return self.converted(interp, others[0], value, call)
        exact = {getattr(each, "id", "") for each in others}
        return value if type(value).__name__ in exact else interp.unknown()

    def generic(self, interp: Interpreter, name: str, inner: list[ast.expr], value: Object, call: Call) -> Object:
        if name == "Optional":
            return None if value is None else self.converted(interp, inner[0], value, call)
        if name == "Annotated":
            return self.annotated(interp, inner, value, call)
        if name == "Union":
            return self.one_of(interp, inner, value, call)
        if name == "Literal":
            return value if isinstance(value, CONSTANTS) else interp.unknown()
        return self.collection(interp, name.lower(), inner, value, call)

    def annotated(self, interp: Interpreter, inner: list[ast.expr], value: Object, call: Call) -> Object:
        """Convert a value by `Annotated[…]`: it goes through functions there; bounds only refuse it."""
        checks: list[_Validator] = []
        for each in inner[1:]:
            made = self.evaluated(interp, each)
            name = self.named(interp, each.func) if isinstance(each, ast.Call) else ""
            mode = {"BeforeValidator": "before", "AfterValidator": "after"}.get(name.rpartition(".")[2])
            if mode is not None and isinstance(each, ast.Call) and len(each.args) == 1:
                checks.append(_Validator(self.evaluated(interp, each.args[0]), (), mode))
            elif isinstance(made, Instance) or (name.startswith("pydantic") and field_of(made) is None):
                return interp.unknown()
        for check in reversed(checks):
            value = invoke(interp, check.function, call.passing([value])) if check.mode == "before" else value
        value = self.converted(interp, inner[0], value, call)
        for check in checks:
            value = invoke(interp, check.function, call.passing([value])) if check.mode == "after" else value
        return value

    def collection(self, interp: Interpreter, name: str, inner: list[ast.expr], value: Object, call: Call) -> Object:
        """Convert a list, tuple or dictionary, element by element; the object itself where it holds the same then."""
        if name == "dict" and type(value) is DictObject and not value.writes.get(MAY_HAVE_CHANGED):
            kinds = inner if len(inner) == 2 else [_ANY, _ANY]
            keys = [self.converted(interp, kinds[0], key, call) for key in value.fields]
            parts = [self.converted(interp, kinds[1], item, call) for item in value.fields.values()]
            if keys == list(value.fields) and all(map(identical, parts, value.fields.values())):
                return value
            made = DictObject(dict(zip(keys, parts, strict=True)), interp.tick())
            made.writes = {key: write for key, write in value.writes.items() if key in made.fields}
            return made if all(map(is_constant, keys)) else interp.unknown()
        items = value.items if type(value) is ListObject else value
        if name not in ("list", "tuple") or not isinstance(items, (list, tuple)) or any(map(uncertain, items)):
            return interp.unknown()
        is_long = name == "list" or (len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...)
        kinds = inner if inner and not is_long else [inner[0] if inner else _ANY] * len(items)
        if len(kinds) != len(items):
            return interp.unknown()
        parts = [self.converted(interp, kind, item, call) for kind, item in zip(kinds, items, strict=True)]
        if name == "tuple":
            return tuple(parts)
        same = type(value) is ListObject and all(map(identical, parts, items))
        return value if same else ListObject(parts, interp.tick())


_ANY = ast.Name("Any", ast.Load())


def _metadata(annotation: ast.expr) -> Sequence[ast.expr]:
    """Return what stands behind the type in `Annotated[…]`."""
    match annotation:
        case ast.Subscript(
            value=ast.Name(id="Annotated") | ast.Attribute(attr="Annotated"), slice=ast.Tuple(elts=[_, *others])
        ):
            return others
    return ()


def _alias(module: Module, name: str) -> ast.expr | None:
    """Return the type that a name of the module is short for (`Level = Literal[…]`), if it says so once."""
    found = [getattr(each, "value", None) for each in module.tree.body if _assigned(each) == name]
    return found[0] if len(found) == 1 and isinstance(found[0], (ast.Subscript, ast.BinOp)) else None


def _number(kind: type) -> Callable[[Interpreter, Object], Object]:
    def convert(interp: Interpreter, value: Object) -> Object:
        if isinstance(value, (bool, int, float)) and (kind is float or not isinstance(value, float)):
            return value
        if isinstance(value, str):
            try:
                found: Object = kind(value.strip())
                return found
            except ValueError:
                return interp.unknown()
        return interp.unknown()

    return convert


def _boolean(interp: Interpreter, value: Object) -> Object:
    """Convert as pydantic does in its lax mode: to its words for true and false, in any case."""
    if isinstance(value, bool):
        return value
    said = str(value).lower() if isinstance(value, (str, int)) else ""
    return TRUTH_WORDS[said] if said in TRUTH_WORDS else interp.unknown()


def _string(interp: Interpreter, value: Object) -> Object:
    return value if isinstance(value, str) else interp.unknown()


LAX: dict[str, Callable[[Interpreter, Object], Object]] = {
    "int": _number(int),
    "float": _number(float),
    "bool": _boolean,
    "str": _string,
}
"""The conversion to each of Python's own types."""

_TEXTS: Mapping[str, Callable[[str], str]] = {
    "str_strip_whitespace": str.strip,
    "str_to_lower": str.lower,
    "str_to_upper": str.upper,
}
"""Options of a model that change texts, in their order."""

_PATHS = ("pathlib.Path", "pathlib.PurePath", "pydantic.FilePath", "pydantic.DirectoryPath", "pydantic.NewPath")

_BOUNDED = {
    f"pydantic.{bound}{kind.capitalize()}": LAX[kind]
    for kind in ("int", "float")
    for bound in ("Positive", "NonNegative", "Negative", "NonPositive")
}
"""Types whose values are those of a number type, within bounds."""
