"""Expressions by kind; comprehensions, generator expressions, and text made from values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.recipe import COMPREHENSION
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.python.eval.assignments import assign, assign_name, bind
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import choose, connected, known_truth
from mfsdp_lint.readers.python.eval.calls import evaluate_call
from mfsdp_lint.readers.python.eval.classes import complement, special
from mfsdp_lint.readers.python.eval.containers import (
    absorbed,
    absorbed_writes,
    any_of,
    as_mapping,
    entry,
    hashable,
    make_set,
    make_tuple,
    present,
    some_of,
)
from mfsdp_lint.readers.python.eval.functions import evaluate_defaults
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.eval.iteration import (
    as_text,
    called,
    elements,
    has_methods,
    iterate,
    known_part,
    operated,
    ordered,
    text_of_parts,
)
from mfsdp_lint.readers.python.eval.loops import yield_unknown
from mfsdp_lint.readers.python.eval.operators import binary, compare, sign
from mfsdp_lint.readers.python.eval.unfollowed import why_unknown
from mfsdp_lint.readers.python.state.calling import BUILTINS, EVALUATORS, GeneratorCall, awaited, evaluate, invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised, kept
from mfsdp_lint.readers.python.state.texts import Text
from mfsdp_lint.readers.python.state.truth import join, negated
from mfsdp_lint.readers.python.state.variables import copied_environment, is_environment
from mfsdp_lint.readers.python.values.bounds import is_small, is_wide
from mfsdp_lint.readers.python.values.code import Call, plain
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, OBSTACLE, TAKEN_AWAY
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    Frame,
    Function,
    Instance,
    IteratorObject,
    ListObject,
    Module,
    Object,
    Unknown,
    Write,
    blame,
    derived,
    is_symbolic,
    obstacle_of,
    uncertain,
)


def comprehension(interp: Interpreter, node: Any, frame: Frame) -> Object:
    """Return the value of a comprehension or generator expression."""
    found: list[Object] = []
    if (some := _some_variables(interp, node, frame)) is not None:
        return some
    inner = Frame(frame.module, COMPREHENSION, frame, frame.caller, frame.node, interp.tick())
    mark, born = len(interp.path.journal), interp.clock + 1
    try:
        exact = _generate(interp, node, node.generators, inner, found.append)
    except Raised as error:
        if not isinstance(node, ast.GeneratorExp):
            raise
        if interp.touched_older(mark, born):
            return _later(interp, node, inner, mark)
        return IteratorObject(found, interp.tick(), kept(error))
    is_deferred = isinstance(node, ast.GeneratorExp) and exact and interp.touched_older(mark, born)
    if is_deferred and not any(map(uncertain, found)):
        return _later(interp, node, inner, mark)
    items: Any = found if exact else None
    if isinstance(node, ast.DictComp):
        made = interp.gave[node] = _dict_from_pairs(interp, found, exact)
    elif isinstance(node, ast.SetComp):
        made = make_set(interp, items)
    else:
        made = (IteratorObject if isinstance(node, ast.GeneratorExp) else ListObject)(items, interp.tick())
    blame(made, inner.fields.get(OBSTACLE))
    return made


def _some_variables(interp: Interpreter, node: Any, frame: Frame) -> Object | None:
    """Return a copy of the environment without the variables that a comprehension leaves out by their names; None for
    any other expression.
    """
    match node:
        case ast.DictComp(
            key=ast.Name(id=key),
            value=ast.Name(id=value),
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=content)]),
                    iter=ast.Call(
                        func=ast.Attribute(value=ast.Attribute() | ast.Name() as holder, attr="items"), args=[]
                    ),
                    ifs=tests,
                )
            ],
        ) if (key, value) == (name, content) and is_environment(interp.settle(evaluate(interp, holder, frame))):
            pass
        case _:
            return None
    made = copied_environment(interp)
    inner = Frame(frame.module, COMPREHENSION, frame, frame.caller, frame.node, interp.tick())
    gone: set[str] = set()
    for each in (*made.fields, *sorted(table().variables - made.fields.keys())):
        inner.fields |= {name: each, content: interp.unknown(str(each))}
        kept = [_may_keep(interp, test, inner) for test in tests]
        if False in kept:
            gone.add(str(each))
        elif None in kept and each in made.fields:
            made.fields[each] = interp.unknown(str(each))
    made.fields = {each: given for each, given in made.fields.items() if each not in gone}
    made.writes[TAKEN_AWAY] = made.writes.get(TAKEN_AWAY, frozenset()) | gone
    return made


def _may_keep(interp: Interpreter, test: ast.expr, frame: Frame) -> bool | None:
    """Evaluate a condition for a variable that may not be there: then it raises nothing."""
    try:
        return known_truth(interp, evaluate(interp, test, frame), test, frame)
    except Raised:
        return None


def _later(interp: Interpreter, node: ast.GeneratorExp, inner: Frame, mark: int) -> GeneratorCall:
    """Defer a generator expression whose elements change something when made, until they are asked for."""
    interp.rollback(mark)

    def run(on_yield: Callable[[Object], Object]) -> None:
        _generate(interp, node, node.generators, inner, on_yield)

    return GeneratorCall(interp, inner, run)


def _dict_from_pairs(interp: Interpreter, pairs: list[Any], exact: bool) -> Object:
    result = DictObject({}, interp.tick())
    for key, value, write in pairs:
        key = plain(interp.settle(key))
        if not hashable(key):
            exact = False
        elif uncertain(value) and key in result.fields:
            result.fields[key] = join(interp, [present(interp, value), result.fields[key]])
        else:
            result.fields[key], result.writes[key] = value, write
    if not exact:
        result.writes[MAY_HAVE_CHANGED] = True
        for key in result.fields:
            result.fields[key] = interp.unknown(str(key))
    return result


def _generate(
    interp: Interpreter,
    node: Any,
    generators: list[ast.comprehension],
    frame: Frame,
    found: Callable[[Object], Object],
    maybe: bool = False,
) -> bool:
    """Collect the elements of a comprehension; whether that is all of them. `maybe`: they may also be missing."""
    if not generators:
        interp.step()
        found(_produced_element(interp, node, frame, maybe))
        return True
    first, rest = generators[0], generators[1:]
    iterable = interp.settle(evaluate(interp, first.iter, frame))
    items = iterable.items if type(iterable) is ListObject else iterate(interp, iterable, frame)
    if items is None:
        frame.fields[OBSTACLE] = why_unknown(iterable, first.iter, frame)
        return False
    exact = True
    for position, item in enumerate(items):
        interp.step()
        frame.bindings[first] = position
        # One that may be missing is another value once it is taken to be there.
        taken = present(interp, item) if uncertain(item) else item
        assign(interp, first.target, taken, node, frame)
        keep: bool | None = True
        for test in first.ifs:
            answer = known_truth(interp, evaluate(interp, test, frame), test, frame)
            keep = answer if answer is not None else None if keep else keep
            if answer is False:
                break
        if keep is not False:
            exact = _generate(interp, node, rest, frame, found, maybe or taken is not item or keep is None) and exact
    return exact


def _produced_element(interp: Interpreter, node: Any, frame: Frame, maybe: bool) -> Any:
    key = evaluate(interp, node.key, frame) if isinstance(node, ast.DictComp) else None
    value = evaluate(interp, node.value if isinstance(node, ast.DictComp) else node.elt, frame)
    if maybe:
        value = Choice((*(value.options if isinstance(value, Choice) else (value,)), MISSING))
    if not isinstance(node, ast.DictComp):
        return value
    return key, value, interp.note(node.value, frame, node.value, "assigned", value, None)


def formatted(interp: Interpreter, node: ast.JoinedStr, frame: Frame) -> Object:
    """Return the value of an f-string."""
    texts: list[str | None] = []
    values: list[Object] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            texts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        values.append(evaluate(interp, part.value, frame))
        texts.append(_formatted_text(interp, part, interp.settle(values[-1]), frame))
    return text_of_parts(interp, texts, values)


def _formatted_text(interp: Interpreter, part: ast.FormattedValue, value: Object, frame: Frame) -> str | None:
    spec = ""
    if part.format_spec is not None:
        found = interp.settle(evaluate(interp, part.format_spec, frame))
        if not isinstance(found, str) or is_wide(found):
            return None
        spec = found
    if part.conversion in (ord("r"), ord("a")):
        spell = repr if part.conversion == ord("r") else ascii
        value = spell(value) if isinstance(value, CONSTANTS) and is_small(value) else None
    elif part.conversion == ord("s") or is_symbolic(value):
        value = as_text(interp, value)
    if part.conversion > 0 and (value is None or (spec and is_symbolic(value))):
        return None
    if spec and is_symbolic(value):
        return None
    if spec and isinstance(value, CONSTANTS):
        try:
            return format(value, spec)
        except (ValueError, TypeError) as error:
            raise Raised(type(error).__name__, str(error)) from None
    text = known_part(interp, value)
    return None if text is None or (spec and not isinstance(value, CONSTANTS)) else text


def load_name(interp: Interpreter, name: str, frame: Frame) -> Object:
    """Return the value of a name: local, of an enclosing function, global, or built in."""
    here: Frame | None = frame
    while here is not None:
        found: Object = here.fields.get(name, MISSING)
        if found is not MISSING and here.fields is not here.module.fields and name not in here.outer:
            return present(interp, found) if uncertain(found) else found
        here = here.enclosing
        while here is not None and here.is_class:
            here = here.enclosing
    builtin, module = BUILTINS.get(name), frame.module
    if builtin is not None and type(module) is Module and module.ran and not module.stars and not module.is_package:
        # Nobody else can have that name if the module has not.
        found = resolve_global(interp, module, name) if name in module.fields else builtin
    else:
        found = resolve_global(interp, module, name)
    if found is not MISSING:
        return present(interp, found) if uncertain(found) else found
    if builtin is not None:
        return builtin
    raise Raised("NameError", f"name '{name}' is not defined")


def _name(interp: Interpreter, node: ast.Name, frame: Frame) -> Object:
    found: Object = frame.fields.get(node.id, MISSING)
    if found is MISSING or type(found) is Choice or frame.fields is frame.module.fields or frame.outer:
        return load_name(interp, node.id, frame)
    return found


def _attribute(interp: Interpreter, node: ast.Attribute, frame: Frame) -> Object:
    value = node.value
    return get_attribute(interp, EVALUATORS[type(value)](interp, value, frame), node.attr, node, frame)


def _binary(interp: Interpreter, node: ast.BinOp, frame: Frame) -> Object:
    left, right = evaluate(interp, node.left, frame), evaluate(interp, node.right, frame)
    if has_methods(left) or has_methods(right):
        found = operated(interp, type(node.op), left, right, node, frame)
        if found is not MISSING:
            return found
    result = binary(interp, type(node.op), left, right)
    if type(result) is Unknown and result.obstacle is None:
        result.obstacle = obstacle_of(left, right)
    return derived(result, left, right)


def _unary(interp: Interpreter, node: ast.UnaryOp, frame: Frame) -> Object:
    operand = evaluate(interp, node.operand, frame)
    value = interp.settle(operand)
    if isinstance(node.op, ast.Not):
        known = known_truth(interp, value, node, frame)
        if known is None:
            return negated(interp, value)
        return derived(not known, operand)
    if isinstance(value, Instance):
        names = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
        found = called(interp, value, names[type(node.op)], node, frame)
        return interp.unknown("", not_none=True) if found is MISSING else found
    if isinstance(node.op, ast.Invert) and (others := complement(interp, value)) is not None:
        return others
    if isinstance(value, Choice):
        return join(interp, [sign(interp, node.op, option) for option in value.options])
    return derived(sign(interp, node.op, value), operand)


def _if_expression(interp: Interpreter, node: ast.IfExp, frame: Frame) -> Object:
    def side(expression: ast.expr, is_true: bool) -> Object:
        found = evaluate(interp, expression, frame)
        interp.gave[node] = is_true
        return found

    return choose(interp, node.test, frame, lambda: side(node.body, True), lambda: side(node.orelse, False))


def _compare(interp: Interpreter, node: ast.Compare, frame: Frame) -> Object:
    left = evaluate(interp, node.left, frame)
    result: Object = True
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = evaluate(interp, right_node, frame)
        result = _compared(interp, op, left, right, node, frame)
        if len(node.ops) == 1:
            return derived(result, left, right)
        if result is False:
            return False
        if result is not True:
            return interp.unknown(ast.unparse(node), not_none=True)
        left = right
    return result


def _compared(interp: Interpreter, op: ast.cmpop, left: Object, right: Object, node: ast.AST, frame: Frame) -> Object:
    if not isinstance(left, (Instance, EnumMember)) and not isinstance(right, (Instance, EnumMember)):
        return compare(interp, op, left, right, node, frame)
    if isinstance(left, Instance) or isinstance(right, Instance):
        kind = ast.Eq if isinstance(op, ast.NotEq) else type(op)
        found = ordered(interp, kind, left, right, node, frame)
        if found is not MISSING:
            known = known_truth(interp, found, node, frame) if isinstance(op, ast.NotEq) else None
            return found if not isinstance(op, ast.NotEq) else negated(interp, found) if known is None else not known
    if isinstance(op, (ast.In, ast.NotIn)) and special(interp, right, "__contains__") is not None:
        method = special(interp, right, "__contains__")
        known = known_truth(interp, invoke(interp, method, Call([right, left], {}, node, frame)), node, frame)
        return interp.unknown("", not_none=True) if known is None else known is not isinstance(op, ast.NotIn)
    return compare(interp, op, left, right, node, frame)


def _tuple(interp: Interpreter, node: ast.Tuple, frame: Frame) -> Object:
    items = _elements(interp, node.elts, frame)
    made = make_tuple(interp, items)
    if items and isinstance(made, tuple):
        interp.tell_joined(made, items)
    return made


def _list(interp: Interpreter, node: ast.List, frame: Frame) -> Object:
    return ListObject(_elements(interp, node.elts, frame), interp.tick())


def _elements(interp: Interpreter, nodes: list[ast.expr], frame: Frame) -> list[Object] | None:
    """Evaluate the elements of a display, and note who wrote those of the program: they may go through many hands."""
    items: list[Object] = []
    writes: list[Write | None] = []
    known = True
    for item in nodes:
        if isinstance(item, ast.Starred):
            whole = evaluate(interp, item.value, frame)
            more = elements(interp, whole, frame)
            # However many elements these are, the others are worked out all the same: they may change things.
            known = known and more is not None
            items.extend(more or ())
            writes.extend(interp.writers(interp.settle(whole)) or [None] * len(more or ()))
        else:
            items.append(evaluate(interp, item, frame))
            writes.append(
                interp.note(item, frame, item, "assigned", items[-1], None) if frame.module.of_program else None
            )
    if len(writes) == len(items) and any(writes):
        interp.tell_pieces(items, writes)
    return items if known else None


def _dict(interp: Interpreter, node: ast.Dict, frame: Frame) -> Object:
    result = DictObject({}, interp.tick())
    result.made = interp.note(node, frame, None, "default", None, None)
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(interp, value_node, frame)
        if key_node is None:
            value = as_mapping(interp, value, node, frame)
            if isinstance(value, DictObject):
                result.writes = absorbed_writes(result, value)
                result.fields = absorbed(interp, result.fields, value)
            else:
                interp.record(result, MAY_HAVE_CHANGED, True)
                for key in list(result.fields):
                    result.fields[key] = interp.unknown(str(key))
            continue
        key = plain(interp.settle(evaluate(interp, key_node, frame)))
        if not hashable(key):
            interp.record(result, MAY_HAVE_CHANGED, True)
            result.fields = {
                known: join(interp, [old, interp.unknown(str(known))]) for known, old in result.fields.items()
            }
            continue
        result.fields[key] = value
        result.writes[key] = interp.note(value_node, frame, value_node, "assigned", value, None)
    return result


def _subscript(interp: Interpreter, node: ast.Subscript, frame: Frame) -> Object:
    value, key = evaluate(interp, node.value, frame), evaluate(interp, node.slice, frame)
    if isinstance(node.slice, ast.Slice) and isinstance(key, Unknown):
        return some_of(interp, interp.settle(value))
    return entry(interp, value, key, node, frame)


def _slice(interp: Interpreter, node: ast.Slice, frame: Frame) -> Object:
    parts = [
        None if part is None else interp.settle(evaluate(interp, part, frame))
        for part in (node.lower, node.upper, node.step)
    ]
    if all(part is None or isinstance(part, int) for part in parts):
        return slice(*parts)
    return interp.unknown("slice", not_none=True)


def _lambda(interp: Interpreter, node: ast.Lambda, frame: Frame) -> Object:
    function = Function(node, frame.module, None if frame.fields is frame.module.fields else frame, "<lambda>")
    evaluate_defaults(interp, function, node.args, frame)
    return function


def _walrus(interp: Interpreter, node: ast.NamedExpr, frame: Frame) -> Object:
    value = evaluate(interp, node.value, frame)
    here = frame
    while here.function == COMPREHENSION and here.enclosing is not None:
        here = here.enclosing
    assign_name(interp, node.target.id, value, here)
    bind(node.target.id, value, node.value, here)
    return value


def _yield(interp: Interpreter, node: ast.Yield, frame: Frame) -> Object:
    value = evaluate(interp, node.value, frame) if node.value is not None else None
    if frame.on_yield is None:
        return interp.unknown("yield")
    interp.yielded = Text(node.value, frame) if node.value is not None else None
    return frame.on_yield(value)


def _yield_from(interp: Interpreter, node: ast.YieldFrom, frame: Frame) -> Object:
    source = interp.settle(evaluate(interp, node.value, frame))
    if frame.on_yield is None:
        return interp.unknown("yield")
    if isinstance(source, GeneratorCall) and source.state == "new":
        interp.yielded = Text(_element(node.value, 0), frame)  # unless the generator says it with a `yield`
        source.run(frame.on_yield)
        return source.returned
    items = elements(interp, source, frame)
    if items is None or any(map(uncertain, items)):
        return yield_unknown(interp, node, any_of(interp, items or ()), frame)
    for position, item in enumerate(items):
        interp.yielded = Text(_element(node.value, position), frame)
        frame.on_yield(item)
    return None


def _element(iterable: ast.expr, position: int) -> ast.expr:
    """Return the expression that gives an element of an iterable."""
    if isinstance(iterable, (ast.GeneratorExp, ast.ListComp)):
        return iterable.elt
    return ast.Subscript(iterable, ast.Constant(position), ast.Load())


EVALUATORS.update(
    {
        ast.Constant: lambda interp, node, frame: node.value,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: evaluate_call,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.BoolOp: lambda interp, node, frame: connected(interp, node.values, isinstance(node.op, ast.And), frame),
        ast.IfExp: _if_expression,
        ast.Compare: _compare,
        ast.Tuple: _tuple,
        ast.List: _list,
        ast.Set: lambda interp, node, frame: make_set(interp, _elements(interp, node.elts, frame)),
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
        ast.Starred: lambda interp, node, frame: evaluate(interp, node.value, frame),
        ast.Yield: _yield,
        ast.YieldFrom: _yield_from,
        ast.Await: lambda interp, node, frame: awaited(interp, evaluate(interp, node.value, frame)),
    }
)
