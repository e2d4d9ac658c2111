"""The value of an expression."""

from __future__ import annotations

import ast

from mfsdp_lint.readers.python.eval.assignments import assign_name, bind
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.binding import evaluate_defaults
from mfsdp_lint.readers.python.eval.branches import choose, known_truth
from mfsdp_lint.readers.python.eval.call_expressions import evaluate_call
from mfsdp_lint.readers.python.eval.comparisons import compare
from mfsdp_lint.readers.python.eval.comprehensions import COMPREHENSION, comprehension
from mfsdp_lint.readers.python.eval.connectives import connected
from mfsdp_lint.readers.python.eval.containers import (
    absorbed,
    any_of,
    as_mapping,
    entry,
    hashable,
    make_set,
    make_tuple,
    some_of,
)
from mfsdp_lint.readers.python.eval.formatting import formatted
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.eval.iteration import elements, uncertain
from mfsdp_lint.readers.python.eval.loops import yield_unknown
from mfsdp_lint.readers.python.eval.operators import binary, sign
from mfsdp_lint.readers.python.eval.protocols import called, operated, ordered, special
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.generators import GeneratorCall, awaited
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import BUILTINS
from mfsdp_lint.readers.python.state.nodes import EVALUATORS, evaluate
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.texts import Text
from mfsdp_lint.readers.python.state.truth import negated
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.classes import plain
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    Function,
    Instance,
    ListObject,
    Object,
    Unknown,
    derived,
    obstacle_of,
)


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Object:
    return node.value


def load_name(machine: Machine, name: str, frame: Frame) -> Object:
    """Return the value of a name: local, of an enclosing function, global, or built in."""
    here: Frame | None = frame
    while here is not None:
        found: Object = here.fields.get(name, MISSING)
        if found is not MISSING and here.fields is not here.module.fields and name not in here.outer:
            if isinstance(found, Choice) and any(option is MISSING for option in found.options):
                return join(machine, [option for option in found.options if option is not MISSING])
            return found
        here = here.enclosing
        while here is not None and here.is_class:
            here = here.enclosing
    builtin, module = BUILTINS.get(name), frame.module
    if builtin is not None and type(module) is Module and module.ran and not module.stars and not module.is_package:
        # Nobody else can have that name if the module has not.
        found = resolve_global(machine, module, name) if name in module.fields else builtin
    else:
        found = resolve_global(machine, module, name)
    if found is not MISSING:
        if isinstance(found, Choice) and any(option is MISSING for option in found.options):
            return join(machine, [option for option in found.options if option is not MISSING])
        return found
    if builtin is not None:
        return builtin
    raise Raised("NameError", f"name '{name}' is not defined")


def _name(machine: Machine, node: ast.Name, frame: Frame) -> Object:
    found: Object = frame.fields.get(node.id, MISSING)
    if found is MISSING or type(found) is Choice or frame.fields is frame.module.fields or frame.outer:
        return load_name(machine, node.id, frame)
    return found


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Object:
    value = node.value
    return get_attribute(machine, EVALUATORS[type(value)](machine, value, frame), node.attr, node, frame)


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Object:
    left, right = evaluate(machine, node.left, frame), evaluate(machine, node.right, frame)
    if isinstance(left, (Instance, EnumMember)) or isinstance(right, (Instance, EnumMember)):
        found = operated(machine, type(node.op), left, right, node, frame)
        if found is not MISSING:
            return found
    result = binary(machine, type(node.op), left, right)
    if type(result) is Unknown and result.obstacle is None:
        result.obstacle = obstacle_of(left, right)
    return derived(result, left, right)


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Object:
    operand = evaluate(machine, node.operand, frame)
    value = machine.settle(operand)
    if isinstance(node.op, ast.Not):
        known = known_truth(machine, value, node, frame)
        if known is None:
            return negated(machine, value)
        return derived(not known, operand)
    if isinstance(value, Instance):
        names = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
        found = called(machine, value, names[type(node.op)], node, frame)
        return machine.unknown("", not_none=True) if found is MISSING else found
    if isinstance(value, Choice):
        return join(machine, [sign(machine, node.op, option) for option in value.options])
    return derived(sign(machine, node.op, value), operand)


def _boolean(machine: Machine, node: ast.BoolOp, frame: Frame) -> Object:
    return connected(machine, node.values, isinstance(node.op, ast.And), frame)


def _if_expression(machine: Machine, node: ast.IfExp, frame: Frame) -> Object:
    return choose(
        machine,
        node.test,
        frame,
        lambda: evaluate(machine, node.body, frame),
        lambda: evaluate(machine, node.orelse, frame),
    )


def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> Object:
    left = evaluate(machine, node.left, frame)
    result: Object = True
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = evaluate(machine, right_node, frame)
        result = _compared(machine, op, left, right, node, frame)
        if len(node.ops) == 1:
            return derived(result, left, right)
        if result is False:
            return False
        if result is not True:
            return machine.unknown(ast.unparse(node), not_none=True)
        left = right
    return result


def _compared(machine: Machine, op: ast.cmpop, left: Object, right: Object, node: ast.AST, frame: Frame) -> Object:
    if not isinstance(left, (Instance, EnumMember)) and not isinstance(right, (Instance, EnumMember)):
        return compare(machine, op, left, right, node, frame)
    if isinstance(left, Instance) or isinstance(right, Instance):
        kind = ast.Eq if isinstance(op, ast.NotEq) else type(op)
        found = ordered(machine, kind, left, right, node, frame)
        if found is not MISSING:
            known = known_truth(machine, found, node, frame) if isinstance(op, ast.NotEq) else None
            return found if not isinstance(op, ast.NotEq) else negated(machine, found) if known is None else not known
    if isinstance(op, (ast.In, ast.NotIn)) and special(machine, right, "__contains__") is not None:
        method = special(machine, right, "__contains__")
        known = known_truth(machine, invoke(machine, method, Call([right, left], {}, node, frame)), node, frame)
        return machine.unknown("", not_none=True) if known is None else known is not isinstance(op, ast.NotIn)
    return compare(machine, op, left, right, node, frame)


def _tuple(machine: Machine, node: ast.Tuple, frame: Frame) -> Object:
    return make_tuple(machine, _elements(machine, node.elts, frame))


def _list(machine: Machine, node: ast.List, frame: Frame) -> Object:
    return ListObject(_elements(machine, node.elts, frame), machine.tick())


def _set(machine: Machine, node: ast.Set, frame: Frame) -> Object:
    return make_set(machine, _elements(machine, node.elts, frame))


def _elements(machine: Machine, nodes: list[ast.expr], frame: Frame) -> list[Object] | None:
    items: list[Object] = []
    known = True
    for item in nodes:
        if isinstance(item, ast.Starred):
            more = elements(machine, evaluate(machine, item.value, frame), frame)
            # However many elements these are, the others are worked out all the same: they may change things.
            known = known and more is not None
            items.extend(more or ())
        else:
            items.append(evaluate(machine, item, frame))
    return items if known else None


def _dict(machine: Machine, node: ast.Dict, frame: Frame) -> Object:
    result = DictObject({}, machine.tick())
    result.made = machine.note(node, frame, None, "default", None, None)
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(machine, value_node, frame)
        if key_node is None:
            value = as_mapping(machine, value, node, frame)
            if isinstance(value, DictObject):
                result.fields = absorbed(machine, result.fields, value)
                result.writes.update(value.writes)
            else:
                result.writes[HAZY] = True
                for key in list(result.fields):
                    result.fields[key] = machine.unknown(str(key))
            continue
        key = plain(machine.settle(evaluate(machine, key_node, frame)))
        if not hashable(key):
            result.writes[HAZY] = True
            result.fields = {
                known: join(machine, [old, machine.unknown(str(known))]) for known, old in result.fields.items()
            }
            continue
        result.fields[key] = value
        result.writes[key] = machine.note(value_node, frame, value_node, "assigned", value, None)
    return result


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Object:
    value, key = evaluate(machine, node.value, frame), evaluate(machine, node.slice, frame)
    if isinstance(node.slice, ast.Slice) and isinstance(key, Unknown):
        return some_of(machine, machine.settle(value))
    return entry(machine, value, key, node, frame)


def _slice(machine: Machine, node: ast.Slice, frame: Frame) -> Object:
    parts = [
        None if part is None else machine.settle(evaluate(machine, part, frame))
        for part in (node.lower, node.upper, node.step)
    ]
    if all(part is None or isinstance(part, int) for part in parts):
        return slice(*parts)
    return machine.unknown("slice", not_none=True)


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Object:
    function = Function(node, frame.module, _closure(frame), "<lambda>")
    evaluate_defaults(machine, function, node.args, frame)
    return function


def _closure(frame: Frame) -> Frame | None:
    return None if frame.fields is frame.module.fields else frame


def _walrus(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Object:
    value = evaluate(machine, node.value, frame)
    here = frame
    while here.function == COMPREHENSION and here.enclosing is not None:
        here = here.enclosing
    assign_name(machine, node.target.id, value, here)
    bind(node.target.id, value, node.value, here)
    return value


def _starred(machine: Machine, node: ast.Starred, frame: Frame) -> Object:
    return evaluate(machine, node.value, frame)


def _yield(machine: Machine, node: ast.Yield, frame: Frame) -> Object:
    value = evaluate(machine, node.value, frame) if node.value is not None else None
    if frame.on_yield is None:
        return machine.unknown("yield")
    machine.yielded = Text(node.value, frame) if node.value is not None else None
    return frame.on_yield(value)


def _yield_from(machine: Machine, node: ast.YieldFrom, frame: Frame) -> Object:
    source = machine.settle(evaluate(machine, node.value, frame))
    if frame.on_yield is None:
        return machine.unknown("yield")
    if isinstance(source, GeneratorCall) and source.state == "new":
        machine.yielded = Text(_element(node.value, 0), frame)  # unless the generator says it with a `yield`
        source.run(frame.on_yield)
        return source.returned
    items = elements(machine, source, frame)
    if items is None or any(map(uncertain, items)):
        return yield_unknown(machine, node, any_of(machine, items or ()), frame)
    for position, item in enumerate(items):
        machine.yielded = Text(_element(node.value, position), frame)
        frame.on_yield(item)
    return None


def _element(iterable: ast.expr, position: int) -> ast.expr:
    """Return the expression that gives an element of an iterable."""
    if isinstance(iterable, (ast.GeneratorExp, ast.ListComp)):
        return iterable.elt
    return ast.Subscript(iterable, ast.Constant(position), ast.Load())


def _await(machine: Machine, node: ast.Await, frame: Frame) -> Object:
    return awaited(machine, evaluate(machine, node.value, frame))


EVALUATORS.update(
    {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: evaluate_call,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.BoolOp: _boolean,
        ast.IfExp: _if_expression,
        ast.Compare: _compare,
        ast.Tuple: _tuple,
        ast.List: _list,
        ast.Set: _set,
        ast.Dict: _dict,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.JoinedStr: formatted,
        ast.Lambda: _lambda,
        ast.NamedExpr: _walrus,
        ast.ListComp: comprehension,
        ast.SetComp: comprehension,
        ast.GeneratorExp: comprehension,
        ast.DictComp: comprehension,
        ast.Starred: _starred,
        ast.Yield: _yield,
        ast.YieldFrom: _yield_from,
        ast.Await: _await,
    }
)
