"""From an import statement to a source file, without importing anything."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Sequence

from mfsdp_lint.core.numerals import refuse_huge
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import MARKERS
from mfsdp_lint.inputs.sources import NOTEBOOK, Sources, Unreadable
from mfsdp_lint.readers.python.state.outline import outline
from mfsdp_lint.readers.python.values.modules import Module

STDLIB = sys.stdlib_module_names
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""A file may be valid for another one."""
SOURCE_FOLDERS = ("", "src")


Parser = Callable[[str], ast.Module]

_parsed: dict[tuple[str, Parser], tuple[str, ast.Module]] = {}
"""The last trees of every file, with the text they are of: proofs of fixes read mostly unchanged files again."""


def parse(path: str, text: str, parser: Parser = ast.parse) -> ast.Module:
    """The syntax tree of a file; raises Unreadable with the place where it is no Python."""
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


class ModuleFinder:
    """Finds and remembers the modules that files import.

    A name is looked for from the folder of the importing file upwards (and in `src` there), up to the root of its
    project, then in `search_path`. What is not found there is not at hand.
    """

    def __init__(self, sources: Sources, search_path: Sequence[str] = ()) -> None:
        self.sources = sources
        self.search_path = tuple(search_path)
        self.by_path: dict[str, Module | None] = {}
        self.spellings: dict[str, str] = {}
        self._asked_for: set[str] = set()
        self._absolute: dict[str, str] = {}
        self._roots: dict[str, tuple[str, ...]] = {}
        self._added: dict[str, list[str]] = {}
        self._tops: dict[tuple[str, str], tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._entries: dict[str, disk.Listing] = {}
        self.folders: dict[str, int] = {}
        """The folders that programs speak of, numbered (see folders.py)."""
        self.texts: dict[str, str] = {}
        """The texts that programs read from files, and the files."""
        self.unreadable: list[Unreadable] = []
        """Those of the files asked for that turned out not to be readable."""
        self.users: dict[str, set[str]] = {}
        """The files that reached each file by their imports."""

    def load(self, path: str, name: str | None = None) -> Module | None:
        """The module in a file, parsed once; None when it cannot be read or parsed."""
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
        """Have these files appear under the paths that the user gave, however an import reaches them."""
        self.spellings.update((os.path.abspath(path), path) for path in paths)

    def ask_for(self, paths: Sequence[str]) -> None:
        """These files are what is to be read, and not only what that imports."""
        self.spell(paths)
        self._asked_for.update(map(os.path.abspath, paths))

    def resolve(self, name: str, importer: str) -> Module | None:
        """The module that `import name` in the file `importer` means, if its source is at hand."""
        path = self.find(name, importer)
        return self.load_for(importer, path, name) if path else None

    def load_for(self, importer: str, path: str, name: str | None = None) -> Module | None:
        """The module in a file that another file makes use of."""
        module = self.load(path, name)
        self.users.setdefault(path if module is None else module.path, set()).add(importer)
        return module

    def find(self, name: str, importer: str) -> str | None:
        """The file of a dotted module name (a package's `__init__.py`)."""
        folder = os.path.dirname(importer)
        key = (folder, name)
        if key not in self._found:
            self._found[key] = self._search(name, folder)
        return self._found[key]

    def _search(self, name: str, folder: str) -> str | None:
        parts = name.split(".")
        if parts[0] in STDLIB:
            return None
        for root in self._roots_with(parts[0], folder):
            path = self._in_root(root, parts)
            if path:
                return path
        return None

    def _roots_with(self, top: str, folder: str) -> tuple[str, ...]:
        """The roots that have a top-level package or module of that name."""
        key = (folder, top)
        if key not in self._tops:
            self._tops[key] = tuple(
                root for root in self.roots(folder) if top in self.entries(root) or f"{top}.py" in self.entries(root)
            )
        return self._tops[key]

    def _in_root(self, root: str, parts: list[str]) -> str | None:
        folder = root
        for part in parts[:-1]:
            if part not in self.entries(folder):
                return None
            folder = os.path.join(folder, part)
        last = parts[-1]
        entries = self.entries(folder)
        if last in entries:
            package = os.path.join(folder, last, "__init__.py")
            if "__init__.py" in self.entries(os.path.join(folder, last)):
                return os.path.normpath(package)
        if f"{last}.py" in entries:
            return os.path.normpath(os.path.join(folder, f"{last}.py"))
        return None

    def entries(self, folder: str) -> disk.Listing:
        """The names in a folder."""
        if folder not in self._entries:
            self._entries[folder] = disk.Listing(folder)
        return self._entries[folder]

    def roots(self, folder: str) -> tuple[str, ...]:
        """The folders in which a file in `folder` may find top-level modules, nearest first.

        What a package holds is not at the top level (the `torch` of `modelopt.torch`), except to its own scripts.
        """
        if folder not in self._roots:
            near = [
                os.path.join(above, source) if source else above
                for above in self._upwards(folder)
                if above == folder or "__init__.py" not in self.entries(above)
                for source in SOURCE_FOLDERS
            ]
            self._roots[folder] = (*self._added.get(folder, ()), *near, *self.search_path)
        return self._roots[folder]

    def add_root(self, folder: str, root: str) -> None:
        """Have the files in a folder find top-level modules in another one as well: they put it on `sys.path`."""
        added = self._added.setdefault(folder, [])
        if root in added:
            return
        added.insert(0, root)
        self._roots.pop(folder, None)
        for known in (self._tops, self._found):
            for key in [key for key in known if key[0] == folder]:
                del known[key]

    def _upwards(self, folder: str) -> Iterator[str]:
        here = folder
        absolute = os.path.abspath(folder)
        while True:
            yield here
            if any(marker in self.entries(here) for marker in MARKERS):
                return
            parent = os.path.dirname(absolute)
            if parent == absolute:
                return
            # Keep paths as the user wrote them for as long as they have folders to take off.
            here = (
                os.path.dirname(here) if os.path.dirname(here) and os.path.basename(here) not in ("..", ".") else parent
            )
            absolute = parent

    def dotted_name(self, path: str, tree: ast.Module) -> str:
        """The module name of a file that was not found by import, from its import root, wherever we were started."""
        absolute = os.path.abspath(path)
        parts = (
            os.path.relpath(absolute, self._import_root(absolute, path, tree))
            .removesuffix(".py")
            .removesuffix(NOTEBOOK)
            .split(os.sep)
        )
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    def _import_root(self, absolute: str, path: str, tree: ast.Module) -> str:
        """The nearest folder above a file that its own imports use; else the one above its packages, or, as a package
        need not have an `__init__.py`, the nearest of the search path."""
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
                for root in self._roots_with(parts[0], folder):
                    if root not in self.search_path and root != folder and self._in_root(root, parts):
                        found.add(root)
                        break
        return found


def _folders_above(path: str) -> Iterator[str]:
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        yield path


def relative_target(module: Module, level: int, name: str | None) -> str:
    """The file (or folder) that a relative import means, without checking that it is there."""
    folder = os.path.dirname(module.path)
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    return os.path.join(folder, *name.split(".")) if name else folder


def submodule(finder: ModuleFinder, importer: Module, target: str, name: str) -> Module | None:
    """The module in `target` (a path without suffix): a package or a file."""
    for candidate in (os.path.join(target, "__init__.py"), target + ".py"):
        if finder.sources.exists(candidate):
            return finder.load_for(importer.path, candidate, name)
    return None
