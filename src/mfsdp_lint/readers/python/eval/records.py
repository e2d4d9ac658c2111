"""Fields of classes that attrs and pydantic make, beside those of dataclasses.

Upstream behaviour: attrs 26.1 (`define`, `frozen`, `attr.s`; converters see defaults, too) and pydantic 2.14 (a model
converts and checks what it is given, by the annotation; defaults are taken as they are, a copy each).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.variables import is_set, variable
from mfsdp_lint.readers.python.values.code import Call
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
    Native,
    Object,
    Partial,
    Write,
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
    computed = {name for name, role, _ in _attached(cls.node) if role == "default"}
    for node in cls.node.body:
        name = _assigned(node)
        if name is None or "ClassVar" in ast.dump(getattr(node, "annotation", ast.Pass())):
            continue
        value = own.get(name, MISSING)
        said = field_of(value)
        if said is None and (marked_only or isinstance(node, ast.Assign)):
            continue
        yield _attrs_field(name, value if said is None else MISSING, said or {}, keyword_only, name in computed)


def _attrs_field(name: str, value: Object, said: dict[str, Object], keyword_only: bool, computed: bool) -> FieldSpec:
    default, factory = said.get("default", value), said.get("factory", said.get("default_factory", MISSING))
    if isinstance(default, Partial) and getattr(default.function, "name", "") == "attrs.Factory":
        factory = default.arguments[0] if default.arguments else OUT_OF_SIGHT
        default = MISSING
        factory = OUT_OF_SIGHT if said.get("takes_self") is True else factory
    alias = said.get("alias")
    return FieldSpec(
        name,
        default,
        OUT_OF_SIGHT if computed else factory,
        said.get("init", True) is not False,
        said.get("kw_only", keyword_only) is True,
        said.get("converter", MISSING),
        True,
        alias if isinstance(alias, str) else name.lstrip("_"),
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
    for node in cls.node.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        name = node.target.id
        if name.startswith("_") or name == "model_config" or "ClassVar" in ast.dump(node.annotation):
            continue
        value = own.get(name, MISSING)
        said = field_of(value)
        default = value if said is None else said.get("default", MISSING)
        factory = MISSING if said is None else said.get("default_factory", MISSING)
        default = MISSING if default is ... else default
        if default is not MISSING and not isinstance(default, (*CONSTANTS, EnumMember)):
            default, factory = MISSING, _copying(default)
        alias = None if said is None else said.get("validation_alias", said.get("alias"))
        mine = [check for check in checks if name in check.names or "*" in check.names]
        convert = Conversion(cls, node.annotation, mine).native(name)
        if prefix is not None:
            default, factory = MISSING, _from_variable(f"{prefix}{name}".upper(), default, factory, convert)
        yield FieldSpec(name, default, factory, True, True, convert, False, alias if isinstance(alias, str) else name)


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

    def __init__(self, cls: ClassObject, annotation: ast.expr, checks: Sequence[_Validator]) -> None:
        self.cls = cls
        self.annotation = annotation
        self.checks = checks

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
            return LAX[name](interp, value)
        if name in ("Any", "object"):
            return value
        if name in ("list", "List", "dict", "Dict", "tuple", "set"):
            return self.generic(interp, name, [], value, call)
        try:
            known = evaluate(interp, annotation, self.cls.closure or Frame(self.cls.module))
        except Raised:
            return interp.unknown()
        return self.of_class(interp, known, value, call)

    def of_class(self, interp: Interpreter, cls: Object, value: Object, call: Call) -> Object:
        if isinstance(value, (Instance, EnumMember)):
            return value
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
            return self.converted(interp, inner[0], value, call)
        if name == "Union":
            return self.one_of(interp, inner, value, call)
        if name == "Literal":
            return value if isinstance(value, CONSTANTS) else interp.unknown()
        kinds: dict[str, type] = {"list": ListObject, "List": ListObject, "dict": DictObject, "Dict": DictObject}
        simple = all(getattr(each, "id", "") in (*LAX, "Any") for each in inner)
        return value if name in kinds and simple and type(value) is kinds[name] else interp.unknown()


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
