"""The value of an expression in upstream source, as far as it is written down there."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from tools.vocabulary.trees import Module

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}

_EMPTY: dict[str, Any] = {
    "list": [],
    "dict": {},
    "tuple": [],
    "set": [],
    "bool": False,
    "int": 0,
    "float": 0.0,
    "str": "",
}


def value_of(module: Module, node: ast.AST) -> Value:
    """Evaluate an expression at the top of a module.

    An enum member gives its name, a dtype its dotted name; a class, a function or an object is set to an unknown
    value. An expression that only running the code would decide (`os.getenv(…)`) is unknown.
    """
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return Known(value)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _arithmetic(Known(0), ast.Sub(), value_of(module, inner))
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(value_of(module, left), op, value_of(module, right))
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            values = [value_of(module, item) for item in items]
            known = [value.value for value in values if isinstance(value, Known)]
            return Known(known) if len(known) == len(values) else NOT_NONE
        case ast.Dict(keys=keys, values=items):
            entries = [
                (value_of(module, key) if key else UNKNOWN, value_of(module, item))
                for key, item in zip(keys, items, strict=True)
            ]
            plain = {k.value: v.value for k, v in entries if isinstance(k, Known) and isinstance(v, Known)}
            return Known(plain) if len(plain) == len(entries) else NOT_NONE  # type: ignore[arg-type]  # keys as the source has them
        case ast.Lambda() | ast.ClassDef() | ast.FunctionDef():
            return NOT_NONE
        case ast.Name(id=name):
            found_at = module.find(name)
            return UNKNOWN if found_at is None else value_of(*found_at)
        case ast.Attribute():
            return _attribute(module, node)
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in _EMPTY:
            return Known(_EMPTY[name])
        case ast.Call(func=ast.Name(id=name)) if _is_class(module, name):
            return NOT_NONE
        case _:
            return UNKNOWN


def called(module: Module, factory: ast.expr) -> Value:
    """Return the result of a dataclass field's factory."""
    if isinstance(factory, ast.Lambda):
        return value_of(module, factory.body)
    return value_of(module, ast.Call(factory, [], []))


def _is_class(module: Module, name: str) -> bool:
    found = module.find(name)
    return found is not None and isinstance(found[1], ast.ClassDef)


def _arithmetic(left: Value, op: ast.operator, right: Value) -> Value:
    compute = _BINARY.get(type(op))
    if compute is None or not isinstance(left, Known) or not isinstance(right, Known):
        return UNKNOWN
    try:
        return Known(compute(left.value, right.value))
    except (TypeError, ArithmeticError):
        return UNKNOWN


def _attribute(module: Module, node: ast.Attribute) -> Value:
    dotted = ast.unparse(node)
    if dotted.startswith("torch.") and dotted.count(".") == 1:
        return Known(dotted)
    if isinstance(node.value, ast.Name):
        found = module.find(node.value.id)
        if found is not None and isinstance(found[1], ast.ClassDef):
            return Known(node.attr) if is_enum(*found) else NOT_NONE
        if module.qualified(node.value.id) in ("torch.nn.functional", "torch.nn.init"):
            return NOT_NONE
    return UNKNOWN


def is_enum(module: Module, node: ast.AST) -> bool:
    """Tell whether a class is an enumeration, by the names of its bases."""
    if not isinstance(node, ast.ClassDef):
        return False
    for base in node.bases:
        if ast.unparse(base).rpartition(".")[2] in ("Enum", "IntEnum", "StrEnum"):
            return True
        found = module.find(base.id) if isinstance(base, ast.Name) else None
        if found is not None and is_enum(*found):
            return True
    return False


def members(node: ast.ClassDef) -> list[str]:
    """Return the names of an enumeration's members, in their order."""
    return [
        target.id
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]
