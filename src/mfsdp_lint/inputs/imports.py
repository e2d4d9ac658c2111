"""Imports of Python files: the statements in a text, found unparsed, and the file that a module's name leads to.

The tree of a text is here as well, parsed once for all who ask.

More statements are found than there are: a comment may read like an import. None is overlooked, wherever it stands: in
a function, under a condition, behind a semicolon. Modules are found by the rules of Python's imports, without reading
any file.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import has_marker

_STATEMENT = lazy_pattern(
    # What a lookahead has found is not tried again in parts: the dots in front of a module take linear time.
    # Each alternative begins with a letter, in front of what is asked of the place: so places are found twice as fast.
    r"""
    f(?<=\bf)rom\b(?=(?P<dots>(?:[. \t]|\\\r?\n)*))(?P=dots)(?P<module>(?:\w[\w.]*)?)(?:[ \t]|\\\r?\n)*\bimport\b
        (?P<names>(?:[ \t]|\\\r?\n)*(?:\((?:[^)#]|\#[^\n]*)*|(?:[^\n(;#\\]|\\\r?\n)*))
    | i(?<=\bi)mport(?:
        (?:[ \t]|\\\r?\n)(?P<modules>(?:[^\n;#\\]|\\\r?\n)*)
        | _module\b(?=(?P<call>\s*\(?\s*[^\n]{0,200}))
      )
    | _(?<=\b_)_import__\b(?=(?P<builtin>\s*\(?\s*[^\n]{0,200}))
    """,
    re.VERBOSE,
)
_COMMENT = lazy_pattern(r"#[^\n]*")
_LITERAL = lazy_pattern(r"\s*\(\s*[\"'](?P<dots>\.*)(?P<module>[\w.]+)[\"'](?P<whole>\s*[,)])?")
_ALIAS = lazy_pattern(r"(?P<name>[^\W\d][\w.]*|\*)(?:\s+as\s+(?P<alias>\w+))?")


@lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module | None:
    """Return the tree of a text; None where it is no Python of the version that runs the tool."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=1024)
def parses(text: str) -> bool:
    """Tell whether a text is Python of the version that runs the tool."""
    return parsed(text) is not None


@dataclass(frozen=True, slots=True)
class Import:
    """A module that a file imports.

    `level` is the number of dots in front of it. `names` are what is imported from it; none where it is the module
    itself, and then `whole` says that the name of its outermost package is bound, as `import a.b` binds `a`. `words`
    are those of a call that imports what it does not say as it stands, as far as the line goes.
    """

    level: int
    module: str
    names: tuple[str, ...] = ()
    whole: bool = False
    words: tuple[str, ...] = ()


@lru_cache(maxsize=8192)
def imports_of(text: str) -> tuple[Import, ...]:
    """Return the imports in the text of a file that is read anyway: a run asks for them several times."""
    return tuple(imports_in(text))


def imports_in(text: str) -> Iterator[Import]:
    """Yield the imports in a text, in their order."""
    for found in _statements(text):
        if found["modules"] is not None:
            for alias in map(_ALIAS.match, map(str.strip, found["modules"].replace("\\", " ").split(","))):
                if alias is not None:
                    yield Import(0, alias["name"], whole=alias["alias"] is None)
        elif (call := found["builtin"] if found["call"] is None else found["call"]) is not None:
            literal = _LITERAL.match(call)
            module = ("", "") if literal is None else (literal["dots"], literal["module"])
            is_said = literal is not None and literal["whole"] is not None
            words = () if is_said else tuple(re.findall(r"[^\W\d]\w*", call))
            yield Import(len(module[0]), module[1], words=words)
        else:
            names = _ALIAS.finditer(_COMMENT.sub("", found["names"]))
            yield Import(found["dots"].count("."), found["module"], tuple(each["name"] for each in names))


def _statements(text: str) -> Iterator[re.Match[str]]:
    """Yield the statements and calls; text far from the word that each of them has is passed over."""
    end = 0
    while (at := text.find("import", end)) >= 0:
        start = text.rfind("\n", end, at) + 1
        while start > end and text[max(end, start - 3) : start].rstrip("\r\n").endswith("\\"):
            start = text.rfind("\n", end, start - 1) + 1
        found = _STATEMENT.search(text, max(start, end))
        if found is None:
            return
        yield found
        end = found.end()


folder_of = lru_cache(maxsize=65536)(os.path.dirname)
"""`os.path.dirname`, of which a search asks many times for the same files."""

STDLIB = sys.stdlib_module_names
SOURCE_FOLDERS = ("", "src")


def closure(starts: Iterable[str], leads_to: Callable[[str], Iterable[str]]) -> dict[str, None]:
    """Collect files or modules with all that they lead to, directly or through others, in the order of the search."""
    found = dict.fromkeys(starts)
    pending = [*found]
    while pending:
        for each in leads_to(pending.pop()):
            if each not in found:
                found[each] = None
                pending.append(each)
    return found


def relative_target(path: str, level: int, name: str | None) -> str:
    """Return the path without suffix that a relative import in a file means, without checking that it is there."""
    folder = os.path.dirname(path)
    for _ in range(level - 1):
        named = os.path.basename(folder) not in ("", os.curdir, os.pardir)
        folder = os.path.dirname(folder) if named else os.path.join(folder, os.pardir)
    return os.path.join(folder, *name.split(".")) if name else folder


class ModuleSearch:
    """Looks for modules, and remembers where they are.

    A name is looked for from the folder of the importing file upwards (and in `src` there), up to the root of its
    project, then in `search_path`. What is not found there is not at hand. A search shares what it finds with the one
    that it is `like`, until a root is added to it.
    """

    def __init__(self, search_path: Sequence[str] = (), like: ModuleSearch | None = None) -> None:
        self.search_path = tuple(search_path)
        self._added: dict[str, list[str]] = {}
        if like is not None and (like.search_path != self.search_path or like.has_own_roots):
            like = None
        self._roots: dict[str, tuple[str, ...]] = {} if like is None else like._roots
        self._tops: dict[tuple[str, str], tuple[str, ...]] = {} if like is None else like._tops
        self._found: dict[tuple[str, str], str | None] = {} if like is None else like._found
        self._entries: dict[str, disk.Listing] = {} if like is None else like._entries
        self._in_roots: dict[tuple[str, str], str | None] = {} if like is None else like._in_roots

    @property
    def has_own_roots(self) -> bool:
        """Tell whether roots were added for the files of some folders."""
        return any(self._added.values())

    def has_roots_for(self, folder: str) -> bool:
        """Tell whether roots were added for the files of this folder."""
        return bool(self._added.get(folder))

    def find(self, name: str, importer: str) -> str | None:
        """Find the file of a dotted module name (a package's `__init__.py`)."""
        return self.find_from(folder_of(importer), name)

    def find_from(self, folder: str, name: str) -> str | None:
        """Find the file of a module for the files of a folder."""
        key = (folder, name)
        if key not in self._found:
            top = name.partition(".")[0]
            roots = () if top in STDLIB else self.roots_with(top, folder)
            self._found[key] = next((path for root in roots if (path := self._named_in_root(root, name))), None)
        return self._found[key]

    def _named_in_root(self, root: str, name: str) -> str | None:
        """Return the file of a dotted name in a root; the folders of a package share their roots."""
        key = (root, name)
        if key not in self._in_roots:
            self._in_roots[key] = self.in_root(root, name.split("."))
        return self._in_roots[key]

    def roots_with(self, top: str, folder: str) -> tuple[str, ...]:
        """Return the roots that have a top-level package or module of that name."""
        key = (folder, top)
        if key not in self._tops:
            self._tops[key] = tuple(
                root for root in self.roots(folder) if top in self.entries(root) or f"{top}.py" in self.entries(root)
            )
        return self._tops[key]

    def in_root(self, root: str, parts: list[str]) -> str | None:
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
        """Return the names in a folder."""
        if folder not in self._entries:
            self._entries[folder] = disk.Listing(folder)
        return self._entries[folder]

    def roots(self, folder: str) -> tuple[str, ...]:
        """Return the folders in which a file in `folder` may find top-level modules, nearest first.

        Modules in a package are not at the top level (the `torch` of `modelopt.torch`), except to its own scripts.
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
        """Let the files in a folder find top-level modules in another one as well: they put it on `sys.path`."""
        added = self._added.setdefault(folder, [])
        if root in added:
            return
        if not any(self._added.values()):
            self._roots, self._tops, self._found = dict(self._roots), dict(self._tops), dict(self._found)
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
            if has_marker(self.entries(here).__contains__):
                return
            parent = os.path.dirname(absolute)
            if parent == absolute:
                return
            # Keep paths as the user wrote them for as long as they have folders to take off.
            here = (
                os.path.dirname(here) if os.path.dirname(here) and os.path.basename(here) not in ("..", ".") else parent
            )
            absolute = parent
