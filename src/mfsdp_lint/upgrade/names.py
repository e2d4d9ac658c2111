"""The names of Megatron-Bridge and megatron-core that a Python file uses, and its calls of them, with their places.

What is imported under `except ImportError`, or for type checkers alone, is there for the release that lacks the name.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.upgrade.library import CORE, RECIPES, Name

_MENTIONED = lazy_pattern(r"\bmegatron\.(bridge|core)\b")
_FALLBACKS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name of the library in a file: imported from its module (`name`), or a module itself (None).

    `span` is the text of the name, `local` what the file calls it, `statement` the whole import. `uses` are the places
    in the file that say `local`, where nothing else in the file is called so; None where something is.
    """

    module: str
    name: str | None
    local: str
    span: Span
    statement: ast.Import | ast.ImportFrom | None
    uses: tuple[Span, ...] | None


@dataclass(frozen=True, slots=True)
class CallUse:
    """A call of a function or class of the library. `owner` is the statement that it is the value of, if it is one."""

    function: Name
    node: ast.Call
    span: Span
    owner: ast.stmt | None


@dataclass(frozen=True, slots=True)
class MemberUse:
    """A name that is read from a class of the library (`AttnBackend.flash`), with its place."""

    owner: Name
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class FileNames:
    """The uses of the library in one file, whose statements are its `body`."""

    path: str
    text: str
    body: Sequence[ast.stmt]
    names: tuple[NameUse, ...]
    calls: tuple[CallUse, ...]
    members: tuple[MemberUse, ...]


def names_in(path: str, text: str) -> FileNames | None:
    """Find the uses of the library in a file; None where it has none, or cannot be parsed."""
    tree = parsed(text) if _MENTIONED.search(text) else None
    return None if tree is None else _FileUses(path, text, tree).names()


class _FileUses:
    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self._path, self._text, self._tree = path, text, tree
        self._lines = Lines(text)
        self._bound = Counter(_bound_names(tree))
        self._read: dict[str, list[Span]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._read.setdefault(node.id, []).append(self._lines.of_node(path, node))
        self._names: dict[str, Name] = {}
        """The names of functions and classes that the file imports, as it calls them."""
        self._modules: dict[str, str] = {}

    def names(self) -> FileNames | None:
        found = [
            use for node, guarded in _imports(self._tree.body, False) if not guarded for use in self._imported(node)
        ]
        members: list[MemberUse] = []
        for node in self._attributes():
            if (module := self._module_of(node.value)) is not None:  # as in `llama.llama3_8b_pretrain_config`
                found.append(NameUse(module, node.attr, node.attr, self._last(node), None, None))
            if (owner := self._imported_name(node.value)) is not None:
                members.append(MemberUse(owner, node.attr, self._last(node)))
        if not found:
            return None
        calls = tuple(self._calls())
        return FileNames(self._path, self._text, self._tree.body, tuple(found), calls, tuple(members))

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[NameUse]:
        if isinstance(node, ast.ImportFrom):
            if node.level or not _is_theirs(node.module or ""):
                return
            for alias in node.names:
                if alias.name == "*":
                    continue
                local = alias.asname or alias.name
                self._names[local] = (node.module or "", alias.name)
                self._modules[local] = f"{node.module}.{alias.name}"
                span = self._lines.of_beginning(self._path, alias, alias.name)
                yield NameUse(node.module or "", alias.name, local, span, node, self._uses(local))
            return
        for alias in node.names:
            if _is_theirs(alias.name):
                local = alias.asname or alias.name
                self._modules[local] = alias.name
                span = self._lines.of_beginning(self._path, alias, alias.name)
                yield NameUse(alias.name, None, local, span, node, None)

    def _uses(self, local: str) -> tuple[Span, ...] | None:
        return tuple(self._read.get(local, ())) if self._bound[local] == 1 else None

    def _attributes(self) -> Iterator[ast.Attribute]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node

    def _imported_name(self, node: ast.expr) -> Name | None:
        """Return the name of the library that an expression is, if it is one."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id) if self._bound[node.id] == 1 else None
        if isinstance(node, ast.Attribute) and (module := self._module_of(node.value)):
            return module, node.attr
        return None

    def _last(self, node: ast.Attribute) -> Span:
        """Return the place of the last name of a dotted one."""
        end = self._lines.of_node(self._path, node)
        return Span(self._path, end.end_line, end.end_column - len(node.attr), end.end_line, end.end_column)

    def _module_of(self, node: ast.expr) -> str | None:
        dotted = _dotted(node)
        if dotted is None or self._bound[dotted.partition(".")[0]] > 1:
            return None
        return self._modules.get(dotted)

    def _calls(self) -> Iterator[CallUse]:
        owners = {
            id(node.value): node
            for node in ast.walk(self._tree)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and node.value is not None
        }
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Call):
                continue
            function = self._imported_name(node.func)
            if function is not None:
                yield CallUse(function, node, self._lines.of_node(self._path, node), owners.get(id(node)))


def _is_theirs(module: str) -> bool:
    return f"{module}.".startswith((RECIPES, CORE))


def _dotted(node: ast.expr) -> str | None:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _imports(body: list[ast.stmt], guarded: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield every import of a piece of code, and whether a release may lack its names."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, guarded
        elif isinstance(node, ast.Try):
            falls_back = any(_catches_imports(handler) for handler in node.handlers)
            yield from _imports(node.body, guarded or falls_back)
            for handler in node.handlers:
                yield from _imports(handler.body, guarded or _catches_imports(handler))
            yield from _imports([*node.orelse, *node.finalbody], guarded)
        elif isinstance(node, ast.If):
            # A test of a version, or for type checkers, decides for which release the branch is.
            test = ast.unparse(node.test)
            chosen = guarded or "TYPE_CHECKING" in test or "version" in test.lower()
            yield from _imports([*node.body, *node.orelse], chosen)
        else:
            for field in ("body", "orelse"):
                inner = getattr(node, field, None)
                if isinstance(inner, list):
                    yield from _imports(inner, guarded)


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(each, ast.Name) and each.id in _FALLBACKS for each in named)


def _bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield every name that anything in a file binds, as often as it does; an import written twice counts once."""
    imported: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                module = getattr(node, "module", "") or ""
                for alias in names:
                    local = alias.asname or (
                        alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0]
                    )
                    if (local, f"{module}.{alias.name}") not in imported or isinstance(node, ast.Import):
                        imported.add((local, f"{module}.{alias.name}"))
                        yield local
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def keywords(node: ast.Call) -> Mapping[str, ast.keyword]:
    """Return the keyword arguments of a call by name."""
    return {each.arg: each for each in node.keywords if each.arg is not None}
