"""Whether a function that is handed to a library only looks at what the library may call it with.

It is not run: the library decides when, and with which parts of what it was given.
"""

from __future__ import annotations

import ast
import builtins

from mfsdp_lint.readers.python.state.effects import Effect, effect, effect_of_method
from mfsdp_lint.readers.python.values.objects import Bound, Function, Object, Partial


def only_looks(value: Object) -> bool:
    """Whether calling a value surely leaves its arguments as they are, by what is written in it."""
    match value:
        case Function(unwrapped=None):
            return not any(_may_change(node, value) for node in ast.walk(value.node))
        case Bound(function=str(name)):
            return effect_of_method(name) <= Effect.KEEPS
        case Bound(function=function) | Partial(function=function):
            return only_looks(function)
    return False


def _may_change(node: ast.AST, function: Function) -> bool:
    match node:
        case ast.Attribute() | ast.Subscript():
            return not isinstance(node.ctx, ast.Load)
        case ast.AugAssign():
            return True
        case ast.Call(func=ast.Name(id=name)):
            known = hasattr(builtins, name) and name not in function.module.fields
            return not known or effect(f"builtins.{name}") > Effect.KEEPS
        case ast.Call(func=ast.Attribute(attr=name)):
            return effect_of_method(name) > Effect.KEEPS
        case ast.Call():
            return True
    return False
