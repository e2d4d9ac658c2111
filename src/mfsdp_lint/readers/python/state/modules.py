"""From an import statement to a source file, without importing anything."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Sequence

from mfsdp_lint.core.values import refuse_huge
from mfsdp_lint.inputs.imports import SOURCE_FOLDERS, STDLIB, ModuleSearch
from mfsdp_lint.inputs.sources import NOTEBOOK, Sources, Unreadable
from mfsdp_lint.readers.python.state.outline import outline
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.relevance import Relevance

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""A file may be valid for another one."""

Parser = Callable[[str], ast.Module]

_parsed: dict[tuple[str, Parser], tuple[str, ast.Module]] = {}
"""The last trees of every file, with the text they are of: proofs of fixes read mostly unchanged files again."""


def parse(path: str, text: str, parser: Parser = ast.parse) -> ast.Module:
    """Return the syntax tree of a file. Raises Unreadable, with the place, where it is not Python."""
    known = _parsed.get((path, parser))
    if known is not None and known[0] == text:
        return known[1]
    tree = _parse(path, text, parser)
    _parsed[path, parser] = (text, tree)
    return tree


def _parse(path: str, text: str, parser: Parser) -> ast.Module:
    try:
        refuse_huge(text)
        return parser(text)
    except SyntaxError as error:
        raise Unreadable(path, error.lineno or 1, error.offset or 1, f"not valid {PYTHON}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        reason = "nested too deeply" if isinstance(error, (RecursionError, MemoryError)) else str(error)
        raise Unreadable(path, 1, 1, f"not valid {PYTHON}: {reason}") from None


def _lines_with(word: str, text: str) -> list[int]:
    if word not in text:
        return []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [number for number, line in enumerate(lines, 1) if word in line]


class ModuleFinder(ModuleSearch):
    """Finds and remembers the modules that files import."""

    def __init__(self, sources: Sources, search_path: Sequence[str] = (), relevance: Relevance | None = None) -> None:
        super().__init__(search_path)
        self.sources = sources
        self.relevance = relevance or Relevance(sources, search_path)
        self.by_path: dict[str, Module | None] = {}
        self.spellings: dict[str, str] = {}
        self._asked_for: set[str] = set()
        self._absolute: dict[str, str] = {}
        self.folders: dict[str, int] = {}
        """The folders that programs speak of, numbered (see folders.py)."""
        self.texts: dict[str, str] = {}
        """The texts that programs read from files, and the files."""
        self.unreadable: list[Unreadable] = []
        """Those of the files asked for that turned out not to be readable."""
        self.users: dict[str, set[str]] = {}
        """The files that reached each file by their imports."""

    def load(self, path: str, name: str | None = None) -> Module | None:
        """Return the module in a file, parsed once; None where it cannot be read or parsed."""
        key = self._absolute.get(path)
        if key is None:
            key = self._absolute[path] = os.path.abspath(path)
        if key not in self.by_path:
            path = self.spellings.get(key, path)
            try:
                text = self.sources.text(path)
                tree = parse(path, text) if key in self._asked_for else parse(path, text, outline)
            except Unreadable as error:
                self.by_path[key] = None
                if key in self._asked_for:
                    self.unreadable.append(error)
            else:
                module = Module(path, name or self.dotted_name(path, tree), tree, _lines_with("yield", text))
                module.asked_for = key in self._asked_for
                self.by_path[key] = module
        return self.by_path[key]

    def spell(self, paths: Sequence[str]) -> None:
        """Let these files appear under the paths that the user gave, however an import reaches them."""
        self.spellings.update((os.path.abspath(path), path) for path in paths)

    def ask_for(self, paths: Sequence[str]) -> None:
        """Mark these files as asked for: they are to be read themselves, not only as imports of others."""
        self.spell(paths)
        self._asked_for.update(map(os.path.abspath, paths))

    def resolve(self, name: str, importer: str) -> Module | None:
        """Return the module that `import name` in the file `importer` means, if its source is at hand."""
        path = self.find(name, importer)
        return self.load_for(importer, path, name) if path else None

    def load_for(self, importer: str, path: str, name: str | None = None) -> Module | None:
        """Return the module in a file that another file uses."""
        module = self.load(path, name)
        used = self.spellings.get(self._absolute[path], path) if module is None else module.path
        self.users.setdefault(used, set()).add(importer)
        return module

    def dotted_name(self, path: str, tree: ast.Module) -> str:
        """Return the module name of a file not found by import, from its import root, wherever the tool was started."""
        absolute = os.path.abspath(path)
        parts = (
            os.path.relpath(absolute, self._import_root(absolute, path, tree))
            .removesuffix(".py")
            .removesuffix(NOTEBOOK)
            .split(os.sep)
        )
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    def _import_root(self, absolute: str, path: str, tree: ast.Module) -> str:
        """Find the import root of a file: the nearest folder above it that its own imports use.

        Without one, it is the folder above its packages, or, as a package need not have an `__init__.py`, the nearest
        one of the search path.
        """
        used = {os.path.abspath(root) for root in self._import_roots(path, tree)}
        above = os.path.dirname(absolute)
        using = next((folder for folder in _folders_above(absolute) if folder in used), None)
        if using is not None or used:
            return using or above
        while "__init__.py" in self.entries(above) and os.path.dirname(above) != above:
            above = os.path.dirname(above)
        searched = {os.path.abspath(root) for root in self.search_path}
        if os.path.basename(above) in SOURCE_FOLDERS:
            return above
        return next((folder for folder in (above, *_folders_above(above)) if folder in searched), above)

    def _import_roots(self, path: str, tree: ast.Module) -> set[str]:
        folder = os.path.dirname(path)
        found = set()
        for node in tree.body:
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level and node.module else []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] in STDLIB:
                    continue
                for root in self.roots_with(parts[0], folder):
                    if root not in self.search_path and root != folder and self.in_root(root, parts):
                        found.add(root)
                        break
        return found


def _folders_above(path: str) -> Iterator[str]:
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        yield path


def submodule(finder: ModuleFinder, importer: Module, target: str, name: str) -> Module | None:
    """Return the module in `target` (a path without suffix): a package or a file; None where neither exists."""
    for candidate in (os.path.join(target, "__init__.py"), target + ".py"):
        if finder.sources.exists(candidate):
            return finder.load_for(importer.path, candidate, name)
    return None
