"""Upstream source as modules: from a folder, or from one revision of a git repository."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol


class Tree(Protocol):
    """The files of one source tree."""

    def text(self, path: str) -> str | None:
        """Return the text of a file by its path from the root; None if there is none."""


class Folder:
    """A checkout, or an unpacked wheel."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def text(self, path: str) -> str | None:
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except OSError:
            return None


class Revision:
    """A commit of a git repository, which need not be checked out."""

    def __init__(self, repository: Path, commit: str) -> None:
        self.repository = repository
        self.commit = commit
        known = ["git", "-C", str(repository), "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}"]
        if subprocess.run(known, capture_output=True, check=False).returncode:
            raise LookupError(f"{repository}: no revision {commit}")

    def text(self, path: str) -> str | None:
        asked = ["git", "-C", str(self.repository), "show", f"{self.commit}:{path}"]
        shown = subprocess.run(asked, capture_output=True, check=False)
        return None if shown.returncode else shown.stdout.decode()


Found = tuple["Module", ast.AST]
"""A definition (class, function, or the value that a name is bound to) and the module that it stands in."""


class Module:
    """A module: its top-level definitions and imports. The last definition of a name counts, and those under `if` and
    `try` take precedence over those under `else` and `except`.
    """

    def __init__(self, source: Source, name: str, tree: ast.Module, is_package: bool) -> None:
        self.source = source
        self.name = name
        self.tree = tree
        self._package = name if is_package else name.rpartition(".")[0]
        self._defined: dict[str, ast.AST] = {}
        self._imported: dict[str, tuple[str, str]] = {}
        self._stars: list[str] = []
        for statement in _statements(tree.body):
            self._note(statement)

    def find(self, name: str) -> Found | None:
        """Find the definition of a name of this module, through imports; None if the source at hand lacks it."""
        return self._find(name, frozenset())

    def _find(self, name: str, seen: frozenset[tuple[str, str]]) -> Found | None:
        if (self.name, name) in seen:
            return None
        seen |= {(self.name, name)}
        if name in self._defined:
            return self, self._defined[name]
        if name in self._imported:
            origin, original = self._imported[name]
            places = [(origin, original)]
        else:
            places = [(star, name) for star in self._stars]
        for origin, original in places:
            module = self.source.module(origin)
            found = module._find(original, seen) if module is not None else None
            if found is not None:
                return found
        return None

    def qualified(self, name: str) -> str:
        """Return the dotted name of an imported name; the name itself if it is not imported."""
        origin, original = self._imported.get(name, ("", name))
        return f"{origin}.{original}".strip(".")

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                self._defined[name] = statement
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._defined[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._defined[name] = value
            case ast.Import(names=names):
                for alias in names:
                    self._imported[alias.asname or alias.name] = ("", alias.name)
            case ast.ImportFrom(names=names):
                origin = self._origin(statement)
                for alias in names:
                    if alias.name == "*":
                        self._stars.append(origin)
                    else:
                        self._imported[alias.asname or alias.name] = (origin, alias.name)

    def _origin(self, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        package = self._package.split(".")
        above = package[: len(package) - (statement.level - 1)]
        return ".".join([*above, *filter(None, [statement.module])])


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements, so ordered that the last one that binds a name is the one that counts."""
    for statement in body:
        match statement:
            case ast.If(body=first, orelse=second):
                yield from _statements([*second, *first])
            case ast.Try(body=first, handlers=handlers, orelse=second):
                for handler in handlers:
                    yield from _statements(handler.body)
                yield from _statements([*first, *second])
            case _:
                yield statement


class Source:
    """The modules of some trees; of two trees that have a module the first one counts."""

    def __init__(self, *trees: Tree) -> None:
        self._trees = trees
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """Return a module by its dotted name; None if no tree has it."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def _read(self, name: str) -> Module | None:
        path = name.replace(".", "/")
        if not path:
            return None
        for tree in self._trees:
            for root in ("", "src/"):
                for end in (".py", "/__init__.py"):
                    text = tree.text(root + path + end)
                    if text is not None:
                        return Module(self, name, ast.parse(text), end != ".py")
        return None
