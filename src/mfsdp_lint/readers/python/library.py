"""What the evaluator knows of Python's built-ins and standard library (and of torch's types): meaning, not code to run.

Each model takes (machine, arguments, keywords, frame, node) and gives the call's value; a fresh unknown where that depends on the
machine the program would run on. A function that is not modelled is a call that is not followed.
"""

from __future__ import annotations

import ast
import math
import posixpath
import sys
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.attributes import get_attribute, has_attribute, set_attribute
from mfsdp_lint.readers.python.branches import known_truth, truth
from mfsdp_lint.readers.python.calls import call
from mfsdp_lint.readers.python.classes import ClassObject, fields_of, is_subclass
from mfsdp_lint.readers.python.containers import LONGEST, iterate, make_set, method, set_entry
from mfsdp_lint.readers.python.imports import import_module
from mfsdp_lint.readers.python.machine import Frame, Machine, Raised, join
from mfsdp_lint.readers.python.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    Descriptor,
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
    Unknown,
    is_constant,
)

Model = Callable[[Machine, list[Object], dict[str, Object], Frame, Any], Object]

LIBRARY: dict[str, Model] = {}
BUILTINS: dict[str, Object] = {}

CWD = "<CWD>"
"""The folder a program is started in, as a symbol."""

HARMLESS = {
    *sys.stdlib_module_names,
    "torch",
    "numpy",
    "builtins",
    "transformers",
    "rich",
    "loguru",
    "wandb",
    "tqdm",
} - {"copy"}
"""Packages whose functions do not change the configuration objects that are passed to them."""


def changes_nothing(name: str) -> bool:
    """Whether a call of this dotted name leaves its arguments as they are."""
    top = name.partition(".")[0]
    return top in HARMLESS or name.rpartition(".")[2] in ("print_rank_0", "warn_rank_0", "log_single_rank")


def models(*names: str) -> Callable[[Model], Model]:
    """Register the model of functions with these dotted names; a name without dot is a built-in."""

    def register(model: Model) -> Model:
        for name in names:
            LIBRARY[name] = model
            if name.startswith("builtins."):
                BUILTINS[name.removeprefix("builtins.")] = Native(name, model)
        return model

    return register


def _settled(machine: Machine, arguments: list[Object]) -> list[Object]:
    return [machine.settle(argument) for argument in arguments]


# -- text and numbers -----------------------------------------------------------------------------------------------


def as_text(machine: Machine, value: Object) -> str | None:
    """`str(value)`, None where it is not known."""
    value = machine.settle(value)
    if isinstance(value, CONSTANTS):
        return str(value)
    if isinstance(value, External) and value.name.startswith("torch."):
        return value.name
    if isinstance(value, tuple) and is_constant(value):
        return str(value)
    if (
        isinstance(value, ListObject)
        and value.items is not None
        and is_constant(tuple(value.items))
        and not isinstance(value, SetObject)
    ):
        return str(list(value.items))
    return None


def _calls(function: Callable[..., Any]) -> Model:
    """A model that computes on constants and knows nothing else."""

    def model(
        machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
    ) -> Object:
        arguments = _settled(machine, arguments)
        if any(isinstance(argument, Choice) for argument in arguments) and len(arguments) == 1:
            return join(machine, [model(machine, [option], keywords, frame, node) for option in arguments[0].options])
        if not all(map(is_constant, arguments)) or not all(map(is_constant, keywords.values())):
            return machine.unknown("", not_none=True)
        if any(isinstance(argument, (str, bytes)) and len(argument) > LONGEST for argument in arguments):
            return machine.unknown("", not_none=True)
        try:
            found = function(*arguments, **keywords)
        except Exception as error:
            raise Raised(type(error).__name__, str(error)) from None
        return found if is_constant(found) else machine.unknown("", not_none=True)

    return model


for _name, _function in {
    "int": int, "float": float, "abs": abs, "round": round, "chr": chr, "ord": ord, "hex": hex, "oct": oct, "bin": bin,
    "bytes": bytes, "divmod": divmod, "complex": complex, "ascii": ascii, "pow": pow,
}.items():  # fmt: skip
    models(f"builtins.{_name}")(_calls(_function))
for _name in ("ceil", "floor", "sqrt", "log", "log2", "log10", "prod", "gcd", "isqrt", "trunc", "exp", "isclose"):
    models(f"math.{_name}")(_calls(getattr(math, _name)))


@models("builtins.str")
def _str(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if not arguments:
        return ""
    text = as_text(machine, arguments[0])
    return machine.unknown("", not_none=True) if text is None else text


@models("builtins.repr")
def _repr(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0]) if arguments else None
    return repr(value) if is_constant(value) else machine.unknown("", not_none=True)


@models("builtins.bool")
def _bool(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if not arguments:
        return False
    known = known_truth(machine, arguments[0], frame, node)
    if known is None:
        from mfsdp_lint.readers.python.expressions import _negated

        return _negated(machine, _negated(machine, arguments[0]))
    return known


# -- containers -----------------------------------------------------------------------------------------------------


def _elements(machine: Machine, arguments: list[Object], frame: Frame) -> list[Object] | None:
    return iterate(machine, arguments[0], frame) if arguments else []


@models("builtins.list", "builtins.reversed", "builtins.sorted", "builtins.iter")
def _list(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = _elements(machine, arguments, frame)
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else "list"
    if items is not None and name == "reversed":
        items = items[::-1]
    if items is not None and name == "sorted":
        items = sort(machine, items, keywords, frame)
    return ListObject(None if items is None else list(items), machine.tick())  # type: ignore[arg-type]


@models("builtins.tuple")
def _tuple(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = _elements(machine, arguments, frame)
    return machine.unknown("tuple", not_none=True) if items is None else tuple(items)


@models("builtins.set", "builtins.frozenset")
def _set(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return make_set(machine, _elements(machine, arguments, frame))


@models("builtins.dict", "collections.OrderedDict", "types.MappingProxyType")
def _dict(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    made = DictObject({}, machine.tick())
    made.made = machine.note(frame, node, None, "default", None, None)
    method(machine, made, "update", [*arguments], {}, frame, node)
    for keyword in getattr(node, "keywords", ()):
        if keyword.arg in keywords:
            set_entry(machine, made, keyword.arg, keywords[keyword.arg], frame, node, keyword)
    for name, value in keywords.items():
        if name == "**":
            made.writes["<hazy>"] = True
        elif name not in made.fields:
            set_entry(machine, made, name, value, frame, node)
    return made


@models("collections.defaultdict")
def _defaultdict(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    made = DictObject({}, machine.tick())
    made.writes["<hazy>"] = True
    return made


def sort(machine: Machine, items: list[Object], keywords: dict[str, Object], frame: Frame) -> list[Object] | None:
    """The elements in order, None where the order is not known."""
    key = keywords.get("key")
    keys = items if key is None else [call(machine, key, [item], {}, None, frame) for item in items]
    if not all(is_constant(one) for one in keys):
        return None
    order = sorted(
        range(len(items)), key=_Comparable(keys), reverse=truth(machine, keywords.get("reverse", False)) is True
    )
    return [items[index] for index in order]


class _Comparable:
    def __init__(self, keys: list[Object]) -> None:
        self.keys = keys
        try:
            sorted(keys)
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None

    def __call__(self, index: int) -> Object:
        return self.keys[index]


@models("builtins.range")
def _range(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    arguments = _settled(machine, arguments)
    if not all(isinstance(argument, int) for argument in arguments):
        return machine.unknown("range", not_none=True)
    try:
        found = range(*arguments)
    except (TypeError, ValueError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    return ListObject(list(found) if len(found) <= LONGEST else None, machine.tick())  # type: ignore[arg-type]


@models("builtins.len")
def _len(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0])
    if isinstance(value, (str, bytes, tuple)):
        return len(value)
    if isinstance(value, Instance):
        return call(machine, get_attribute(machine, value, "__len__", frame), [], {}, node, frame)
    if isinstance(value, (ListObject, DictObject, frozenset)):
        items = iterate(machine, value, frame)
        return machine.unknown("len", not_none=True) if items is None else len(items)
    if isinstance(value, (int, float, type(None))):
        raise Raised("TypeError", "object has no len()")
    return machine.unknown("len", not_none=True)


@models("builtins.enumerate")
def _enumerate(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    items = _elements(machine, arguments, frame)
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", 0)
    if items is None or not isinstance(start, int):
        return ListObject(None, machine.tick())  # type: ignore[arg-type]
    return ListObject(list(enumerate(items, start)), machine.tick())


@models("builtins.zip", "itertools.zip_longest", "itertools.product", "itertools.chain")
def _zip(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    import itertools

    columns = [iterate(machine, argument, frame) for argument in arguments]
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else "zip"
    if None in columns or (keywords and name != "zip"):
        return ListObject(None, machine.tick())  # type: ignore[arg-type]
    known = [column or [] for column in columns]
    if name == "product":
        if math.prod(len(column) for column in known) > LONGEST:
            return ListObject(None, machine.tick())  # type: ignore[arg-type]
        return ListObject(list(itertools.product(*known)), machine.tick())
    if name == "chain":
        return ListObject(list(itertools.chain(*known)), machine.tick())
    if name == "zip_longest":
        return ListObject(list(itertools.zip_longest(*known)), machine.tick())
    if truth(machine, keywords.get("strict", False)) is True and len({len(column) for column in known}) > 1:
        raise Raised("ValueError", "zip() arguments have different lengths")
    return ListObject(list(zip(*known)), machine.tick())


@models("builtins.map")
def _map(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    columns = [iterate(machine, argument, frame) for argument in arguments[1:]]
    if None in columns:
        return ListObject(None, machine.tick())  # type: ignore[arg-type]
    rows = zip(*[column or [] for column in columns])
    return ListObject([call(machine, arguments[0], list(row), {}, node, frame) for row in rows], machine.tick())


@models("builtins.filter")
def _filter(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = iterate(machine, arguments[1], frame)
    kept: list[Object] = []
    for item in items or []:
        value = item if arguments[0] is None else call(machine, arguments[0], [item], {}, node, frame)
        known = known_truth(machine, value, frame, node)
        if known is None:
            return ListObject(None, machine.tick())  # type: ignore[arg-type]
        if known:
            kept.append(item)
    return ListObject(None if items is None else kept, machine.tick())  # type: ignore[arg-type]


@models("builtins.any", "builtins.all")
def _any_all(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = _elements(machine, arguments, frame)
    wanted = (ast.unparse(node.func) if isinstance(node, ast.Call) else "any") == "any"
    if items is None:
        return machine.unknown("", not_none=True)
    answers = [known_truth(machine, item, frame, node) for item in items]
    if wanted in answers:
        return wanted
    return machine.unknown("", not_none=True) if None in answers else not wanted


@models("builtins.sum")
def _sum(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    from mfsdp_lint.readers.python.expressions import binary

    items = _elements(machine, arguments, frame)
    if items is None:
        return machine.unknown("", not_none=True)
    total: Object = arguments[1] if len(arguments) > 1 else keywords.get("start", 0)
    for item in items:
        total = binary(machine, ast.Add, total, item)
    return total


@models("builtins.min", "builtins.max")
def _extreme(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = iterate(machine, arguments[0], frame) if len(arguments) == 1 else _settled(machine, arguments)
    if items is None:
        return machine.unknown("", not_none=True)
    if not items:
        if "default" in keywords:
            return keywords["default"]
        raise Raised("ValueError", "the sequence is empty")
    ordered = sort(machine, items, {key: value for key, value in keywords.items() if key == "key"}, frame)
    if ordered is None:
        return machine.unknown("", not_none=True)
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "max"):
        return ordered[0]
    key = keywords.get("key")
    best = ordered[-1] if key is None else call(machine, key, [ordered[-1]], {}, node, frame)
    return next(
        item for item in items if (item if key is None else call(machine, key, [item], {}, node, frame)) == best
    )


@models("builtins.next")
def _next(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    iterable = machine.settle(arguments[0])
    items = iterate(machine, iterable, frame)
    # Only of a fresh generator is the next element the first one.
    if items is None or not isinstance(getattr(node, "args", [None])[0], (ast.GeneratorExp, ast.Call)):
        return machine.unknown()
    if items:
        return items[0]
    if len(arguments) > 1:
        return arguments[1]
    raise Raised("StopIteration", "")


@models("builtins.slice")
def _slice(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return (
        slice(*arguments)
        if all(isinstance(part, (int, type(None))) for part in arguments)
        else machine.unknown("slice")
    )


# -- objects and types ----------------------------------------------------------------------------------------------


@models("builtins.getattr")
def _getattr(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    name = machine.settle(arguments[1])
    if isinstance(name, Choice) and all(isinstance(option, str) for option in name.options):
        return join(
            machine,
            [_getattr(machine, [arguments[0], option, *arguments[2:]], {}, frame, node) for option in name.options],
        )
    if not isinstance(name, str):
        return machine.unknown()
    if len(arguments) < 3:
        return get_attribute(machine, arguments[0], name, frame, node)
    owner = machine.settle(arguments[0])
    if isinstance(owner, Choice):
        return join(
            machine, [_getattr(machine, [option, name, arguments[2]], {}, frame, node) for option in owner.options]
        )
    if has_attribute(machine, owner, name, frame, node) is None and not isinstance(owner, Unknown):
        try:
            return join(machine, [get_attribute(machine, owner, name, frame, node), arguments[2]])
        except Raised:
            return machine.unknown(name)
    try:
        return get_attribute(machine, owner, name, frame, node)
    except Raised as error:
        if error.name != "AttributeError":
            raise
        return arguments[2]


@models("builtins.setattr")
def _setattr(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    owner, name, value = arguments
    name = machine.settle(name)
    if isinstance(name, str):
        focus = node.args[2] if isinstance(node, ast.Call) and len(node.args) == 3 else None
        set_attribute(machine, owner, name, value, frame, node, focus)
    else:
        machine.havoc(owner)
    return None


@models("object.__setattr__")
def _object_setattr(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    from mfsdp_lint.readers.python.attributes import write

    owner, name, value = arguments
    if isinstance(owner, (Instance, Unknown)) and isinstance(name, str):
        write(machine, owner, name, value, frame, node, None, "assigned")
    return None


@models("builtins.delattr")
def _delattr(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if isinstance(arguments[0], (Instance, Unknown)) and isinstance(arguments[1], str):
        machine.drop(arguments[0], arguments[1])
    return None


@models("builtins.hasattr")
def _hasattr(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    name = machine.settle(arguments[1])
    known = has_attribute(machine, machine.settle(arguments[0]), name, frame, node) if isinstance(name, str) else None
    if known is None and isinstance(arguments[0], Unknown) and isinstance(name, str):
        from mfsdp_lint.readers.python.attributes import _child

        return _child(machine, arguments[0], ("has", name), f"hasattr({arguments[0].text}, {name!r})")
    return machine.unknown("", not_none=True) if known is None else known


PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,), "int": (int,), "float": (float,), "bool": (bool,), "bytes": (bytes,), "tuple": (tuple,), "complex": (complex,),
    "list": (ListObject,), "dict": (DictObject,), "set": (SetObject,), "frozenset": (frozenset,), "object": (object,),
}  # fmt: skip
ABSTRACT_TYPES = {
    "Mapping": (DictObject,), "MutableMapping": (DictObject,), "Sequence": (ListObject, tuple, str), "Iterable": (ListObject, tuple, str, DictObject),
    "Callable": (Function, Bound, Native, Partial, ClassObject), "Collection": (ListObject, tuple, str, DictObject), "Number": (int, float, complex),
}  # fmt: skip


def is_instance(machine: Machine, value: Object, cls: Object) -> bool | None:
    """`isinstance(value, cls)`; None when that is not known."""
    value, cls = machine.settle(value), machine.settle(cls)
    if isinstance(value, Choice):
        answers = {None if option is MISSING else is_instance(machine, option, cls) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(cls, (tuple, ListObject)):
        options = cls if isinstance(cls, tuple) else cls.items or ()
        found = [is_instance(machine, value, one) for one in options]
        return True if True in found else None if None in found or not found else False
    if isinstance(value, Unknown) or isinstance(cls, (Unknown, Choice)):
        return None
    if cls is None:
        return value is None
    if isinstance(cls, Native) and cls.name.startswith("builtins."):
        return _is_builtin_instance(machine, value, cls.name.removeprefix("builtins."))
    if isinstance(cls, External):
        return _is_external_instance(machine, value, cls)
    if isinstance(cls, ClassObject):
        if isinstance(value, Instance):
            if isinstance(value.cls, Choice):
                kinds = {is_subclass(machine, candidate, cls) for candidate in value.cls.options}
                return kinds.pop() if len(kinds) == 1 else None
            return is_subclass(machine, value.cls, cls)
        if isinstance(value, EnumMember):
            return is_subclass(machine, value.cls, cls)
        return None if isinstance(value, External) else False
    return None


def _is_builtin_instance(machine: Machine, value: Object, name: str) -> bool | None:
    types = PYTHON_TYPES.get(name)
    if name == "type":
        return isinstance(value, (ClassObject, Native)) if not isinstance(value, External) else None
    if types is None or isinstance(value, External):
        return None
    if isinstance(value, (Instance, EnumMember)) and name != "object":
        from mfsdp_lint.readers.python.attributes import class_names

        classes = value.cls.options if isinstance(value.cls, Choice) else (value.cls,)
        answers = {
            name in class_names(machine, cls)
            or {"int": "enum.IntEnum", "str": "enum.StrEnum"}.get(name, "?") in class_names(machine, cls)
            for cls in classes
        }
        return answers.pop() if len(answers) == 1 else None
    if name in ("list", "set"):
        return (
            isinstance(value, SetObject)
            if name == "set"
            else isinstance(value, ListObject) and not isinstance(value, SetObject)
        )
    return isinstance(value, types)


def _is_external_instance(machine: Machine, value: Object, cls: External) -> bool | None:
    last = cls.name.rpartition(".")[2]
    if cls.name == "object":
        return True
    if cls.name.partition(".")[0] in ("typing", "collections", "numbers") and last in ABSTRACT_TYPES:
        return isinstance(value, ABSTRACT_TYPES[last]) or (None if isinstance(value, (Instance, External)) else False)
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
        return is_subclass(machine, value.cls, cls)
    if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject)):
        return False if cls.name != "types.NoneType" else value is None
    if isinstance(value, EnumMember):
        return is_subclass(machine, value.cls, cls)
    return None


@models("builtins.isinstance")
def _isinstance(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    known = is_instance(machine, arguments[0], arguments[1])
    if known is None and isinstance(arguments[0], Unknown):
        from mfsdp_lint.readers.python.attributes import _child

        return _child(
            machine, arguments[0], ("isinstance", ast.unparse(node) if isinstance(node, ast.AST) else ""), "isinstance"
        )
    return machine.unknown("", not_none=True) if known is None else known


@models("builtins.issubclass")
def _issubclass(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    others = arguments[1] if isinstance(arguments[1], tuple) else (arguments[1],)
    found = [is_subclass(machine, arguments[0], other) for other in others]
    if True in found:
        return True
    return machine.unknown("", not_none=True) if None in found else False


@models("builtins.callable")
def _callable(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    value = machine.settle(arguments[0])
    if isinstance(value, (Function, Bound, Native, Partial, ClassObject)):
        return True
    if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject, EnumMember)):
        return False
    return machine.unknown("", not_none=True)


@models("builtins.type")
def _type(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0])
    if len(arguments) == 1 and isinstance(value, (Instance, EnumMember)):
        return value.cls
    if len(arguments) == 1 and isinstance(value, CONSTANTS) and value is not None:
        return BUILTINS.get(type(value).__name__, machine.unknown("type"))
    return machine.unknown("type", not_none=True)


@models("builtins.id", "builtins.hash")
def _identity(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    return machine.unknown("", not_none=True)


@models("builtins.vars", "builtins.dir", "builtins.globals", "builtins.locals")
def _names(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if (
        arguments
        and isinstance(arguments[0], Instance)
        and isinstance(node, ast.Call)
        and ast.unparse(node.func) == "vars"
    ):
        return DictObject(dict(arguments[0].fields), machine.tick())
    return machine.unknown("", not_none=True)


@models("object")
def _object(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return machine.unknown("object()", not_none=True)


@models("builtins.print")
def _nothing(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return None


@models("sys.exit", "builtins.exit", "builtins.quit", "os._exit")
def _exit(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    raise Raised("SystemExit", "")


@models("builtins.__import__", "importlib.import_module")
def _import_module(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    name = machine.settle(arguments[0]) if arguments else None
    if not isinstance(name, str) or name.startswith("."):
        return machine.unknown("module")
    found = import_module(machine, name, frame.module)
    return found if not isinstance(found, External) else machine.unknown(name, not_none=True)


# -- standard library -----------------------------------------------------------------------------------------------


@models("copy.deepcopy")
def _deepcopy(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    return machine.copy(machine.settle(arguments[0]))


@models("copy.copy")
def _copy(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0])
    if isinstance(value, (Instance, DictObject)):
        copied: Any = (
            Instance(value.cls, machine.tick(), value.made)
            if isinstance(value, Instance)
            else DictObject({}, machine.tick())
        )
        copied.fields, copied.writes = dict(value.fields), dict(value.writes)
        return copied
    if isinstance(value, ListObject):
        return type(value)(value.items, machine.tick())
    return value if is_constant(value) else machine.unknown()


@models("dataclasses.replace", "copy.replace")
def _replace(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0])
    if isinstance(value, Choice):
        return join(machine, [_replace(machine, [option], keywords, frame, node) for option in value.options])
    if not isinstance(value, Instance) or not isinstance(value.cls, ClassObject):
        return machine.unknown("replace()", not_none=True)
    specs = fields_of(machine, value.cls)
    if any(name not in {spec.name for spec in specs} and name != "**" for name in keywords):
        raise Raised("TypeError", "replace() got an unexpected field name")
    given = {spec.name: value.fields[spec.name] for spec in specs if spec.init and spec.name in value.fields}
    focus = {keyword.arg: keyword for keyword in getattr(node, "keywords", ()) if keyword.arg}
    if "**" in keywords:
        given = {name: machine.unknown(name) for name in given}
    made: Any = call(
        machine, value.cls, [], {**given, **{k: v for k, v in keywords.items() if k != "**"}}, node, frame, focus
    )
    for name in given.keys() - keywords.keys():
        # What replace() only hands on keeps the origin it had.
        if name in value.writes and name in made.writes:
            made.writes[name] = value.writes[name]
        elif name in made.writes:
            made.writes.pop(name)
    return made


@models("dataclasses.fields")
def _fields(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0])
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, ClassObject):
        return machine.unknown("fields", not_none=True)
    found = []
    for spec in fields_of(machine, cls):
        described = machine.unknown(spec.name, not_none=True)
        described.fields["name"] = spec.name
        found.append(described)
    return tuple(found)


@models("dataclasses.is_dataclass")
def _is_dataclass(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    from mfsdp_lint.readers.python.classes import has_fields

    value = machine.settle(arguments[0])
    cls = value.cls if isinstance(value, Instance) else value
    if isinstance(cls, ClassObject):
        return has_fields(machine, cls)
    return (
        False if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject)) else machine.unknown("", not_none=True)
    )


@models("dataclasses.asdict")
def _asdict(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0])
    if not isinstance(value, Instance) or not isinstance(value.cls, ClassObject):
        return machine.unknown("asdict", not_none=True)
    names = [spec.name for spec in fields_of(machine, value.cls) if spec.name in value.fields]
    return DictObject({name: _plain_copy(machine, value.fields[name], frame, node) for name in names}, machine.tick())


def _plain_copy(machine: Machine, value: Object, frame: Frame, node: Any) -> Object:
    if isinstance(value, Instance):
        return _asdict(machine, [value], {}, frame, node)
    return machine.copy(value)


@models("dataclasses.field", "pydantic.Field")
def _field(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return Partial(External("dataclasses.field"), [], keywords)


@models("functools.partial", "functools.partialmethod")
def _partial(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if not arguments:
        raise Raised("TypeError", "partial expected at least 1 argument")
    return Partial(arguments[0], arguments[1:], keywords)


@models("functools.reduce")
def _reduce(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    items = iterate(machine, arguments[1], frame)
    if items is None:
        return machine.unknown("reduce")
    total = arguments[2] if len(arguments) > 2 else MISSING
    for item in items:
        total = item if total is MISSING else call(machine, arguments[0], [total, item], {}, node, frame)
    if total is MISSING:
        raise Raised("TypeError", "reduce() of empty iterable with no initial value")
    return total


@models("typing.cast", "typing_extensions.cast")
def _cast(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return arguments[1]


@models("typing.TypeVar", "typing.NewType", "typing.NamedTuple", "collections.namedtuple", "typing.TypedDict")
def _typing(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return machine.unknown("type", not_none=True)


@models("enum.auto")
def _auto(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return External("enum.auto()")


@models("types.SimpleNamespace", "argparse.Namespace")
def _simple_namespace(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    made = machine.unknown("namespace", not_none=True)
    made.fields.update({name: value for name, value in keywords.items() if name != "**"})
    return made


@models("os.getcwd", "os.getcwdb", "pathlib.Path.cwd")
def _getcwd(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return CWD


@models("os.path.join")
def _path_join(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    parts = _settled(machine, arguments)
    if not all(isinstance(part, str) for part in parts):
        if any(part is None or isinstance(part, (int, float)) for part in parts):
            raise Raised("TypeError", "join() argument must be str")
        return machine.unknown("path", not_none=True)
    return posixpath.join(*parts)


for _name, _function in {
    "basename": posixpath.basename, "dirname": posixpath.dirname, "normpath": posixpath.normpath, "splitext": posixpath.splitext,
    "isabs": posixpath.isabs, "split": posixpath.split,
}.items():  # fmt: skip
    models(f"os.path.{_name}")(_calls(_function))


@models(
    "os.path.exists", "os.path.isdir", "os.path.isfile", "os.path.abspath", "os.path.expanduser", "os.path.realpath"
)
def _depends_on_machine(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    return machine.unknown(ast.unparse(node) if isinstance(node, ast.AST) else "", not_none=True)


@models("os.environ.get", "os.getenv")
def _getenv(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    name = machine.settle(arguments[0]) if arguments else None
    default = arguments[1] if len(arguments) > 1 else keywords.get("default")
    return environment_value(machine, name, default)


def environment_value(machine: Machine, name: Object, default: Object = None) -> Object:
    """A variable of the process environment: what the program itself has set, else unknown (its default may or may not hold)."""
    if not isinstance(name, str):
        return machine.unknown("environment")
    found = machine.environment.fields.get(name, MISSING)
    if found is MISSING:
        key = ("env", name)
        found = machine.environment.fields.get(key, MISSING)
        if found is MISSING:
            found = machine.unknown(f"${name}")
            machine.put(machine.environment, key, found)
        if isinstance(found, Unknown) and default is not None:
            return machine.unknown(f"${name}", not_none=True)
    if found is None:
        return default
    return found


@models("os.environ.setdefault", "os.putenv", "os.environ.__setitem__")
def _setenv(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if len(arguments) == 2 and isinstance(arguments[0], str):
        focus = node.args[1] if isinstance(node, ast.Call) and len(node.args) == 2 else None
        set_entry(machine, machine.environment, arguments[0], arguments[1], frame, node, focus)
        return arguments[1]
    return machine.unknown("environment")


@models("os.environ.update")
def _update_environment(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    return method(machine, machine.environment, "update", arguments, keywords, frame, node)


@models("os.environ.pop", "os.unsetenv")
def _unsetenv(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    if arguments and isinstance(arguments[0], str):
        set_entry(machine, machine.environment, arguments[0], None, frame, node)
    return machine.unknown("environment")


@models("os.environ.copy")
def _copy_environment(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    made = DictObject({}, machine.tick())
    made.writes["<hazy>"] = True
    return made


@models("contextlib.nullcontext", "contextlib.suppress", "contextlib.redirect_stdout")
def _null_context(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    return machine.unknown("context", not_none=True)


@models("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath")
def _path(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    return machine.unknown("path", not_none=True)


@models("inspect.signature")
def _signature(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    return machine.unknown("signature", not_none=True)


# -- decorators -----------------------------------------------------------------------------------------------------

PASS_THROUGH = {"functools.cache", "functools.lru_cache", "functools.wraps", "abc.abstractmethod", "typing.overload"}


def decorate(machine: Machine, decorator: Object, value: Object) -> Object:
    """What a decorator that is no code of the program makes of a definition."""
    name = getattr(decorator, "name", "")
    last = name.rpartition(".")[2]
    if isinstance(decorator, (External, Native)):
        if last in ("staticmethod", "classmethod", "property", "cached_property", "abstractproperty"):
            return Descriptor({"cached_property": "property", "abstractproperty": "property"}.get(last, last), value)
        if last in ("contextmanager", "asynccontextmanager") and isinstance(value, Function):
            value.unwrapped = "contextmanager"
    # A decorator out of sight (a registry, a command-line entry, a cache) is taken to hand back what it was given.
    return value


for _name in ("property", "staticmethod", "classmethod"):
    BUILTINS[_name] = Native(
        f"builtins.{_name}",
        lambda machine, arguments, keywords, frame, node, kind=_name: Descriptor(
            kind, arguments[0] if arguments else None
        ),
    )
BUILTINS["object"] = External("object")
BUILTINS["super"] = External("super")
BUILTINS["NotImplemented"] = External("NotImplemented")
BUILTINS["Ellipsis"] = ...
BUILTINS["__debug__"] = True
import builtins as _builtins

for _error in [
    name for name, value in vars(_builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
]:
    BUILTINS[_error] = External(_error)
BUILTINS["open"] = External("builtins.open")
BUILTINS["input"] = External("builtins.input")
BUILTINS["format"] = Native("builtins.format", _calls(format))
