"""The files that make up a program: a file and all that importing it runs, in the order in which Python runs it.

What modules hold belongs to a program. Where importing a module changes what another one holds (it replaces a
function, fills a registry), the programs that have it are evaluated apart from those that do not. Upstream's own
modules are left out: what a release holds once it is imported is known without its source.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.imports import closure, folder_of, imports_of, relative_target
from mfsdp_lint.readers.python.state.modules import ModuleFinder

_STATEMENTS = lazy_pattern(r"^(?=[^\s#)\]}\"'])", re.MULTILINE)
_DEFINES = lazy_pattern(r"(?:async\s+)?(?:def|class)\b|@")
_FUNCTION = lazy_pattern(
    r"^(?P<head>(?P<indent>[ \t]*)(?:async[ \t]+)?def\b[^\n]*(?:[(\[{,][ \t]*\n(?:[^\n]*\n)*?[^\n]*\)[^\n]*)?:[ \t]*"
    r"(?:#[^\n]*)?\n)"
    r"(?:(?:(?P=indent)[ \t]+[^\n]*|[ \t]*)(?:\n|\Z))*",
    re.MULTILINE,
)
_GUARD = lazy_pattern(r"if\b[^\n:]*__name__")
_IMPORT = lazy_pattern(
    r"^[ \t]*(?:from[ \t]+(?P<dots>[. \t]*)(?P<module>[\w.]*)[ \t]+import\b[ \t]*(?P<names>\([^)]*\)|[^\n]*)"
    r"|import[ \t]+(?P<modules>[^\n]*))",
    re.MULTILINE,
)
_ALIAS = lazy_pattern(r"([A-Za-z_][\w.]*)(?:\s+as\s+(\w+))?")
_COMMENT = lazy_pattern(r"#[^\n]*")
_WORD = lazy_pattern(r"[A-Za-z_]\w*")
_WRITES = lazy_pattern(r"^[ \t]*(?:del\b|[A-Za-z_][\w.]*(?:\[[^\n]*\]|\.\w+)[^\n=]*=(?!=))", re.MULTILINE)
_INDIRECT = frozenset(("sys", "setattr", "delattr", "patch", "mock", "exec", "import_module", "globals"))
"""Words with which the top level of a file may change other modules without the name of one of them."""
_CLASS = lazy_pattern(r"^[ \t]*class\b", re.MULTILINE)
_HOOKS = lazy_pattern(
    r"\b__(?:init_subclass|set_name|prepare)__\b|\bclass\b[^\n(]*\([ \t]*(?:\w+\.)*(?:type|EnumType|EnumMeta|ABCMeta)\b"
    r"|\bmetaclass[ \t]*=(?![ \t]*(?:abc\.)?ABCMeta\b)"
)
"""Text of a class that runs code where another class is defined with it: its hook, or a metaclass or the use of one."""
_SETS_VARIABLE = lazy_pattern(
    r"\b(?:putenv|unsetenv|load_dotenv)\b|\bdel\b[^\n]*\benviron\b|\benviron[ \t]*(?:$|,|\)|\|="
    r"|as\b|\[[^\n]*\][ \t]*[^\s=!<>]{0,2}=(?!=)|\.(?!get\b|copy\b|items\b|keys\b|values\b))",
    re.MULTILINE,
)
"""Text that may set a variable of the process, or hands `os.environ` on."""


@dataclass(frozen=True, slots=True)
class _Import:
    """An imported module: its dotted name behind `level` dots, the names taken from it, and those that are bound."""

    level: int
    module: str
    names: tuple[str, ...]
    bound: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _ImportOutline:
    """The files that the top level of a file imports. It `may_affect` other modules where it calls or writes something
    that is not its own, or has `classes` made of what is not, which may have `hooks` for that.
    """

    reached: tuple[str, ...]
    may_affect: bool
    classes: bool = False
    hooks: bool = False


class ProgramFiles:
    """The programs of the files at hand, without the modules that `is_upstream` names; every file is looked at once.

    `without` says for all who share the files at hand which modules these are.
    """

    def __init__(
        self, finder: ModuleFinder, is_upstream: Callable[[str], bool] = lambda name: False, without: object = None
    ) -> None:
        self.finder = finder
        self.is_upstream = is_upstream
        self._run_by = finder.relevance.run_by.setdefault(without, {})
        self._programs = finder.relevance.programs.setdefault(without, {})
        self._outlined: dict[str, _ImportOutline] = finder.relevance.outlines.setdefault(without, {})
        self._hooked_anywhere: dict[str, bool] = finder.relevance.hooked.setdefault(without, {})
        self._hooked: dict[str, bool] = {}
        self._outlines: dict[str, _ImportOutline] = {}
        self._orders: dict[str, tuple[str, ...]] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._mentioned: dict[str, tuple[str, ...]] = {}
        self._reaches: dict[str, tuple[str, ...]] = {}
        self._packages: dict[str, tuple[str, ...]] = {}
        self.computed: dict[str, list[str]] = {}
        """The files that the top level of a file imports by names that it works out."""

    def order(self, path: str) -> tuple[str, ...]:
        """List the files that importing a file runs, itself the last; each twice: when it begins, and when it ends."""
        if path not in self._orders:
            begun: set[str] = set()
            events: list[str] = []
            pending: list[tuple[str, Iterator[str]]] = []

            def begin(here: str) -> None:
                begun.add(here)
                events.append(here)
                pending.append((here, iter((*self._outline(here).reached, *self.computed.get(here, ())))))

            for package in (*self.packages(path), path):
                if package not in begun:
                    begin(package)
                while pending:
                    here, reached = pending[-1]
                    following = next((each for each in reached if each not in begun), None)
                    if following is None:
                        events.append(here)
                        pending.pop()
                    else:
                        begin(following)
            self._orders[path] = tuple(events)
        return self._orders[path]

    def files(self, path: str) -> tuple[str, ...]:
        """Return the files of a program, each once."""
        if path not in self._files:
            self._files[path] = tuple(dict.fromkeys(self.order(path)))
        return self._files[path]

    def reach(self, path: str) -> tuple[str, ...]:
        """Return the files of a program with those that its functions may import, each once."""
        if path not in self._reaches:
            known = {} if self.finder.has_own_roots or self.computed else self._programs
            if path not in known:
                files = tuple(closure((path,), self._mentions))
                known[path] = files, frozenset(map(self.finder.sources.key, files))
            self._reaches[path], texts = known[path]
            self.finder.sources.note(texts)
        return self._reaches[path]

    def _mentions(self, path: str) -> tuple[str, ...]:
        """Return the files that a file may import, wherever in its text, and the packages that it lies in."""
        if path not in self._mentioned:
            found = (*self.packages(path), *self.computed.get(path, ()), *self._imported_anywhere(path))
            self._mentioned[path] = tuple(dict.fromkeys(found))
        return self._mentioned[path]

    def _imported_anywhere(self, path: str) -> tuple[str, ...]:
        known = {} if self.finder.has_roots_for(folder_of(path)) else self._run_by
        if path not in known:
            every = imports_of(self.finder.sources.text_or_none(path) or "")
            found = (file for each in every for file in self.imported(path, each.level, each.module, each.names))
            known[path] = tuple(dict.fromkeys(found))
        return known[path]

    def suspects(self, paths: Iterable[str]) -> list[str]:
        """List the files of these programs whose import may change the contents of other modules, in their order."""
        every = dict.fromkeys(each for path in paths for each in self.reach(path))
        return [each for each in every if self._outline(each).may_affect or self.runs_hooks(each)]

    def run_text(self, path: str) -> str:
        """Return the text of a file that importing it runs: all but the bodies of its functions and methods."""
        return _FUNCTION.sub(r"\g<head>", self.finder.sources.text_or_none(path) or "")

    def runs_hooks(self, path: str) -> bool:
        """Tell whether the definition of a class in a file may run code of another file."""
        if path not in self._hooked:
            known = {} if self.finder.has_own_roots or self.computed else self._hooked_anywhere
            if path in known:
                self.reach(path)  # whose texts say so
            else:
                known[path] = self._outline(path).classes and any(
                    self._outline(each).hooks for each in self.files(path) if each != path
                )
            self._hooked[path] = known[path]
        return self._hooked[path]

    def imported(self, importer: str, level: int, name: str, names: Iterable[str]) -> list[str]:
        """List the files that an import statement of a file runs, the outer packages first."""
        if not level:
            if self.is_upstream(name):
                return []
            return self._named(name, folder_of(importer), names)
        base = relative_target(importer, level, name)
        places = [base, *(os.path.join(base, each) for each in names)]
        return [path for path in map(self._file, places) if path is not None and path != importer]

    def _file(self, place: str) -> str | None:
        folder, name = os.path.split(place)
        return self.finder.in_root(folder, [name]) if name.isidentifier() else None

    def _named(self, name: str, folder: str, names: Iterable[str]) -> list[str]:
        """List the existing files of a module, by its dotted name, and of the modules below it, for a folder."""
        path = self.finder.find_from(folder, name)
        ran: list[str] = []
        if path is not None:
            depth = name.count(".")
            ran = [*(self.packages(path)[-depth:] if depth else ()), path]
        elif "." in name:
            ran = self._named(name.rpartition(".")[0], folder, ())
        if path is None or os.path.basename(path) == "__init__.py":
            # A file has no modules below it.
            below = (self.finder.find_from(folder, f"{name}.{each}") for each in names)
            ran += [each for each in below if each is not None]
        return ran

    def packages(self, path: str) -> tuple[str, ...]:
        """Return the packages that a file lies in, the outer ones first: they are imported before it."""
        folder, name = os.path.split(path)
        packages = self._packages_of(folder)
        return packages[:-1] if name == "__init__.py" else packages

    def _packages_of(self, folder: str) -> tuple[str, ...]:
        if folder not in self._packages:
            package = os.path.join(folder, "__init__.py")
            inside = folder and "__init__.py" in self.finder.entries(folder)
            self._packages[folder] = (*self._packages_of(os.path.dirname(folder)), package) if inside else ()
        return self._packages[folder]

    def _outline(self, path: str) -> _ImportOutline:
        if path not in self._outlines:
            text = self.finder.sources.text_or_none(path)
            known = {} if self.finder.has_roots_for(folder_of(path)) else self._outlined
            if path not in known:
                known[path] = _ImportOutline((), False) if text is None else self._read(path, text)
            self._outlines[path] = known[path]
        return self._outlines[path]

    def _read(self, path: str, text: str) -> _ImportOutline:
        reached: dict[str, None] = {}
        others = set(_INDIRECT)
        may_affect = decorated = classes = False
        for statement in _STATEMENTS.split(text):
            classes = classes or (
                _CLASS.search(statement) is not None and not others.isdisjoint(_WORD.findall(statement))
            )
            if _DEFINES.match(statement):
                # A decorator is a call of its own.
                decorator = _WORD.search(statement) if statement.startswith("@") else None
                decorated = decorated or (decorator is not None and decorator.group() in others)
                others.update(_WORD.findall(statement)[1:2] if statement.startswith(("def", "async")) else ())
                continue
            for each in _imports(statement):
                files = self.imported(path, each.level, each.module, each.names)
                reached.update(dict.fromkeys(files))
                if files or self.is_upstream(each.module):
                    others.update(each.bound)
            if _GUARD.match(statement):
                continue
            may_affect = may_affect or _SETS_VARIABLE.search(statement) is not None
            if statement.startswith(("import", "from")):
                continue
            acts = "(" in statement or _WRITES.search(statement) is not None
            may_affect = may_affect or (acts and not others.isdisjoint(_WORD.findall(statement)))
        return _ImportOutline(tuple(reached), may_affect or decorated, classes, _HOOKS.search(text) is not None)


def _imports(statement: str) -> Iterator[_Import]:
    """Yield the imports in a statement of a file's top level."""
    if "import" not in statement:
        return
    for found in _IMPORT.finditer(_COMMENT.sub("", statement)):
        if found["modules"] is not None:
            for name, alias in _ALIAS.findall(found["modules"]):
                yield _Import(0, name, (), (alias or name.partition(".")[0],))
        else:
            aliases = _ALIAS.findall(found["names"])
            names = tuple(name for name, _ in aliases)
            yield _Import(
                found["dots"].count("."), found["module"], names, tuple(alias or name for name, alias in aliases)
            )
