"""Parts: the texts that say one entry or element of a container, and one turn of a loop."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.state.given import argument, extra
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.texts import Text, behind, binding, holder, peek, top, trace, written
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.identity import identical
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import CONSTANTS, MISSING, DictObject, ListObject, Object, Place


def part(machine: Machine, text: Text | None, key: Object) -> tuple[Place, ...]:
    """Return the text of the entry or element `key` of a text's value, and those behind it; none if it is not seen."""
    if text is None or machine.looks <= 0:
        return ()
    machine.looks -= 1
    node, frame = text
    found = written(peek(machine, node, frame), key)
    if found and found[0][1] is not node:
        return found
    if isinstance(node, ast.keyword):
        return part(machine, Text(node.value, frame), key)
    if isinstance(node, ast.Dict):
        return _of_dict(machine, node, frame, key)
    if isinstance(node, (ast.Tuple, ast.List)):
        return _of_sequence(machine, node, frame, key)
    if isinstance(node, ast.BinOp):
        return part(machine, Text(node.right, frame), key) or part(machine, Text(node.left, frame), key)
    if isinstance(node, ast.Name):
        return _of_name(machine, node, frame, key)
    if isinstance(node, ast.Call):
        return _of_call(machine, node, frame, key) or found
    places = trace(machine, text)
    return part(machine, Text(places[-1][1], top(places[-1][0])), key) if places else ()


def _of_dict(machine: Machine, node: ast.Dict, frame: Frame, key: Object) -> tuple[Place, ...]:
    for name, value in zip(reversed(node.keys), reversed(node.values), strict=True):
        found: tuple[Place, ...] = ()
        if name is None:
            found = part(machine, Text(value, frame), key)
        elif identical(peek(machine, name, frame), key):
            found = behind(machine, Text(value, frame))
        if found:
            return found
    return ()


def _of_sequence(machine: Machine, node: ast.Tuple | ast.List, frame: Frame, key: Object) -> tuple[Place, ...]:
    if isinstance(key, int):
        whole = not any(isinstance(item, ast.Starred) for item in node.elts)
        return behind(machine, Text(node.elts[key], frame)) if whole and -1 <= key < len(node.elts) else ()
    for item in node.elts:
        # Pairs of a name and a value.
        if not isinstance(item, (ast.Tuple, ast.List)) or len(item.elts) != 2:
            continue
        if identical(peek(machine, item.elts[0], frame), key):
            return behind(machine, Text(item.elts[1], frame))
    return ()


def _of_name(machine: Machine, node: ast.Name, frame: Frame, key: Object) -> tuple[Place, ...]:
    owner = holder(frame, node.id)
    bound = None if owner is None else binding(owner, node.id)
    if bound is not None:
        where = Text(*bound) if isinstance(bound[0], ast.expr) else None
        places = () if where is not None else trace(machine, Text(node, frame))
        if where is None and places:
            where = Text(places[-1][1], top(places[-1][0]))
        return part(machine, where, key)
    if not isinstance(owner, Frame):
        return ()
    further = extra(machine, owner, node.id, key)
    return behind(machine, further) if further is not None else part(machine, argument(machine, owner, node.id), key)


def _of_call(machine: Machine, node: ast.Call, frame: Frame, key: Object) -> tuple[Place, ...]:
    if machine.returned is not None and machine.returned[0] is node:
        said = machine.returned[1]
        if not isinstance(said, Text):
            return part(machine, Text(said[-1][1], top(said[-1][0])), key) if said else ()
        return part(machine, said, key)
    for keyword in node.keywords:
        if keyword.arg == key:
            return behind(machine, Text(keyword, frame))
    if isinstance(node.func, ast.Name) and node.func.id == "zip" and len(node.args) == 2:
        return _of_zip(machine, node, frame, key)
    receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    for inner in (*receiver, *node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)):
        found = part(machine, Text(inner, frame), key)
        if found:
            return found
    return ()


def _of_zip(machine: Machine, node: ast.Call, frame: Frame, key: Object) -> tuple[Place, ...]:
    names = peek(machine, node.args[0], frame)
    names = names.items if isinstance(names, ListObject) else names
    if not isinstance(names, (list, tuple)) or key not in names:
        return ()
    return part(machine, Text(node.args[1], frame), list(names).index(key))


def turn(machine: Machine, loop: Any, name: str, frame: Frame) -> Text | None:
    """Return the text that gave a loop's name the value that it has in this turn.

    `loop` is a statement or a comprehension. The source of its elements is an expression that the program does not
    contain, as if the elements were asked for one by one.
    """
    for walked in (loop, *getattr(loop, "generators", ())):
        target = getattr(walked, "target", None)
        path = path_to(target, name)
        if path is not None:
            return _element(machine, walked, target, walked.iter, path, frame)
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


def _element(
    machine: Machine, loop: Any, target: Any, iterable: Any, path: tuple[int, ...], frame: Frame
) -> Text | None:
    position = frame.bound.get(loop)
    if isinstance(position, Text):
        # What a generator of the program yielded.
        return Text(inside(position.node, path), position.frame)
    if not isinstance(iterable, ast.Call):
        return None if position is None else Text(inside(iterable, (position, *path)), frame)
    called = iterable.func
    if isinstance(called, ast.Attribute) and called.attr == "items" and path and path[0] == 1:
        key = peek(machine, target.elts[0], frame)
        return Text(inside(called.value, (key, *path[1:])), frame) if isinstance(key, CONSTANTS) else None
    if isinstance(called, ast.Attribute) and called.attr == "values" and position is not None:
        holder_of = peek(machine, called.value, frame)
        keys = list(holder_of.fields) if isinstance(holder_of, DictObject) else []
        return Text(inside(called.value, (keys[position], *path)), frame) if position < len(keys) else None
    if isinstance(called, ast.Name) and path and called.id == "enumerate" and path[0] == 1 and iterable.args:
        return _element(machine, loop, target.elts[1], iterable.args[0], path[1:], frame)
    if isinstance(called, ast.Name) and path and called.id == "zip" and path[0] < len(iterable.args):
        return _element(machine, loop, target.elts[path[0]], iterable.args[path[0]], path[1:], frame)
    if position is not None and written(peek(machine, iterable, frame), position):
        return Text(inside(iterable, (position, *path)), frame)
    return _among(machine, target, iterable, path, frame)


def _among(machine: Machine, target: Any, iterable: ast.Call, path: tuple[int, ...], frame: Frame) -> Text | None:
    """Return the only element of a call's arguments that can be the current one: `sorted(CHANGES)`, `tqdm(CHANGES)`."""
    found = []
    for node in iterable.args:
        literal, there = _literal(machine, Text(node, frame))
        found += [Text(item, there) for item in literal if _fits(machine, target, item, frame)]
    return Text(inside(found[0].node, path), found[0].frame) if len(found) == 1 else None


def _literal(machine: Machine, text: Text) -> tuple[list[Any], Frame]:
    """Return the elements that a list, tuple or set has in the text, and their frame."""
    places = trace(machine, text)
    node, frame = (places[-1][1], top(places[-1][0])) if places else text
    node = node.value if isinstance(node, ast.keyword) else node
    return (node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []), frame


def _fits(machine: Machine, target: Any, item: Any, frame: Frame) -> bool:
    """Tell whether a loop's names can have their values from this element."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(item, (ast.Tuple, ast.List)):
        parts = zip(target.elts, item.elts, strict=False)
        return len(target.elts) == len(item.elts) and all(_fits(machine, *both, frame) for both in parts)
    if not isinstance(target, ast.Name) or not isinstance(item, ast.Constant):
        return not isinstance(item, ast.Constant)
    return identical(frame.fields.get(target.id, MISSING), item.value)


def imported(machine: Machine, node: ast.ImportFrom, name: str) -> Text | None:
    """Return the name of another module that `from … import …` bound a name to."""
    for alias in node.names:
        if (alias.asname or alias.name) == name:
            source = machine.memo.get(("from", node, alias.name))
            return Text(ast.Name(alias.name, ast.Load()), top(source)) if isinstance(source, Module) else None
    return None
