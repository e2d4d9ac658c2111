"""Instance checks: membership of a value in a class."""

from __future__ import annotations

from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.classes import class_names, is_subclass
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    DictObject,
    EnumMember,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Partial,
    SetObject,
    StandardObject,
    Unknown,
)

PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,), "int": (int,), "float": (float,), "bool": (bool,), "bytes": (bytes,), "complex": (complex,),
    "tuple": (tuple,), "list": (ListObject,), "dict": (DictObject,), "set": (SetObject,), "frozenset": (frozenset,),
    "object": (object,),
}  # fmt: skip


AS_CLASSES = {"int": "enum.IntEnum", "str": "enum.StrEnum", "tuple": "typing.NamedTuple", "dict": "builtins.dict"}
"""Built-in types, and what stands for them among the bases of a class."""


ABSTRACT_TYPES = {
    "Mapping": (DictObject,), "MutableMapping": (DictObject,), "Sequence": (ListObject, tuple, str),
    "Iterable": (ListObject, tuple, str, DictObject), "Collection": (ListObject, tuple, str, DictObject),
    "Callable": (Function, Bound, Native, Partial, ClassObject), "Number": (int, float, complex),
}  # fmt: skip


def is_instance(interp: Interpreter, value: Object, cls: Object) -> bool | None:
    """Evaluate `isinstance(value, cls)`; None if that is not known."""
    value, cls = interp.settle(value), interp.settle(cls)
    if isinstance(value, Choice):
        answers = {None if option is MISSING else is_instance(interp, option, cls) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(cls, (tuple, ListObject)):
        options = cls if isinstance(cls, tuple) else cls.items or ()
        found = [is_instance(interp, value, one) for one in options]
        return True if True in found else None if None in found or not found else False
    if type(value) is StandardObject and isinstance(cls, (Native, External)):
        return standard_objects.is_instance(value, cls.name)
    if isinstance(value, Unknown) or isinstance(cls, (Unknown, Choice)):
        return None
    if cls is None:
        return value is None
    if isinstance(cls, Native) and cls.name.startswith("builtins."):
        return _is_builtin_instance(interp, value, cls.name.removeprefix("builtins."))
    if isinstance(cls, External):
        return _is_external_instance(interp, value, cls)
    if isinstance(cls, ClassObject):
        if isinstance(value, Instance):
            if isinstance(value.cls, Choice):
                kinds = {is_subclass(interp, candidate, cls) for candidate in value.cls.options}
                return kinds.pop() if len(kinds) == 1 else None
            return is_subclass(interp, value.cls, cls)
        if isinstance(value, EnumMember):
            return is_subclass(interp, value.cls, cls)
        return None if isinstance(value, External) else False
    return None


def _is_builtin_instance(interp: Interpreter, value: Object, name: str) -> bool | None:
    types = PYTHON_TYPES.get(name)
    if name == "type":
        return isinstance(value, (ClassObject, Native)) if not isinstance(value, External) else None
    if types is None or isinstance(value, External):
        return None
    if isinstance(value, (Instance, EnumMember)) and name != "object":
        classes = value.cls.options if isinstance(value.cls, Choice) else (value.cls,)
        answers = {
            name in class_names(interp, cls) or AS_CLASSES.get(name, "?") in class_names(interp, cls) for cls in classes
        }
        return answers.pop() if len(answers) == 1 else None
    if name in ("list", "set"):
        return isinstance(value, SetObject) if name == "set" else type(value) is ListObject
    return isinstance(value, types)


def _is_external_instance(interp: Interpreter, value: Object, cls: External) -> bool | None:
    last = cls.name.rpartition(".")[2]
    if cls.name == "object":
        return True
    if cls.name.partition(".")[0] in ("typing", "collections", "numbers") and last in ABSTRACT_TYPES:
        return isinstance(value, ABSTRACT_TYPES[last]) or (None if isinstance(value, (Instance, External)) else False)
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
        return is_subclass(interp, value.cls, cls)
    if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject)):
        return False if cls.name != "types.NoneType" else value is None
    if isinstance(value, EnumMember):
        return is_subclass(interp, value.cls, cls)
    return None
