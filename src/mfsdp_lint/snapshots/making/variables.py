"""What the variables of a function of upstream may stand for, by how they are written."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from mfsdp_lint.snapshots.making.annotations import is_plain
from mfsdp_lint.snapshots.making.meaning import parameters, stored
from mfsdp_lint.snapshots.making.results import Boundless

NEW = (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp,
       ast.Constant, ast.JoinedStr)  # fmt: skip
MAKERS = frozenset(("list", "dict", "set", "sorted", "str", "int", "float", "len", "bool", "defaultdict"))
"""Functions whose result is a list, a dictionary or a value of its own."""


class Variables:
    """The variables of one function. `is_plain_field` says which fields hold nothing that can be changed."""

    def __init__(self, function: ast.FunctionDef, is_plain_field: Callable[[str], bool]) -> None:
        self.nodes = list(ast.walk(function))
        self.is_plain_field = is_plain_field
        given = parameters(function)
        assigned = set(stored(function))
        self.plain = {each.arg for each in given if is_plain(each.annotation)} - assigned
        self.annotations = {
            each.arg: each.annotation for each in given if each.annotation is not None and each.arg not in assigned
        }
        self.fresh = assigned - {each.arg for each in given} - self._shared()
        """Those that hold only lists, dictionaries and values that the function has made itself."""

    def are_unchangeable(self, call: ast.Call) -> bool:
        """Whether nothing that could be changed is passed."""
        return all(map(self._is_unchangeable, _passed(call)))

    def are_own(self, call: ast.Call) -> bool:
        """Whether all that is passed is unchangeable, or a list or a dictionary that the function has made itself.

        That may hold something else, which a call that looks into it can change.
        """
        return all(
            self._is_unchangeable(each) or (isinstance(each, ast.Name) and each.id in self.fresh)
            for each in _passed(call)
        )

    def texts(self, names: Sequence[ast.expr]) -> set[str]:
        """The texts that an expression may be. Raises Boundless where that cannot be told."""
        match names:
            case [ast.Constant(value=str(name))]:
                return {name}
            case [ast.Name(id=variable)]:
                return self._looped(variable)
        raise Boundless

    def _is_unchangeable(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return True
            case ast.Name(id=name):
                return name in self.plain
            case ast.Attribute(attr=name):
                return self.is_plain_field(name)
        return False

    def _shared(self) -> set[str]:
        """Local names that may stand for something that the function has not made itself."""
        found = set()
        for node in self.nodes:
            match node:
                case ast.Assign(targets=targets, value=value) if _is_new(value):
                    plain = {target.id for target in targets if isinstance(target, ast.Name)}
                    found |= {name for target in targets for name in stored(target)} - plain
                case ast.AnnAssign(target=ast.Name(), value=value) if value is None or _is_new(value):
                    continue
                case (
                    ast.Assign() | ast.AnnAssign() | ast.For() | ast.withitem() | ast.NamedExpr() | ast.comprehension()
                ):
                    found |= set(stored(node))
        return found

    def _looped(self, variable: str) -> set[str]:
        """What a variable is that only loops over texts assign."""
        loops = [node for node in self.nodes if isinstance(node, ast.For) and variable in stored(node.target)]
        found = set()
        for loop in loops:
            match loop:
                case ast.For(target=ast.Name(), iter=ast.Tuple(elts=items) | ast.List(elts=items)):
                    texts = [item.value for item in items if isinstance(item, ast.Constant)]
                    if len(texts) < len(items):
                        raise Boundless
                    found |= {text for text in texts if isinstance(text, str)}
                case _:
                    raise Boundless
        stores = [node for node in self.nodes if isinstance(node, ast.Name) and node.id == variable]
        if not loops or sum(isinstance(node.ctx, ast.Store) for node in stores) > len(loops):
            raise Boundless
        return found


def _passed(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_new(node: ast.expr) -> bool:
    """Whether an expression makes a list, a dictionary or a value of its own."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in MAKERS
    return isinstance(node, NEW)
