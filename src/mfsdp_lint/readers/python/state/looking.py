"""Recognition of functions, handed to a library, that only look at the arguments they may be called with.

Such a function is not run: the library decides when to call it, and with which parts of its own arguments.
"""

from __future__ import annotations

import ast
import builtins

from mfsdp_lint.readers.python.state.effects import Effect, effect, effect_of_method
from mfsdp_lint.readers.python.values.objects import Bound, Function, Object, Partial


def only_looks(value: Object) -> bool:
    """Tell whether calling a value surely leaves its arguments as they are, by the code of the value."""
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
