"""The value of an expression."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import known_truth, truth
from mfsdp_lint.readers.python.eval.calls import call
from mfsdp_lint.readers.python.eval.comparisons import compare
from mfsdp_lint.readers.python.eval.comprehensions import comprehension
from mfsdp_lint.readers.python.eval.containers import (
    any_of,
    elements,
    entry,
    hashable,
    make_set,
    make_tuple,
    some_of,
    uncertain,
)
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.eval.methods import absorbed
from mfsdp_lint.readers.python.eval.operators import binary, negated, plain, sign
from mfsdp_lint.readers.python.library import BUILTINS
from mfsdp_lint.readers.python.state.machine import Frame, Machine, Raised, join
from mfsdp_lint.readers.python.state.modules import Module
from mfsdp_lint.readers.python.state.nodes import EVALUATORS, evaluate
from mfsdp_lint.readers.python.values.limits import LONGEST_TEXT, is_small, is_wide
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    EITHER,
    MISSING,
    Choice,
    DictObject,
    External,
    Function,
    Instance,
    ListObject,
    Object,
    Unknown,
    derived,
    is_symbolic,
)


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Object:
    return node.value


def load_name(machine: Machine, name: str, frame: Frame) -> Object:
    """The value of a name: local, of an enclosing function, global, or built in."""
    here: Frame | None = frame
    while here is not None:
        found = here.fields.get(name, MISSING)
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
    found = frame.fields.get(node.id, MISSING)
    if found is MISSING or type(found) is Choice or frame.fields is frame.module.fields or frame.outer:
        return load_name(machine, node.id, frame)
    return found


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Object:
    return get_attribute(machine, evaluate(machine, node.value, frame), node.attr, frame, node)


def _call(machine: Machine, node: ast.Call, frame: Frame) -> Object:
    function = evaluate(machine, node.func, frame)
    if (isinstance(function, External) and function.name == "super") or (
        isinstance(node.func, ast.Name) and node.func.id == "super"
    ):
        return _super(machine, node, frame, function)
    arguments: list[Object] = []
    for item in node.args:
        if isinstance(item, ast.Starred):
            value = evaluate(machine, item.value, frame)
            items = elements(machine, value, frame)
            if items is None or any(map(uncertain, items)):
                arguments += items or [value]
                return _call_with_unknown(machine, node, item, frame, function, arguments)
            arguments += items
        else:
            arguments.append(evaluate(machine, item, frame))
    keywords: dict[str, Object] = {}
    focus: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate(machine, keyword.value, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            focus[keyword.arg] = keyword
        else:
            _spread(machine, value, keywords, focus, frame)
    return call(machine, function, arguments, keywords, node, frame, focus)


def _spread(machine: Machine, value: Object, keywords: dict[str, Object], focus: dict[str, Any], frame: Frame) -> None:
    value = machine.settle(value)
    if isinstance(value, DictObject):
        for key, item in value.fields.items():
            if isinstance(key, str):
                keywords[key] = item
                write = value.writes.get(key)
                if write is not None and write is not True and write.module is frame.module:
                    focus[key] = write.focus or write.node
        if value.writes.get("<hazy>"):
            keywords["**"] = value
    else:
        keywords["**"] = value


def _call_with_unknown(
    machine: Machine, node: ast.Call, last: ast.expr, frame: Frame, function: Object, arguments: list[Object]
) -> Object:
    """A call of which it is not known how many arguments it has; those up to `last` were evaluated."""
    from mfsdp_lint.readers.python.eval.unfollowed import unfollowed

    arguments += (evaluate(machine, item, frame) for item in node.args[node.args.index(last) + 1 :])
    keywords = {keyword.arg or "**": evaluate(machine, keyword.value, frame) for keyword in node.keywords}
    return unfollowed(machine, ast.unparse(node.func), arguments, keywords, frame, node)


def _super(machine: Machine, node: ast.Call, frame: Frame, function: Object) -> Object:
    from mfsdp_lint.readers.python.values.objects import Super

    if len(node.args) == 2:
        return Super(evaluate(machine, node.args[0], frame), evaluate(machine, node.args[1], frame))
    here: Frame | None = frame
    while here is not None and here.cls is None:
        here = here.enclosing
    if here is None or not here.fields:
        return machine.unknown("super()")
    owner = next(iter(here.fields.values()))
    return Super(here.cls, owner)


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Object:
    left, right = evaluate(machine, node.left, frame), evaluate(machine, node.right, frame)
    return derived(binary(machine, type(node.op), left, right), left, right)


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Object:
    operand = evaluate(machine, node.operand, frame)
    value = machine.settle(operand)
    if isinstance(node.op, ast.Not):
        known = known_truth(machine, value, frame, node)
        if known is None:
            return negated(machine, value)
        return derived(not known, operand)
    if isinstance(value, Choice):
        return join(machine, [sign(machine, node.op, option) for option in value.options])
    return derived(sign(machine, node.op, value), operand)


def _boolean(machine: Machine, node: ast.BoolOp, frame: Frame) -> Object:
    return _connected(machine, node.values, isinstance(node.op, ast.And), frame)


def _connected(machine: Machine, nodes: list[ast.expr], is_and: bool, frame: Frame) -> Object:
    open_values: list[Object] = []
    value: Object = None
    for position, item in enumerate(nodes):
        mark, started = len(machine.journal), machine.clock
        try:
            value = evaluate(machine, item, frame)
        except Raised:
            if not open_values:
                raise
            # Reached only if the operands before it did not decide, and then the program stops here.
            machine.doubts += 1
            machine.rollback(mark)
            return _either(machine, open_values[:-1], open_values[-1], is_and)
        if open_values and (_has_effect(machine, mark, started) or _is_object(value)):
            machine.rollback(mark)
            return _connected_either_way(machine, open_values, nodes, position, is_and, frame)
        known = known_truth(machine, value, frame, item)
        if known is None:
            open_values.append(value)
        elif known is not is_and:
            return value if not open_values else _either(machine, open_values, value, is_and)
    if open_values and open_values[-1] is value:
        open_values.pop()
    return value if not open_values else _either(machine, open_values, value, is_and)


def _has_effect(machine: Machine, mark: int, started: int) -> bool:
    return any(abs(owner.born) <= started for owner, *_ in machine.journal[mark:])


def _is_object(value: Object) -> bool:
    """Whether it matters which object it is: what is written to `config or default()` is written to one of the two."""
    options = value.options if isinstance(value, Choice) else (value,)
    return any(isinstance(option, (Instance, DictObject, ListObject)) for option in options)


def _connected_either_way(
    machine: Machine, open_values: list[Object], nodes: list[ast.expr], position: int, is_and: bool, frame: Frame
) -> Object:
    """An operand that changes or makes something is evaluated on those ways only on which Python reaches it."""
    from mfsdp_lint.readers.python.eval.branches import undecided

    last = open_values[-1]
    stops = last if len(open_values) == 1 else _either(machine, open_values[:-1], last, is_and)

    def rest() -> Any:
        return "return", _connected(machine, nodes[position:], is_and, frame)

    def stop() -> Any:
        return "return", stops

    question = last if len(open_values) == 1 else machine.unknown("", not_none=True)
    text = ast.unparse(nodes[position - 1])
    found = undecided(machine, question, lambda: text, rest if is_and else stop, stop if is_and else rest)
    return found[1]


def _either(machine: Machine, open_values: list[Object], value: Object, is_and: bool) -> Object:
    """`a or b` and `a and b` where `a` is not known: b's value where that is certain, else unknown."""
    options: list[Object] = [value]
    for one in open_values:
        for option in one.options if isinstance(one, Choice) else (one,):
            known = truth(machine, option)
            if known is None:
                if isinstance(option, Unknown):
                    combined = tuple(id(item) for item in [*open_values, value])
                    return _combination(machine, open_values, value, is_and, combined)
                options.append(option)
            elif known is not is_and:
                options.append(option)
    return join(machine, options)


def _combination(machine: Machine, open_values: list[Object], value: Object, is_and: bool, key: Any) -> Object:
    options = [each for one in (*open_values, value) for each in (one.options if isinstance(one, Choice) else (one,))]
    if any(isinstance(option, Instance) for option in options):
        return join(machine, options)
    owner = next(option for option in options if isinstance(option, Unknown))
    not_none = not is_and and not (value is None or isinstance(value, (Unknown, Choice)))
    found = machine.unknown("", not_none=not_none)
    # Not the same value as the operand, so it must not bear its name: names tell where a value was read from.
    found.text = f"{owner.text} {'and' if is_and else 'or'} …" if owner.text else ""
    found.fields[EITHER] = tuple(option for option in options if isinstance(option, Unknown))
    # Python gives False for `unknown and False`, whatever the unknown is: only its truth is certain.
    known = truth(machine, value)
    if known is not None and known is not is_and:
        machine.learn("truth", found, known)
    return found


def _if_expression(machine: Machine, node: ast.IfExp, frame: Frame) -> Object:
    from mfsdp_lint.readers.python.eval.branches import choose

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
        result = compare(machine, op, left, right, frame, node)
        if len(node.ops) == 1:
            return derived(result, left, right)
        if result is False:
            return False
        if result is not True:
            return machine.unknown(ast.unparse(node), not_none=True)
        left = right
    return result


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
    result.made = machine.note(frame, node, None, "default", None, None)
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(machine, value_node, frame)
        if key_node is None:
            value = machine.settle(value)
            if isinstance(value, DictObject):
                result.fields = absorbed(machine, result.fields, value)
                result.writes.update(value.writes)
            else:
                result.writes["<hazy>"] = True
                for key in list(result.fields):
                    result.fields[key] = machine.unknown(str(key))
            continue
        key = plain(machine.settle(evaluate(machine, key_node, frame)))
        if not hashable(key):
            result.writes["<hazy>"] = True
            result.fields = {
                known: join(machine, [old, machine.unknown(str(known))]) for known, old in result.fields.items()
            }
            continue
        result.fields[key] = value
        result.writes[key] = machine.note(frame, value_node, value_node, "assigned", value, None)
    return result


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Object:
    value, key = evaluate(machine, node.value, frame), evaluate(machine, node.slice, frame)
    if isinstance(node.slice, ast.Slice) and isinstance(key, Unknown):
        return some_of(machine, machine.settle(value))
    return entry(machine, value, key, frame, node)


def _slice(machine: Machine, node: ast.Slice, frame: Frame) -> Object:
    parts = [
        None if part is None else machine.settle(evaluate(machine, part, frame))
        for part in (node.lower, node.upper, node.step)
    ]
    if all(part is None or isinstance(part, int) for part in parts):
        return slice(*parts)
    return machine.unknown("slice", not_none=True)


def _formatted(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Object:
    texts: list[str] = []
    values: list[Object] = []
    known = True
    for part in node.values:
        if isinstance(part, ast.Constant):
            texts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        values.append(evaluate(machine, part.value, frame))
        text = _formatted_text(machine, part, machine.settle(values[-1]), frame)
        if text is None:
            known = False
        else:
            texts.append(text)
    small = known and sum(map(len, texts)) <= LONGEST_TEXT
    return derived("".join(texts), *values) if small else machine.unknown("", not_none=True)


def _formatted_text(machine: Machine, part: ast.FormattedValue, value: Object, frame: Frame) -> str | None:
    from mfsdp_lint.readers.python.library import as_text

    spec = ""
    if part.format_spec is not None:
        found = machine.settle(evaluate(machine, part.format_spec, frame))
        if not isinstance(found, str) or is_wide(found):
            return None
        spec = found
    if part.conversion in (ord("r"), ord("a")):
        spell = repr if part.conversion == ord("r") else ascii
        value = spell(value) if isinstance(value, CONSTANTS) and is_small(value) else None
    elif part.conversion == ord("s") or is_symbolic(value):
        value = as_text(machine, value)
    if part.conversion > 0 and (value is None or (spec and is_symbolic(value))):
        return None
    if spec and is_symbolic(value):
        return None
    if spec and isinstance(value, CONSTANTS):
        try:
            return format(value, spec)
        except (ValueError, TypeError) as error:
            raise Raised(type(error).__name__, str(error)) from None
    text = as_text(machine, value)
    return None if text is None or (spec and not isinstance(value, CONSTANTS)) else text


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Object:
    from mfsdp_lint.readers.python.eval.binding import evaluate_defaults

    function = Function(node, frame.module, _closure(frame), "<lambda>")
    evaluate_defaults(machine, function, node.args, frame)
    return function


def _closure(frame: Frame) -> Frame | None:
    return None if frame.fields is frame.module.fields else frame


def _walrus(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Object:
    from mfsdp_lint.readers.python.eval.assignments import assign_name

    value = evaluate(machine, node.value, frame)
    here = frame
    while here.function == "<comprehension>" and here.enclosing is not None:
        here = here.enclosing
    assign_name(machine, node.target.id, value, here)
    return value


def _starred(machine: Machine, node: ast.Starred, frame: Frame) -> Object:
    return evaluate(machine, node.value, frame)


def _yield(machine: Machine, node: ast.Yield, frame: Frame) -> Object:
    value = evaluate(machine, node.value, frame) if node.value is not None else None
    if frame.on_yield is None:
        return machine.unknown("yield")
    return frame.on_yield(value)


def _yield_from(machine: Machine, node: ast.YieldFrom, frame: Frame) -> Object:
    from mfsdp_lint.readers.python.eval.loops import yield_unknown

    items = elements(machine, evaluate(machine, node.value, frame), frame)
    if frame.on_yield is None:
        return machine.unknown("yield")
    if items is None or any(map(uncertain, items)):
        return yield_unknown(machine, node, any_of(machine, items or ()), frame)
    for item in items:
        frame.on_yield(item)
    return None


def _await(machine: Machine, node: ast.Await, frame: Frame) -> Object:
    evaluate(machine, node.value, frame)
    return machine.unknown("await")


EVALUATORS.update(
    {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
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
        ast.JoinedStr: _formatted,
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
