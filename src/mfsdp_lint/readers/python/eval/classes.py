"""Classes of the evaluated program: bases, dataclass fields and enumerations.

Upstream behaviour: CPython's dataclasses (fields of base dataclasses first, `kw_only`, `default_factory`, `InitVar`),
enum, typing.NamedTuple and typing.TypedDict.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mfsdp_lint.megatron.conditions import agreed
from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.records import ATTRS, MODEL, OUT_OF_SIGHT, attrs_fields, field_of, model_fields
from mfsdp_lint.readers.python.state.calling import evaluate, invoke, isolated, run_isolated
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.trees import nodes_in
from mfsdp_lint.readers.python.values.code import PLAIN_BASES, Call, base_name, qualified
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
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
    PartlyKnown,
    SetObject,
    StandardObject,
    Unknown,
)

ENUM_BASES = {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}

WRITTEN: list[Callable[[Interpreter, str], Object]] = [lambda interp, name: MISSING]
"""The search for a library's class by its dotted name; written.py, which lies above, fills it in."""

LONGEST_ORDER = 256
"""Classes in a method resolution order; of one with more, what the bases have is not known."""

FLAGS = ("enum.Flag", "enum.IntFlag")

OUT_OF_SIGHT_BASE = External("?")

DATACLASS = {"dataclasses.dataclass", "pydantic.dataclasses.dataclass"}

_DECORATORS = frozenset(name.rpartition(".")[2] for name in (*DATACLASS, *ATTRS))


def namespace(interp: Interpreter, cls: ClassObject) -> dict[Any, Object]:
    """Return the attributes that the class body itself defines."""
    if not cls.ran:
        cls.ran = True
        if cls.data is not None:
            cls.data.fill(cls)
        else:
            _run_body(interp, cls)
    return cls.fields


def _run_body(interp: Interpreter, cls: ClassObject) -> None:
    assert cls.node is not None
    frame = Frame(cls.module, cls.name, cls.closure)
    frame.is_class = True
    frame.cls = cls
    frame.fields = cls.fields
    run_isolated(interp, cls.node.body, frame)
    for name, value in list(cls.fields.items()):
        if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
            hook = lookup(interp, value.cls, "__set_name__")[0]
            if isinstance(hook, Function):
                isolated(
                    interp, partial(invoke, interp, hook, Call([value, cls, name], {}, cls.node, frame)), cls.module
                )


def bases(interp: Interpreter, cls: ClassObject) -> list[Object]:
    """Return the base classes, which are evaluated once."""
    if cls.bases_of is None:
        cls.bases_of = []
        if cls.node is not None:
            frame = cls.closure or Frame(cls.module)
            found: list[Object] = []
            assert cls.node is not None
            for node in cls.node.bases:
                target = node.value if isinstance(node, ast.Subscript) else node
                try:
                    base = evaluate(interp, target, frame)
                    known = WRITTEN[0](interp, qualified(base)) if isinstance(base, (External, Native)) else MISSING
                    found.append(known if isinstance(known, ClassObject) else base)
                except Raised:
                    found.append(OUT_OF_SIGHT_BASE)
            cls.bases_of = found
    return cls.bases_of


def mro(interp: Interpreter, cls: Object) -> list[Object]:
    """Return the method resolution order (C3, as Python's); bases that are not at hand stay as they are.

    An object's class may be one of several, or out of sight: then nothing is known of its bases.
    """
    if not isinstance(cls, ClassObject):
        return [OUT_OF_SIGHT_BASE]
    if cls.order is None:
        cls.order = [cls]
        lists: list[list[Object]]
        lists = [mro(interp, base)[:] if isinstance(base, ClassObject) else [base] for base in bases(interp, cls)]
        deep = sum(map(len, lists)) > LONGEST_ORDER
        cls.order += [OUT_OF_SIGHT_BASE] if deep else _merge([*lists, list(bases(interp, cls))])
    return cls.order


def _merge(lists: list[list[Object]]) -> list[Object]:
    merged: list[Object] = []
    lists = [one for one in lists if one]
    while lists:
        head = next((one[0] for one in lists if not any(_holds(rest[1:], one[0]) for rest in lists)), lists[0][0])
        merged.append(head)
        lists = [rest for rest in ([item for item in one if not _same(item, head)] for one in lists) if rest]
    return merged


def _same(left: Object, right: Object) -> bool:
    return left is right or (isinstance(left, External) and left == right)


def _holds(items: list[Object], wanted: Object) -> bool:
    return any(_same(item, wanted) for item in items)


def opaque(interp: Interpreter, cls: Object) -> bool:
    """Tell whether a base is out of sight, so that the class may have more than it shows."""
    for base in mro(interp, cls):
        if isinstance(base, ClassObject):
            if base.data is not None and base.data.opaque:
                return True
        elif base_name(base) not in PLAIN_BASES:
            return True
    return False


_TABLES = frozenset(("dict", "builtins.dict"))
_OF_ENTRIES = frozenset(
    ("__new__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__missing__", "__iter__", "__len__",
     "__getattribute__", "__delattr__", "get", "keys", "values", "items", "update", "pop", "popitem", "setdefault",
     "clear", "copy")
)  # fmt: skip
"""Methods by which a dictionary keeps its entries, and others that are not followed in a class of dictionaries."""


def is_table(interp: Interpreter, cls: ClassObject) -> bool:
    """Tell whether a class is of dictionaries that keep their entries as plain ones do, whatever methods it adds."""
    names = [base_name(base) for base in mro(interp, cls) if not isinstance(base, ClassObject)]
    own = [base for base in mro(interp, cls) if isinstance(base, ClassObject)]
    return (
        not _TABLES.isdisjoint(names)
        and all(name in _TABLES or name in PLAIN_BASES for name in names)
        and all(base.data is None and _OF_ENTRIES.isdisjoint(namespace(interp, base)) for base in own)
    )


def may_have_more(interp: Interpreter, cls: ClassObject) -> bool:
    """Tell whether a class may have attributes that are not at hand: of a release's enumeration only members are."""
    return opaque(interp, cls) or (cls.data is not None and is_enum(interp, cls))


def lookup(interp: Interpreter, cls: Object, name: str, after: Object = None) -> tuple[Object, Object]:
    """Find an attribute of a class and the class that has it, along the MRO (behind `after`); (MISSING, None) else."""
    if not isinstance(cls, ClassObject):
        return MISSING, None
    if after is None and name not in interp.volatile:
        known = cls.known.get(name)
        if known is None:
            known = cls.known[name] = _lookup(interp, cls, name, None)
        return known
    return _lookup(interp, cls, name, after)


def special(interp: Interpreter, value: Object, name: str) -> Function | None:
    """Return the special method that the class of an object defines in the program; None if there is none."""
    if isinstance(value, (Instance, EnumMember, DictObject)) and isinstance(value.cls, ClassObject):
        found = lookup(interp, value.cls, name)[0]
        return found if isinstance(found, Function) else None
    return None


def _lookup(interp: Interpreter, cls: ClassObject, name: str, after: Object) -> tuple[Object, Object]:
    started = after is None
    for base in mro(interp, cls):
        if not started:
            started = base is after
            continue
        if isinstance(base, ClassObject):
            found = namespace(interp, base).get(name, MISSING)
            if found is not MISSING:
                return found, base
    return MISSING, None


def is_subclass(interp: Interpreter, cls: Object, other: Object) -> bool | None:
    """Tell whether `cls` is `other` or derives from it; None if that cannot be known."""
    if _same(cls, other):
        return True
    if isinstance(cls, Native) and cls.name.removeprefix("builtins.") in PYTHON_TYPES:
        # (A class with a metaclass may take it for one of its own, as those that derive from `abc.ABC` do.)
        return False if isinstance(other, ClassObject) and metaclass(interp, other) is None else None
    if not isinstance(cls, ClassObject):
        return None
    found = mro(interp, cls)
    if any(_same(base, other) for base in found):
        return True
    name = qualified(other)
    if any(qualified(base) == name for base in found):
        return True
    if isinstance(other, ClassObject) and not opaque(interp, cls):
        return False
    if isinstance(other, ClassObject) and all(
        isinstance(b, ClassObject)
        or base_name(b) in PLAIN_BASES
        or base_name(b).split(".")[0] != other.qualified_name.split(".")[0]  # another package derives from none here
        for b in found
    ):
        return False
    return None if opaque(interp, cls) else False


def is_dataclass(interp: Interpreter, cls: ClassObject) -> bool:
    """Tell whether the class itself is decorated as a dataclass."""
    if cls.data is not None:
        return cls.data.is_dataclass
    assert cls.node is not None
    return _dataclass_decorator(interp, cls) is not None


NAMED_TUPLE = "typing.NamedTuple"
GENERATED_INIT = "dataclasses.__init__"
"""The name of every `__init__` that nobody wrote; it is given the class whose fields it fills, and the object."""


def generated_init(interp: Interpreter, cls: ClassObject, after: Object = None) -> ClassObject | None:
    """Return the class whose fields the `__init__` fills that a look-up on `cls` (behind `after`) finds.

    None if somebody wrote that `__init__`, or if a class out of sight may have one.
    """
    order = mro(interp, cls)
    for base in order[order.index(after) + 1 :] if after in order else order:
        if not isinstance(base, ClassObject) or "__init__" in namespace(interp, base):
            return None
        if _is_model(base):
            return cls
        if is_dataclass(interp, base):
            return base
    return None


def _dataclass_decorator(interp: Interpreter, cls: ClassObject) -> ast.expr | None:
    found = record_kind(interp, cls)
    return None if found is None else found[0]


def record_kind(interp: Interpreter, cls: ClassObject) -> tuple[ast.expr, str] | None:
    """Return the text that gives a class fields, and the dotted name of what it names: a decorator, or the base of a
    pydantic model; None where nothing does.
    """
    if cls.decorator is MISSING:
        cls.decorator = _find_record_kind(interp, cls)
    found: tuple[ast.expr, str] | None = cls.decorator
    return found


def _find_record_kind(interp: Interpreter, cls: ClassObject) -> tuple[ast.expr, str] | None:
    assert cls.node is not None
    for decorator in cls.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(target, (ast.Name, ast.Attribute)):
            continue
        if (target.id if isinstance(target, ast.Name) else target.attr) in _DECORATORS:
            try:
                value = evaluate(interp, target, cls.closure or Frame(cls.module))
            except Raised:
                continue
            name = getattr(value, "name", "")
            if name in DATACLASS or name in ATTRS:
                return decorator, name
    if cls.node.bases and any(isinstance(base, ClassObject) and _is_model(base) for base in mro(interp, cls)[1:]):
        return cls.node.bases[0], MODEL
    return None


def _is_model(base: ClassObject) -> bool:
    return base.module.written and base.qualified_name == MODEL


def is_frozen(interp: Interpreter, cls: ClassObject) -> bool:
    """Tell whether the fields of a dataclass of the program cannot be changed."""
    for base in mro(interp, cls):
        if isinstance(base, ClassObject) and base.data is not None and base.data.is_frozen:
            return True
        decorator = _dataclass_decorator(interp, base) if isinstance(base, ClassObject) and base.node else None
        if getattr(getattr(decorator, "func", decorator), "attr", getattr(decorator, "id", "")) == "frozen":
            return True
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "frozen" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
                return True
    return False


def has_fields(interp: Interpreter, cls: Object) -> bool:
    """Tell whether instances are made from dataclass fields."""
    return any(isinstance(base, ClassObject) and is_dataclass(interp, base) for base in mro(interp, cls))


def is_model(interp: Interpreter, cls: Object) -> bool:
    """Tell whether the class is a model of pydantic's."""
    return any(isinstance(base, ClassObject) and _is_model(base) for base in mro(interp, cls))


def is_enum(interp: Interpreter, cls: Object) -> bool:
    """Tell whether the class is an enumeration."""
    return any(base_name(base) in ENUM_BASES for base in mro(interp, cls) if not isinstance(base, ClassObject))


def has_base(interp: Interpreter, cls: Object, *names: str) -> bool:
    """Tell whether a base has one of these dotted names."""
    return any(
        (qualified(base) if isinstance(base, ClassObject) else base_name(base)) in names for base in mro(interp, cls)
    )


def fields_of(interp: Interpreter, cls: Object) -> list[FieldSpec]:
    """Return the dataclass fields in the order of the constructor's parameters, those of base classes first.

    Parameters that are no fields (`InitVar`) are among those of `fields_by_name` alone.
    """
    if not isinstance(cls, ClassObject):
        return []
    return [spec for spec in fields_by_name(interp, cls).values() if not spec.init_only]


def fields_by_name(interp: Interpreter, cls: ClassObject) -> dict[str, FieldSpec]:
    """Return the dataclass fields by name, in the order of `fields_of`."""
    if cls.declared is None:
        found: dict[str, FieldSpec] = {}
        # As dataclasses do: each base brings all fields that it has itself, its inherited ones included.
        for base in reversed(mro(interp, cls)[1:]):
            if isinstance(base, ClassObject):
                found.update(fields_by_name(interp, base))
            elif base_name(base) not in PLAIN_BASES:
                # A base out of sight may give the fields of those behind it other defaults.
                found = {name: spec._replace(default=MISSING, factory=OUT_OF_SIGHT) for name, spec in found.items()}
        if is_dataclass(interp, cls) or has_base(interp, cls, NAMED_TUPLE):
            found.update((spec.name, spec) for spec in own_fields(interp, cls))
        cls.declared = found
    return cls.declared


def own_fields(interp: Interpreter, cls: ClassObject) -> list[FieldSpec]:
    """Return the fields that the class itself declares."""
    if cls.data is not None:
        return cls.data.field_specs(cls)
    assert cls.node is not None
    decorator, kind = record_kind(interp, cls) or (None, "")
    if kind == MODEL:
        return list(model_fields(interp, cls, namespace(interp, cls)))
    if kind in ATTRS and decorator is not None:
        return list(attrs_fields(cls, namespace(interp, cls), decorator, kind))
    keyword_only = isinstance(decorator, ast.Call) and any(
        keyword.arg == "kw_only" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in decorator.keywords
    )
    own = namespace(interp, cls)
    specs = []
    for node in cls.node.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if any("ClassVar" in word for word in _words(node.annotation)):
            continue
        if getattr(node.annotation, "id", getattr(node.annotation, "attr", "")) == "KW_ONLY":
            keyword_only = True
            continue
        spec = _spec(node.target.id, own.get(node.target.id, MISSING), keyword_only)
        specs.append(spec._replace(init_only="InitVar" in _words(node.annotation)))
    return specs


def _words(annotation: ast.expr) -> list[str]:
    """List the names and texts in an annotation."""
    if isinstance(annotation, ast.Name):
        return [annotation.id]
    words = []
    for node in nodes_in(annotation):
        words += [word for word in map(vars(node).get, ("id", "attr", "value")) if isinstance(word, str)]
    return words


def _spec(name: str, value: Object, keyword_only: bool) -> FieldSpec:
    options = field_of(value)
    if options is not None:
        return FieldSpec(
            name,
            options.get("default", MISSING),
            options.get("default_factory", MISSING),
            options.get("init", True) is not False,
            bool(options.get("kw_only", keyword_only) is True),
            metadata=options.get("metadata", None),
        )
    if isinstance(value, (Function, Descriptor)):
        value = MISSING if isinstance(value, Descriptor) else value
    return FieldSpec(name, value, keyword_only=keyword_only, metadata=None)


def enum_members(interp: Interpreter, cls: ClassObject) -> dict[str, EnumMember]:
    """Return the members of an enumeration by name."""
    if cls.members is None:
        cls.members = {}
        numbered: dict[int, Object] = {}
        for name, value in namespace(interp, cls).items():
            if name.startswith("_") or isinstance(value, (Function, Descriptor, ClassObject)):
                continue
            if isinstance(value, External) and value.name == "enum.auto()":
                # (`DEFAULT = SHARDED` is the same number again.)
                if id(value) not in numbered:
                    numbered[id(value)] = _next_value(interp, cls, name)
                value = numbered[id(value)]
            elif isinstance(value, Unknown) and has_base(interp, cls, *FLAGS):
                value = _of_flags(cls, name, value)
            elif isinstance(namespace(interp, cls).get("__new__"), Function):
                value = interp.unknown(name)
            twin = next(
                (
                    member
                    for member in cls.members.values()
                    if type(member.value) is type(value) and member.value == value
                ),
                None,
            )
            cls.members[name] = twin or _member(interp, cls, name, value)
    return cls.members


def _member(interp: Interpreter, cls: ClassObject, name: str, value: Object) -> EnumMember:
    """Make a member, with the attributes that the enumeration's own `__init__` gives it (enum of CPython)."""
    member = EnumMember(cls, name, value)
    given = value if isinstance(value, tuple) else (value,)
    constructor = lookup(interp, cls, "__init__")[0]
    if isinstance(constructor, Function):
        made = Instance(cls, interp.tick())
        made.fields |= {"name": name, "_name_": name, "value": value, "_value_": value}
        isolated(interp, partial(invoke, interp, constructor, Call([made, *given], {}, cls.node, Frame(cls.module))))
        member.value = made.fields.pop("_value_")
        member.fields = {key: item for key, item in made.fields.items() if key not in ("name", "_name_", "value")}
        return member
    mixed = [base for base in mro(interp, cls)[1:] if isinstance(base, ClassObject) and _fills(interp, base)]
    if mixed:
        # (A dataclass or a named tuple among the bases: the member is one, too.)
        call = Call(list(given), {}, cls.node, Frame(cls.module))
        member.value = isolated(interp, partial(invoke, interp, mixed[0], call))
        member.fields = dict(member.value.fields) if isinstance(member.value, Instance) else {}
    return member


def _fills(interp: Interpreter, cls: ClassObject) -> bool:
    return not is_enum(interp, cls) and (has_fields(interp, cls) or has_base(interp, cls, NAMED_TUPLE))


def _of_flags(cls: ClassObject, name: str, value: Object) -> Object:
    """Return the number of a flag that the body of its class puts together of others, which have theirs by then."""
    for node in cls.node.body if cls.node is not None else ():
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            found = _bits(node.value, cls.members or {})
            return value if found is None else found
    return value


def _bits(node: ast.expr, members: Mapping[str, EnumMember]) -> int | None:
    if isinstance(node, ast.Name) and node.id in members:
        number = members[node.id].value
        return number if isinstance(number, int) else None
    if isinstance(node, ast.BinOp) and type(node.op) in BITWISE:
        left, right = _bits(node.left, members), _bits(node.right, members)
        return None if left is None or right is None else BITWISE[type(node.op)](left, right)
    return None


BITWISE: Mapping[type, Callable[[int, int], int]] = {
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}


def combined(interp: Interpreter, kind: type, left: Object, right: Object) -> EnumMember | None:
    """Return the flag that `left | right`, or another of BITWISE, gives; None where they are no flags of one class."""
    if kind not in BITWISE or not isinstance(left, EnumMember) or not isinstance(right, EnumMember):
        return None
    numbers = bits_of(interp, left), bits_of(interp, right)
    if left.cls is not right.cls or numbers[0] is None or numbers[1] is None:
        return None
    return _of_bits(interp, left.cls, BITWISE[kind](numbers[0], numbers[1]))


def complement(interp: Interpreter, member: Object) -> EnumMember | None:
    """Return the flag that `~member` gives: all others of its class; None where it is no `enum.Flag` that is known."""
    number = bits_of(interp, member) if isinstance(member, EnumMember) else None
    if number is None or not isinstance(member, EnumMember) or has_base(interp, member.cls, "enum.IntFlag"):
        return None
    numbers = [bits_of(interp, each) for each in enum_members(interp, member.cls).values()]
    if None in numbers:
        return None
    every = 0
    for each in numbers:
        every |= each or 0
    return _of_bits(interp, member.cls, every & ~number)


def _of_bits(interp: Interpreter, cls: ClassObject, value: int) -> EnumMember:
    members = enum_members(interp, cls)
    known = next((member for member in members.values() if bits_of(interp, member) == value), None)
    key = ("flags", cls, value)
    if known is None and key not in interp.memo:
        names = [member.name for member in single_flags(interp, cls) or () if (bits_of(interp, member) or 0) & value]
        interp.memo[key] = EnumMember(cls, "|".join(names), value)
    return known or interp.memo[key]


def listed_members(interp: Interpreter, cls: ClassObject) -> list[EnumMember] | None:
    """List the members that a walk over an enumeration gives: none twice, and of flags those of one bit alone.

    So does Python from 3.11 on. None where the numbers of flags are not known.
    """
    if has_base(interp, cls, *FLAGS):
        return single_flags(interp, cls)
    return list(dict.fromkeys(enum_members(interp, cls).values()))


def single_flags(interp: Interpreter, cls: ClassObject) -> list[EnumMember] | None:
    """List the flags of one bit, in the order of their definition; None where a number is not known."""
    members = dict.fromkeys(enum_members(interp, cls).values())
    numbers = {member: bits_of(interp, member) for member in members}
    if None in numbers.values():
        return None
    return [member for member, number in numbers.items() if number and not number & (number - 1)]


def bits_of(interp: Interpreter, member: EnumMember) -> int | None:
    """Return the number of a flag; None of any other member, and of one whose number is not known."""
    is_flag = has_base(interp, member.cls, *FLAGS)
    return member.value if is_flag and type(member.value) is int else None


def _next_value(interp: Interpreter, cls: ClassObject, name: str) -> Object:
    """Return the value that `auto()` gives the next member."""
    values = [member.value for member in cls.members.values()] if cls.members else []
    if lookup(interp, cls, "_generate_next_value_")[0] is not MISSING:
        return interp.unknown(name)
    if has_base(interp, cls, "enum.StrEnum"):
        return name.lower()
    numbers = [value for value in values if type(value) is int]
    if len(numbers) != len(values):
        return interp.unknown(name)
    highest = max(numbers, default=0)
    return 1 << highest.bit_length() if has_base(interp, cls, *FLAGS) else highest + 1


def metaclass(interp: Interpreter, cls: ClassObject) -> Object:
    """Return the metaclass that the program names; None where it is Python's own."""
    for base in mro(interp, cls):
        if not isinstance(base, ClassObject) or base.node is None:
            continue
        for keyword in base.node.keywords:
            if keyword.arg == "metaclass":
                return evaluate(interp, keyword.value, base.closure or Frame(base.module))
    return None


def class_names(interp: Interpreter, cls: Object) -> list[str]:
    """List the dotted names of a class and all its bases."""
    if isinstance(cls, ClassObject):
        return [base.qualified_name if isinstance(base, ClassObject) else base_name(base) for base in mro(interp, cls)]
    return [base_name(cls)]


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
        return agreed([None if option is MISSING else is_instance(interp, option, cls) for option in value.options])
    if isinstance(cls, (tuple, ListObject)):
        options = cls if isinstance(cls, tuple) else cls.items or ()
        found = [is_instance(interp, value, one) for one in options]
        return True if True in found else None if None in found or not found else False
    if type(value) is StandardObject and isinstance(cls, (Native, External)):
        return standard_objects.is_instance(value, cls.name)
    if type(value) is StandardObject and isinstance(cls, ClassObject):
        return False
    if type(value) is PartlyKnown and isinstance(cls, Native) and cls.name.removeprefix("builtins.") in PYTHON_TYPES:
        # (That of a path tells from what it was made.)
        is_text = cls.name in ("builtins.str", "builtins.object")
        return None if is_text and value.text else is_text
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
                return agreed([is_subclass(interp, candidate, cls) for candidate in value.cls.options])
            return is_subclass(interp, value.cls, cls)
        if isinstance(value, EnumMember) or (isinstance(value, DictObject) and value.cls is not None):
            return is_subclass(interp, value.cls, cls)
        return None if isinstance(value, External) else False
    return None


def _is_builtin_instance(interp: Interpreter, value: Object, name: str) -> bool | None:
    types = PYTHON_TYPES.get(name)
    if name == "type":
        return _is_class(value)
    if types is None or isinstance(value, External):
        return None
    if isinstance(value, (Instance, EnumMember)) and name != "object":
        classes = value.cls.options if isinstance(value.cls, Choice) else (value.cls,)
        names = {name, AS_CLASSES.get(name, name)}
        return agreed([not names.isdisjoint(class_names(interp, cls)) for cls in classes])
    if name in ("list", "set"):
        return isinstance(value, SetObject) if name == "set" else type(value) is ListObject
    return isinstance(value, types)


def _is_class(value: Object) -> bool | None:
    if isinstance(value, Native):
        module, _, name = value.name.rpartition(".")
        return isinstance(getattr(builtins, name, None), type) if module == "builtins" else None
    return None if isinstance(value, External) else isinstance(value, ClassObject)


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
