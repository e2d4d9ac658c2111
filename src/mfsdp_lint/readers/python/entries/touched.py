"""Reach of a change of a file's text: all users of the file, or only those that run the functions it touches.

The latter holds where nothing differs but settings within functions, as fixes write them: attributes and entries that
are assigned, and named arguments. Then no name is bound otherwise, no new call is made, and all other code stays on its
line.
"""

from __future__ import annotations

import ast
import copy
from functools import lru_cache

from mfsdp_lint.readers.python.entries.exposed import names_switch, words_of_scopes

Key = tuple[str, int, str]
"""A function: its file, its line and its name."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def touched(path: str, old: str, new: str) -> frozenset[Key] | None:
    """Return the old functions of a file whose text or place has changed; None where more than that differs."""
    pairs = _changed(old, new)
    if pairs is None:
        return None
    inner = (each for was, _ in pairs for each in ast.walk(was) if isinstance(each, _Function))
    return frozenset((path, each.lineno, each.name) for each in inner)


def changes_words(old: str, new: str) -> bool:
    """Tell whether the words beside switches differ in texts between which only functions are `touched`: these words
    matter to whoever uses any function of the file.
    """
    if not any(map(names_switch, (old, new))):
        return False
    return any(words_of_scopes(was) != words_of_scopes(now) for was, now in _changed(old, new) or ())


@lru_cache(maxsize=64)
def _changed(old: str, new: str) -> tuple[tuple[_Function, _Function], ...] | None:
    """Return the functions whose text or place has changed, as they were and are; None where more than that differs."""
    try:
        before, after = _Outline(old), _Outline(new)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if before.around != after.around or len(before.functions) != len(after.functions):
        return None
    found: list[tuple[_Function, _Function]] = []
    for was, now in zip(before.functions, after.functions, strict=True):
        if was.lineno == now.lineno and before.text(was) == after.text(now):
            continue
        if before.text(was) != after.text(now) and _without_settings(was) != _without_settings(now):
            return None
        found.append((was, now))
    return tuple(found)


class _Outline:
    """A module's functions, at its top level and in the classes there, and the code around them, with its places."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self.functions: list[_Function] = []
        self.around: list[tuple[object, ...]] = []
        for node in ast.parse(text).body:
            self._add(node)

    def text(self, node: ast.stmt) -> list[str]:
        """Return the lines of a statement."""
        return self._lines[node.lineno - 1 : node.end_lineno]

    def _add(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions.append(node)
                # Where it begins may differ: that touches the function, and not what is around it.
                parts = (*node.decorator_list, node.args, *filter(None, [node.returns]))
                self.around.append((node.name, *map(ast.dump, parts)))
            case ast.ClassDef():
                self.around.append((node.lineno, *map(_placed, (*node.decorator_list, *node.bases, *node.keywords))))
                for inner in node.body:
                    self._add(inner)
            case _ if _has_no_place(node):
                self.around.append((ast.dump(node),))
            case _:
                self.around.append((_placed(node),))


def _has_no_place(node: ast.stmt) -> bool:
    """Tell whether no value and no recipe comes from the line of a statement: it only names what others make."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.Assign(targets=[ast.Name()], value=ast.Name()):
            return True
        case _:
            return False


def _placed(node: ast.AST) -> str:
    """Dump a piece of the tree, with its place."""
    return ast.dump(node, include_attributes=True)


def _without_settings(function: _Function) -> str:
    """Dump a function without the settings in it that call nothing: attributes and entries that are assigned, and named
    arguments."""
    return ast.dump(_WithoutSettings().visit(copy.deepcopy(function)))


class _WithoutSettings(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        named = all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
        return None if named and _is_plain(node.value) else self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        # The key of os.getenv decides which variables a program depends on, as subscripts and comparisons do.
        return None if node.arg not in (None, "key") and _is_plain(node.value) else self.generic_visit(node)


_NOT_PLAIN = (
    *(ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda),
    *(ast.Subscript, ast.Compare),
)


def _is_plain(node: ast.AST) -> bool:
    """Tell whether an expression calls and binds nothing, and looks nothing up."""
    return not any(isinstance(inner, _NOT_PLAIN) for inner in ast.walk(node))
