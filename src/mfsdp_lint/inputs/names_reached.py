"""The names of a module by which its users reach a file that it imports: those of the functions and values whose code
has to do with that file, directly or through other names of the module.

More are found than there are, by the words of each statement. Where importing the module does more with the file than
bind names, as where it calls or registers something, whoever imports the module may have to do with the file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache

from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.imports import parsed

_WORD = lazy_pattern(r"\w+")

_BY_COMPUTED_NAME = frozenset({"globals", "locals", "vars", "eval", "exec", "__dict__"})
"""The words by which code reaches names of its own module that it does not say."""

_MODULES = frozenset({"modules", "import_module"})
"""The words by which code that has `__name__` reaches its own module."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement of a module: its words, the names that it binds, and whether it does more than bind them.

    What it does when the module is imported may change something of another module: it `runs` something of these names
    for nothing else, or writes to it; it `hands` what it binds to something of these; it derives classes from `bases`.
    Of an import each name is a piece, which `imports` alone.
    """

    words: frozenset[str]
    binds: frozenset[str]
    acts: bool
    runs: frozenset[str] = frozenset()
    hands: frozenset[str] = frozenset()
    bases: frozenset[str] = frozenset()
    imports: bool = False


def pieces_of(text: str) -> list[Piece] | None:
    """Return the statements of a module that importing it runs; None for a text that is no Python."""
    if (tree := parsed(text)) is None:
        return None
    lines = split_lines(text)
    # Few modules need this: it looks at everything in them.
    foreign = cache(lambda: frozenset(name for node in ast.walk(tree) for name in _bound_by_import(node)))
    return [piece for node in tree.body if not _is_for_others(node) for piece in _pieces(node, lines, foreign)]


def names_reached(pieces: Sequence[Piece], words: Collection[str]) -> frozenset[str] | None:
    """Return the names of a module through which others reach what some words in it mean; None where nobody can tell
    by names.
    """
    reached = {*words, *_BY_COMPUTED_NAME}
    pending = pieces
    while True:
        found = [piece for piece in pending if not reached.isdisjoint(piece.words)]
        if any(piece.acts for piece in found):
            return None
        if not found:
            break
        pending = [piece for piece in pending if reached.isdisjoint(piece.words)]
        reached.update(*(piece.binds for piece in found))
    bound = frozenset[str]().union(*(piece.binds for piece in pieces))
    return None if "__getattr__" in bound else (bound & reached) - {"__all__"}


def _is_for_others(node: ast.stmt) -> bool:
    """Tell whether a statement is for who starts the module, or checks its types, alone."""
    others = ("__name__ == '__main__'", "TYPE_CHECKING", "typing.TYPE_CHECKING")
    return isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test) in others


def _pieces(node: ast.stmt, lines: list[str], foreign: Callable[[], Collection[str]]) -> Iterator[Piece]:
    """Yield a statement; of an import, each name that it binds by itself."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = _WORD.findall(getattr(node, "module", None) or "")
        for each in node.names:
            bound = each.asname or each.name.partition(".")[0]
            yield Piece(
                frozenset((*module, *_WORD.findall(each.name))), frozenset({bound} - {"*"}), acts=False, imports=True
            )
        return
    first = min((node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))))
    words = frozenset(_WORD.findall("".join(lines[first - 1 : node.end_lineno])))
    if "__name__" in words and not words.isdisjoint(_MODULES):
        words |= _BY_COMPUTED_NAME
    binds, stores = set[str](), set[str]()
    if isinstance(node, _Definition):
        binds.add(node.name)
        if "global" in words:
            binds.update(name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names)
    else:
        for inner in ast.walk(node):
            match inner:
                case ast.Global():
                    binds.update(inner.names)
                case ast.Name(id=name, ctx=ast.Store()):
                    binds.add(name)
                case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                    stores.add(_base(inner))
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    binds.add(inner.name)
                case _:
                    binds.update(_bound_by_import(inner))
    acts = _calls(node) or "" in stores or (bool(stores) and not stores.isdisjoint(foreign()))
    if not acts:
        yield Piece(words, frozenset(binds | stores), acts)
        return
    runs, hands, bases = set(stores), set[str](), set[str]()
    for inner in _at_import(node):
        match inner:
            case ast.Expr(value=ast.Call(func=function)):
                runs.add(_base(function))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                hands.update(map(_base, inner.decorator_list))
                if isinstance(inner, ast.ClassDef):
                    bases.update(map(_base, inner.bases))
    yield Piece(words, frozenset(binds | stores), acts, frozenset(runs), frozenset(hands), frozenset(bases))


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and those in it, but for the bodies of functions."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.stmt | ast.excepthandler | ast.match_case):
                yield from _at_import(inner)


def _bound_by_import(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (each.asname or each.name.partition(".")[0] for each in node.names)


def _base(node: ast.AST) -> str:
    """Return the name whose attribute, entry or result is meant; "" where that is no name."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.stmt) -> bool:
    """Tell whether a statement may call something when the module is imported."""
    match node:
        case (
            ast.FunctionDef(decorator_list=decorators, args=args)
            | ast.AsyncFunctionDef(decorator_list=decorators, args=args)
        ):
            given = (*args.defaults, *filter(None, args.kw_defaults))
            return bool(decorators) or any(isinstance(inner, ast.Call) for each in given for inner in ast.walk(each))
        case ast.ClassDef():
            return bool(node.decorator_list or node.bases or node.keywords) or any(map(_calls, node.body))
        case ast.Expr(value=value):
            return not isinstance(value, ast.Constant)
        case ast.With() | ast.AsyncWith() | ast.Delete() | ast.Raise() | ast.Assert():
            return True
        case _:
            return any(isinstance(inner, ast.Call) for inner in ast.walk(node))
