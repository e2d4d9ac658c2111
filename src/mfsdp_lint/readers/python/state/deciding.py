"""Search for the text that decides a value: from the expression that hands it on back to the one that says it.

The search goes back through arguments of calls, entries of containers, and turns of loops.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from mfsdp_lint.readers.python.state.texts import (
    TRACERS,
    Text,
    Trail,
    behind,
    binding,
    handed_on,
    holder,
    peek,
    place,
    top,
    trace,
    written,
)
from mfsdp_lint.readers.python.state.trees import names_in
from mfsdp_lint.readers.python.values.markers import ENTRIES, HELD
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ClassObject,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Partial,
    Place,
    StandardObject,
    Write,
    identical,
)


def argument(interp: Trail, frame: Frame, name: str) -> Text | None:
    """Return the argument, or the default, that a parameter has its value from; None where that is not seen."""
    function = frame.code
    if not isinstance(function, Function) or name not in frame.fields:
        return None
    given = _given(interp, frame, function, name)
    if given is not None:
        interp.crossings += 1
        return given
    default = _default(function.node.args, name)
    if default is None or not _same(function.defaults.get(name, MISSING), frame.fields[name]):
        return None
    return Text(default, function.closure or top(function.module))


def extra(interp: Trail, frame: Frame, name: str, key: Object) -> Text | None:
    """Return the argument of a call that became an entry of the function's `*args` or `**kwargs`."""
    function, call, caller = frame.code, frame.node, frame.caller
    if not isinstance(function, Function) or not isinstance(call, ast.Call) or caller is None:
        return None
    parameters: ast.arguments = function.node.args
    interp.crossings += 1
    if parameters.kwarg is not None and parameters.kwarg.arg == name and isinstance(key, str):
        made = _partial(interp, call, caller)
        return _by_name(call, caller, key) or (_by_name(*made, key) if made is not None else None)
    if parameters.vararg is not None and parameters.vararg.arg == name and isinstance(key, int) and key >= 0:
        taken = len(parameters.posonlyargs) + len(parameters.args) - (function.cls is not None)
        return _by_position(_arguments(interp, call, caller, function), taken + key, caller)
    return None


def _given(interp: Trail, frame: Frame, function: Function, name: str) -> Text | None:
    call, caller, value = frame.node, frame.caller, frame.fields[name]
    if caller is None:
        return None
    if _converts(frame, name, value):
        value = ANYTHING
    if isinstance(call, (ast.Assign, ast.AnnAssign)) and call.value is not None:
        # A property's setter.
        found = Text(call.value, caller)
        return found if agrees(interp, found, value) else None
    if isinstance(call, ast.ClassDef):
        # A keyword of a class goes to `__init_subclass__`.
        said = next((Text(each, caller) for each in call.keywords if each.arg == name), None)
        return said if said is not None and agrees(interp, said, value) else None
    if not isinstance(call, ast.Call):
        return None
    found_here = _in_call(interp, function, name, value, call, caller)
    made = _partial(interp, call, caller)
    return _in_call(interp, function, name, value, *made) if found_here is None and made is not None else found_here


def _converts(frame: Frame, name: str, value: Object) -> bool:
    """Tell whether a parameter got the value that it has by a call on what it had: `kind = Kind(kind)`."""
    bound = binding(frame, name)
    node = None if bound is None else bound[0]
    return isinstance(node, ast.Call) and name in names_in(node)


def _partial(interp: Trail, call: ast.Call, caller: Frame) -> tuple[ast.Call, Frame] | None:
    """Return the call that made the partial function which a call calls, and the frame of that call."""
    through = peek(interp, call.func, caller)
    made = through.made if isinstance(through, Partial) else None
    return (made[0], made[1]) if made is not None and isinstance(made[0], ast.Call) else None


def _in_call(interp: Trail, function: Function, name: str, value: Object, call: Any, caller: Frame) -> Text | None:
    if not isinstance(call, ast.Call):
        return None
    by_name = _by_name(call, caller, name)
    if by_name is not None and isinstance(by_name.node, ast.Subscript):
        spread = peek(interp, by_name.node.value, caller)
        by_name = None if isinstance(spread, DictObject) and name not in spread.fields else by_name
    if by_name is not None and agrees(interp, by_name, value):
        return by_name
    parameters: ast.arguments = function.node.args
    positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    if name not in positional:
        return None
    if function.cls is not None and name == positional[0] and isinstance(call.func, ast.Attribute):
        owner = Text(call.func.value, caller)
        return owner if agrees(interp, owner, value) else None
    nodes = _arguments(interp, call, caller, function)
    # The object of a method stands before the dot.
    for bound in (1, 0) if function.cls is not None else (0, 1):
        found_here = _by_position(nodes, positional.index(name) - bound, caller)
        if found_here is not None and agrees(interp, found_here, value):
            return found_here
    return None


def _arguments(interp: Trail, call: ast.Call, caller: Frame, function: Function) -> list[ast.expr]:
    """Return the positional arguments for the function itself: `partial(function, 1)` names it first."""
    nodes = call.args
    if nodes and isinstance(nodes[0], (ast.Name, ast.Attribute)) and peek(interp, nodes[0], caller) is function:
        return nodes[1:]
    return nodes


def _by_name(call: ast.Call, caller: Frame, name: str) -> Text | None:
    spread = None
    for keyword in call.keywords:
        if keyword.arg == name:
            return Text(keyword, caller)
        spread = keyword.value if keyword.arg is None else spread
    return None if spread is None else Text(ast.Subscript(spread, ast.Constant(name), ast.Load()), caller)


def _by_position(nodes: list[ast.expr], position: int, caller: Frame) -> Text | None:
    for index, node in enumerate(nodes):
        if isinstance(node, ast.Starred):
            behind = ast.Constant(position - index)
            return Text(ast.Subscript(node.value, behind, ast.Load()), caller) if position >= index else None
        if index == position:
            return Text(node, caller)
    return None


ANYTHING = object()
"""In the place of a parameter's value that is not known any more: the parameter has got another one since."""


def agrees(interp: Trail, text: Text, value: Object) -> bool:
    """Tell whether an expression may have given a value: it has not if its own value is seen to be another."""
    if value is ANYTHING:
        return True
    seen = peek(interp, text.node, text.frame)
    return seen is MISSING or _same(seen, interp.settle(value))


def _same(left: Object, right: Object) -> bool:
    return left is right or identical(left, right)


def _default(parameters: ast.arguments, name: str) -> Any:
    named = [*parameters.posonlyargs, *parameters.args]
    pairs = [
        *zip(named[len(named) - len(parameters.defaults) :], parameters.defaults, strict=True),
        *zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True),
    ]
    return next((default for parameter, default in pairs if parameter.arg == name), None)


def part(interp: Trail, text: Text | None, key: Object) -> tuple[Place, ...]:
    """Return the text of the entry or element `key` of a text's value, and those behind it; none if it is not seen."""
    if text is None or interp.looks <= 0:
        return ()
    interp.looks -= 1
    node, frame = text
    whole = peek(interp, node, frame)
    if isinstance(whole, CONSTANTS):
        return ()
    if isinstance(whole, Module) and isinstance(key, str):
        bound = binding(whole, key)
        return behind(interp, Text(*bound)) if bound is not None and isinstance(bound[0], ast.expr) else ()
    found = written(whole, key)
    if found and found[0][1] is not node:
        return found
    held = _held_by_library(interp, whole, key)
    if held:
        return held
    piece = interp.piece(whole, key) if isinstance(whole, (tuple, ListObject)) else None
    if piece is not None:
        return handed_on(piece)
    if isinstance(node, ast.keyword):
        return part(interp, Text(node.value, frame), key)
    if isinstance(node, ast.Dict):
        return _of_dict(interp, node, frame, key)
    if isinstance(node, (ast.Tuple, ast.List)):
        if isinstance(key, int):
            whole = not any(isinstance(item, ast.Starred) for item in node.elts)
            return behind(interp, Text(node.elts[key], frame)) if whole and -1 <= key < len(node.elts) else ()
        for item in node.elts:
            # Pairs of a name and a value.
            if not isinstance(item, (ast.Tuple, ast.List)) or len(item.elts) != 2:
                continue
            if identical(peek(interp, item.elts[0], frame), key):
                return behind(interp, Text(item.elts[1], frame))
        return ()
    if isinstance(node, ast.BinOp):
        return part(interp, Text(node.right, frame), key) or part(interp, Text(node.left, frame), key)
    if isinstance(node, ast.Name):
        return _of_name(interp, node, frame, key)
    if isinstance(node, ast.Call):
        return _of_call(interp, node, frame, key) or found
    places = trace(interp, text)
    return part(interp, Text(places[-1][1], top(places[-1][0])), key) if places else ()


def _held_by_library(interp: Trail, owner: Object, key: Object) -> tuple[Place, ...]:
    """Return the text of an entry of a library's own mapping (`ChainMap`): of the first table in it that has it."""
    if not isinstance(owner, Instance) or not isinstance(owner.cls, ClassObject) or not owner.cls.module.written:
        return ()
    parts = [part.items or () if isinstance(part, ListObject) else (part,) for part in owner.fields.values()]
    tables = (each for some in parts for each in map(interp.settle, some) if isinstance(each, DictObject))
    return next((written(each, key) for each in tables if key in each.fields), ())


def _of_dict(interp: Trail, node: ast.Dict, frame: Frame, key: Object) -> tuple[Place, ...]:
    for name, value in zip(reversed(node.keys), reversed(node.values), strict=True):
        found: tuple[Place, ...] = ()
        if name is None:
            found = part(interp, Text(value, frame), key)
        elif identical(peek(interp, name, frame), key):
            found = behind(interp, Text(value, frame))
        if found:
            return found
    return ()


def _of_name(interp: Trail, node: ast.Name, frame: Frame, key: Object) -> tuple[Place, ...]:
    owner = holder(frame, node.id)
    bound = None if owner is None else binding(owner, node.id)
    if bound is not None:
        where = Text(*bound) if isinstance(bound[0], ast.expr) else None
        places = () if where is not None else trace(interp, Text(node, frame))
        if where is None and places:
            where = Text(places[-1][1], top(places[-1][0]))
        return part(interp, where, key)
    if not isinstance(owner, Frame):
        return ()
    further = extra(interp, owner, node.id, key)
    return behind(interp, further) if further is not None else part(interp, argument(interp, owner, node.id), key)


def _of_call(interp: Trail, node: ast.Call, frame: Frame, key: Object) -> tuple[Place, ...]:
    if interp.returned is not None and interp.returned[0] is node:
        said = interp.returned[1]
        if not isinstance(said, Text):
            return part(interp, Text(said[-1][1], top(said[-1][0])), key) if said else ()
        return part(interp, said, key)
    for keyword in node.keywords:
        if keyword.arg == key:
            return behind(interp, Text(keyword, frame))
    receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    for inner in (*receiver, *node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)):
        found = part(interp, Text(inner, frame), key)
        if found:
            return found
    return ()


def turn(interp: Trail, loop: Any, name: str, frame: Frame) -> Text | None:
    """Return the text that gave a loop's name the value that it has in this turn.

    `loop` is a statement or a comprehension. The source of its elements is an expression that the program does not
    contain, as if the elements were asked for one by one.
    """
    for walked in (loop, *getattr(loop, "generators", ())):
        target = getattr(walked, "target", None)
        path = path_to(target, name)
        if path is not None:
            return _element(interp, walked, target, walked.iter, path, frame)
    return None


def path_to(target: Any, name: str) -> tuple[int, ...] | None:
    """Find a name in an assignment's target: its position in each nested part; None where it is not there."""
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(item, ast.Starred) for item in target.elts):
        for position, item in enumerate(target.elts):
            inner = path_to(item, name)
            if inner is not None:
                return (position, *inner)
    return None


def inside(node: Any, path: tuple[Any, ...]) -> Any:
    """Return the expression `node[first][second]…`."""
    for step in path:
        node = ast.Subscript(node, ast.Constant(step), ast.Load())
    return node


def _element(interp: Trail, loop: Any, target: Any, iterable: Any, path: tuple[int, ...], frame: Frame) -> Text | None:
    position = frame.bindings.get(loop)
    if isinstance(position, Text):
        # What a generator of the program yielded.
        return Text(inside(position.node, path), position.frame)
    if not isinstance(iterable, ast.Call):
        return None if position is None else Text(inside(iterable, (position, *path)), frame)
    called = iterable.func
    if isinstance(called, ast.Attribute) and called.attr == "items" and path and path[0] == 1:
        key = peek(interp, target.elts[0], frame)
        return Text(inside(called.value, (key, *path[1:])), frame) if isinstance(key, CONSTANTS) else None
    if isinstance(called, ast.Attribute) and called.attr == "values" and position is not None:
        holder_of = peek(interp, called.value, frame)
        keys = list(holder_of.fields) if isinstance(holder_of, DictObject) else []
        return Text(inside(called.value, (keys[position], *path)), frame) if position < len(keys) else None
    if isinstance(called, ast.Name) and path and called.id == "enumerate" and path[0] == 1 and iterable.args:
        return _element(interp, loop, target.elts[1], iterable.args[0], path[1:], frame)
    if position is not None and part(interp, Text(iterable, frame), position):
        return Text(inside(iterable, (position, *path)), frame)
    # A piece of a text, as of `PATTERN.finditer(TEXT)`.
    whole = Text(iterable, frame)
    places = trace(interp, whole)
    return whole if places and isinstance(getattr(places[-1][1], "value", None), str) else None


def imported(interp: Trail, node: ast.ImportFrom, name: str) -> Text | None:
    """Return the name of another module that `from … import …` bound a name to."""
    for alias in node.names:
        if (alias.asname or alias.name) == name:
            source = interp.memo.get(("from", node, alias.name))
            return Text(ast.Name(alias.name, ast.Load()), top(source)) if isinstance(source, Module) else None
    return None


def _name(interp: Trail, node: ast.Name, frame: Frame) -> tuple[Place, ...]:
    owner = holder(frame, node.id)
    if owner is None:
        for star in reversed(frame.module.stars):
            if isinstance(star, Module) and node.id in star.fields:
                bound = binding(star, node.id)
                return behind(interp, Text(*bound)) if bound is not None and isinstance(bound[0], ast.expr) else ()
        return ()
    bound = binding(owner, node.id)
    if bound is None:
        return behind(interp, argument(interp, owner, node.id)) if isinstance(owner, Frame) else ()
    by, there = bound
    if isinstance(by, ast.expr) and (earlier := _earlier(owner, node.id, by)) is not None:
        # `line = line.strip()`: on the right stands the value that the name had before.
        return (place(Text(by, there)), *_bound_by(interp, node, owner, *earlier))
    return _bound_by(interp, node, owner, by, there)


def _earlier(owner: Frame | Module, name: str, by: ast.expr) -> tuple[Any, Frame] | None:
    """Return the binding of a name before the expression `by`, which uses the name itself; None if it does not."""
    if name not in names_in(by):
        return None
    found = owner.bindings.get(name, {})
    before = list(found)[: list(found).index(by)] if by in found else []
    if not before:
        return None
    frame = found[before[-1]][1]
    return before[-1], frame or (owner if isinstance(owner, Frame) else top(owner))


def _bound_by(interp: Trail, node: ast.Name, owner: Frame | Module, by: Any, there: Frame) -> tuple[Place, ...]:
    """Trace a name through the expression or statement that bound it, or the write of the element that it is."""
    if isinstance(by, Write):
        return handed_on(by)
    if isinstance(by, (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return behind(interp, turn(interp, by, node.id, there))
    if isinstance(owner, Frame) and _converts(owner, node.id, owner.fields[node.id]):
        return (place(Text(by, there)), *behind(interp, argument(interp, owner, node.id)))
    if isinstance(by, ast.expr):
        return behind(interp, Text(by, there))
    if isinstance(by, ast.ImportFrom):
        return trace(interp, imported(interp, by, node.id))
    if isinstance(by, ast.Assign):
        for target in by.targets:
            path = path_to(target, node.id)
            if path is not None:
                return behind(interp, Text(inside(by.value, path), there))
        return behind(interp, Text(by.value, there))
    return (place(Text(by, there)),) if isinstance(by, ast.AugAssign) else ()


def _attribute(interp: Trail, node: ast.Attribute, frame: Frame) -> tuple[Place, ...]:
    if interp.returned is not None and interp.returned[0] is node:
        return _by_return(interp, interp.returned[1])  # of a property
    owner = peek(interp, node.value, frame)
    if isinstance(node.value, ast.Call) and owner is MISSING:
        # `Options().on`, where the object itself does not have it.
        cls = peek(interp, node.value.func, frame)
        owner = cls if isinstance(cls, ClassObject) and node.attr in cls.known else MISSING
    if isinstance(owner, Module):
        bound = binding(owner, node.attr)
        return behind(interp, Text(*bound)) if bound is not None and isinstance(bound[0], ast.expr) else ()
    if isinstance(owner, EnumMember):
        # What chose the member: on what its definition says, others rely, too.
        if isinstance(node.value, ast.Attribute) and isinstance(peek(interp, node.value.value, frame), ClassObject):
            return (place(Text(node.value, frame)),)
        return trace(interp, Text(node.value, frame))
    if isinstance(owner, ClassObject) and node.attr in (owner.members or ()):
        return ()
    return written(owner, node.attr) or part(interp, Text(node.value, frame), node.attr)


def _subscript(interp: Trail, node: ast.Subscript, frame: Frame) -> tuple[Place, ...]:
    key, whole = peek(interp, node.slice, frame), Text(node.value, frame)
    found = part(interp, whole, key) if isinstance(key, CONSTANTS) else ()
    if found:
        return found
    parser = peek(interp, node.value, frame)
    if _is_parser(parser):
        return _option(parser, peek(interp, node.slice, frame))
    places = trace(interp, whole)
    # What a display spreads and nobody wrote comes from a caller that is not in the tree.
    return () if places and isinstance(places[-1][1], ast.Dict) else places


def _if_expression(interp: Trail, node: ast.IfExp, frame: Frame) -> tuple[Place, ...]:
    test = peek(interp, node.test, frame)
    test = test if isinstance(test, CONSTANTS) else interp.gave.get(node, MISSING)
    if all(isinstance(side, ast.Constant) and isinstance(side.value, bool) for side in (node.body, node.orelse)):
        return trace(interp, Text(node.test, frame))
    if not isinstance(test, CONSTANTS):
        return ()
    return behind(interp, Text(node.body if test else node.orelse, frame))


def _held(interp: Trail, node: Any, frame: Frame) -> tuple[Place, ...]:
    return trace(interp, Text(node.value, frame))


def _by_return(interp: Trail, said: Text | tuple[Place, ...]) -> tuple[Place, ...]:
    """Return the texts that decide what the last call has returned."""
    return behind(interp, said) if isinstance(said, Text) else said


def _call(interp: Trail, node: ast.Call, frame: Frame) -> tuple[Place, ...]:
    called = node.func
    receiver = called.value if isinstance(called, ast.Attribute) else None
    maker = peek(interp, called, frame)
    if isinstance(maker, ClassObject) and maker.members and len(node.args) == 1:
        return trace(interp, Text(node.args[0], frame))
    if interp.returned is not None and interp.returned[0] is node:
        return _by_return(interp, interp.returned[1])
    if isinstance(maker, (Function, ClassObject)):
        return ()
    if isinstance(called, ast.Name) and called.id == "getattr" and len(node.args) > 1:
        return _named(interp, node, node.args, frame)
    asked = peek(interp, receiver, frame) if receiver is not None else MISSING
    if _is_parser(asked):
        return _option(asked, *(peek(interp, given, frame) for given in node.args[:2]))
    if isinstance(called, ast.Attribute) and called.attr in ("get", "pop", "setdefault") and node.args:
        return _named(interp, node, [called.value, *node.args], frame)
    if receiver is not None and (isinstance(asked, (Module, External, ClassObject)) or _is_pattern(asked)):
        receiver = None
    values = (keyword.value for keyword in node.keywords)
    return _operands(interp, (*([receiver] if receiver is not None else ()), *node.args, *values), frame)


def _is_parser(value: object) -> bool:
    """Tell whether a value is a parser or one of its sections, whose making decides nothing of what it reads."""
    return type(value) is StandardObject and (value.part_of is not None or HELD in value.fields)


def _option(parser: Object, *keys: Object) -> tuple[Place, ...]:
    """Return the place of an option of a file that a parser read; `keys` are its section, unless that is asked, and
    its name.
    """
    assert type(parser) is StandardObject
    if parser.part_of is not None:
        parser, section = parser.part_of
        keys = (section, *keys[:1])
    name = keys[1] if len(keys) == 2 else None
    place = parser.fields.get(ENTRIES, {}).get((keys[0], name.lower())) if isinstance(name, str) else None
    return () if place is None else (place,)


def _is_pattern(value: object) -> bool:
    """Tell whether a value is a compiled regular expression: the text that it is matched with decides."""
    return type(value) is StandardObject and hasattr(value.held, "fullmatch")


def _named(interp: Trail, node: ast.Call, nodes: list[ast.expr], frame: Frame) -> tuple[Place, ...]:
    """Trace the value of `getattr(owner, name, default)` or `owner.get(name, default)`."""
    key = peek(interp, nodes[1], frame)
    found = part(interp, Text(nodes[0], frame), key) if isinstance(key, CONSTANTS) else ()
    if found or len(nodes) < 3:
        return found
    default, given = Text(nodes[2], frame), peek(interp, node, frame)
    return behind(interp, default) if given is MISSING or agrees(interp, default, given) else ()


def _operands(interp: Trail, nodes: Iterable[ast.expr], frame: Frame) -> tuple[Place, ...]:
    """Trace a computed value to its only source, which decides it; return nothing if there are several."""
    found = [places for places in (trace(interp, Text(node, frame)) for node in nodes) if places]
    return found[0] if found and all(places[-1] == found[0][-1] for places in found) else ()


TRACERS.update(
    {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.IfExp: _if_expression,
        ast.BoolOp: lambda interp, node, frame: _operands(interp, node.values, frame),
        ast.BinOp: lambda interp, node, frame: _operands(interp, (node.left, node.right), frame),
        ast.UnaryOp: lambda interp, node, frame: trace(interp, Text(node.operand, frame)),
        ast.Compare: lambda interp, node, frame: _operands(interp, (node.left, *node.comparators), frame),
        ast.JoinedStr: lambda interp, node, frame: _operands(
            interp, (part.value for part in node.values if isinstance(part, ast.FormattedValue)), frame
        ),
        ast.Call: _call,
        ast.keyword: _held,
        ast.NamedExpr: _held,
        ast.Starred: _held,
    }
)
