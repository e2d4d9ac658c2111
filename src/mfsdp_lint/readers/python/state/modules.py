"""From an import statement to a source file, without importing anything."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from mfsdp_lint.inputs.imports import SOURCE_FOLDERS, STDLIB, ModuleSearch
from mfsdp_lint.inputs.projects import shown
from mfsdp_lint.inputs.sources import NOTEBOOK, Sources, Unreadable
from mfsdp_lint.readers.python.state.parsing import outline, parse
from mfsdp_lint.readers.python.values.objects import Module
from mfsdp_lint.readers.relevance import Relevance


def _lines_with(word: str, text: str) -> list[int]:
    if word not in text:
        return []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [number for number, line in enumerate(lines, 1) if word in line]


class ModuleFinder(ModuleSearch):
    """Finds and remembers the modules that files import."""

    def __init__(self, sources: Sources, search_path: Sequence[str] = (), relevance: Relevance | None = None) -> None:
        self.relevance = relevance or Relevance(sources, search_path)
        super().__init__(search_path, self.relevance.search)
        self.sources = sources
        self.by_path: dict[str, Module | None] = {}
        self.spellings: dict[str, str] = {}
        self._asked_for: set[str] = set()
        self._names: dict[str, str] = {}
        self._absolute: dict[str, str] = {}
        self.folders: dict[str, int] = {}
        """The folders that programs speak of, numbered."""
        self.texts: dict[str, str] = {}
        """The texts that programs read from files, and the files."""
        self.parts: dict[str, tuple[tuple[str, Any], ...]] = {}
        """The texts that programs made of such ones: their parts, each with what gives it."""
        self.unreadable: list[Unreadable] = []
        """Those of the files asked for that turned out not to be readable."""
        self.users: dict[str, set[str]] = {}
        """The files that reached each file by their imports."""
        self.uses: dict[str, set[str]] = {}
        """The files that each file reached by its imports."""
        self.asking: dict[str, set[str]] = {}
        """The files that only asked whether a file is there."""

    def symbol(self, folder: str) -> str:
        """Return the symbol that represents a folder in a program's texts."""
        return f"<DIR:{self.folders.setdefault(os.path.abspath(folder), len(self.folders))}>"

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
                name = self._names.get(key) or name or self.dotted_name(path, tree)
                module = Module(path, name, tree, _lines_with("yield", text))
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

    def call(self, names: Mapping[str, str]) -> None:
        """Give files the names of their modules: whoever loads them first, they are what they were."""
        self._names = {os.path.abspath(path): name for path, name in names.items()}

    def asked_among(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of some absolute paths that were asked for."""
        return frozenset(path for path in paths if path in self._asked_for)

    def anew(self) -> ModuleFinder:
        """Return a finder of the same files, asked for the same ones, that has not loaded any yet."""
        other = ModuleFinder(self.sources, self.search_path, self.relevance)
        other.spellings = dict(self.spellings)
        other._asked_for = set(self._asked_for)
        return other

    def resolve(self, name: str, importer: str) -> Module | None:
        """Return the module that `import name` in the file `importer` means, if its source is at hand."""
        path = self.find(name, importer)
        return self.load_for(importer, path, name) if path else None

    def load_for(self, importer: str, path: str, name: str | None = None) -> Module | None:
        """Return the module in a file that another file uses."""
        if os.path.isabs(path) and not os.path.isabs(importer):  # a program has put the absolute path of a folder there
            path = shown(path)
        module = self.load(path, name)
        used = self.spellings.get(self._absolute[path], path) if module is None else module.path
        self.note_use(used, importer)
        return module

    def note_use(self, used: str, importer: str) -> None:
        """Note that a file uses another one."""
        self.users.setdefault(used, set()).add(importer)
        self.uses.setdefault(importer, set()).add(used)

    def has(self, name: str, importer: str) -> bool:
        """Tell whether the source of a module is at hand, for a file that asks."""
        path = self.find(name, importer)
        if path is not None:
            self.ask(path, importer)
        return path is not None

    def ask(self, path: str, importer: str) -> None:
        """Note that a file was asked for, and is there."""
        self.asking.setdefault(self.spellings.get(os.path.abspath(path), path), set()).add(importer)

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
        one of the search path. `megatron`, which several distributions fill, has none in any of them.
        """
        used = {os.path.abspath(root) for root in self._import_roots(path, tree)}
        above = os.path.dirname(absolute)
        using = next((folder for folder in _folders_above(absolute) if folder in used), None)
        if using is not None or used:
            return using or above
        while "__init__.py" in self.entries(above) and os.path.dirname(above) != above:
            above = os.path.dirname(above)
        if os.path.basename(above) == "megatron" and above != os.path.dirname(absolute):
            return os.path.dirname(above)
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
                    there = None if root in self.search_path or root == folder else self.in_root(root, parts)
                    if there is not None:
                        self.ask(there, path)
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
