"""From an import statement to a source file, without importing anything; and the files that make up a program.

Files that are only imported are parsed without the bodies of their functions, each of which is parsed when it is used.
Two thirds of an imported file are functions that no recipe calls, and parsing is most of what an import costs. Cutting
them out takes no tokeniser, because what is cut is checked: the rest of the file must parse, and every cut must turn
out to be the whole body of the function that begins above it. Where a bracket is open at the border of a cut, that
fails, and the file is parsed whole. Strings over several lines and continued lines are made one line each before cuts
are looked for, so that none begins or ends in one.

A program is a file and all that importing it runs, in the order in which Python runs it. What modules hold belongs to a
program. Where importing a module changes what another one holds (it replaces a function, fills a registry), the
programs that have it are evaluated apart from those that do not. Upstream's own modules are left out: what a release
holds once it is imported is known without its source.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import refuse_huge
from mfsdp_lint.inputs.imports import (
    SOURCE_FOLDERS,
    STDLIB,
    ModuleSearch,
    closure,
    folder_of,
    imports_of,
    relative_target,
)
from mfsdp_lint.inputs.projects import shown
from mfsdp_lint.inputs.sources import NOTEBOOK, Sources, Unreadable
from mfsdp_lint.readers.python.values.objects import Module
from mfsdp_lint.readers.relevance import Relevance

_HEAD_END = r":(?:[ ]*\#[^\n]*)?\n"
_DEFINITION = re.compile(
    rf"""
    ^([ ]*)def[ ]
    (?:(?![^\n]*{_HEAD_END})[^\n]*\n\1[ )]){{0,60}}[^\n]*{_HEAD_END}  # the head, to the first line that ends in a colon
    ((?:(?:\1[ ]+[^ \n][^\n]*|[ ]*(?:\#[^\n]*)?)\n)+)              # the body: what is deeper, blank or a comment
    """,
    re.MULTILINE | re.VERBOSE,
)
_LONG_STRING = re.compile(r'"""[^"]*(?:"(?!"")[^"]*)*"""')
_BEYOND = ("'''", '\\"""', '""""', "\r", "\f", "\t")
"""Text too rare in source code to reason about: other long strings, escaped ends, empty ones, other white space."""
_COMMENT_CONTINUED = re.compile(r"^[^#\n]*#[^\n]*\\\n", re.MULTILINE)
_OTHER_LINES = ("\r", "\f")
"""Text that ends lines otherwise, or that a parser leaves out of the indentation."""
_NESTING = (ast.ClassDef, ast.If, ast.Try, ast.With, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
_SHORT = 120
"""Characters; parsing a shorter body at once costs less than cutting it out."""


class _Cut(NamedTuple):
    """A body that was left out: its text, the number of the line above it, and where it ends, if that is known."""

    text: str
    above: int
    end: tuple[int, int] | None = None


class Unread(ast.FunctionDef):
    """A function whose body is parsed when it is first asked for; from then on it is a function like any other."""

    cut: _Cut

    if not TYPE_CHECKING:
        body = property(lambda self: read_body(self).body)
        end_lineno = property(lambda self: self.cut.end[0] if self.cut.end else read_body(self).end_lineno)
        end_col_offset = property(lambda self: self.cut.end[1] if self.cut.end else read_body(self).end_col_offset)


class UnreadableBody(ast.stmt):
    """Stands for the body of a function that is no Python to this interpreter: nothing is known of what it does."""


def outline(text: str) -> ast.Module:
    """Return the syntax tree of a file whose functions are parsed later. Raises the errors of `ast.parse`.

    Where a class or another block ends with such a function, that block's own end is not that of the file.
    """
    masked = _masked(text)
    cuts: dict[int, _Cut] = {}
    kept: list[str] = []
    line, end = 1, 0
    for found in _DEFINITION.finditer(masked):
        start, stop = found.span(2)
        if stop - start < _SHORT:
            continue
        head = line + text.count("\n", end, found.start())
        below = head + text.count("\n", found.start(), start)
        height = text.count("\n", start, stop)
        # `pass` is no expression: where a bracket is open, it is an error.
        kept += (text[end:start], found.group(1), " pass", "\n" * height)
        cuts[head] = _Cut(text[start:stop], below - 1)
        line, end = below + height, stop
    if cuts:
        try:
            tree = ast.parse("".join((*kept, text[end:])))
        except SyntaxError:
            return ast.parse(text)
        if _leave_out(tree, cuts):
            return tree
    return ast.parse(text)


def checked(text: str) -> ast.Module:
    """Return the syntax tree of a file that is parsed whole, and its functions once more when somebody asks for them.

    Bodies are most of the memory of a tree, and most of them nobody asks for. Raises the errors of `ast.parse`.
    """
    tree = ast.parse(text)
    if not any(odd in text for odd in _OTHER_LINES):
        _let_go(tree.body, text.split("\n"))
    return tree


def _let_go(statements: list[ast.stmt], lines: list[str]) -> None:
    """Defer the reading of the functions among these statements, and in the blocks of these."""
    for node in statements:
        if type(node) is ast.FunctionDef and (cut := _body_in(node, lines)):
            del node.body, node.end_lineno, node.end_col_offset
            node.__class__ = Unread
            node.cut = cut  # type: ignore[attr-defined]  # it is an Unread by now
        elif isinstance(node, _NESTING):
            _let_go(node.body, lines)
            _let_go(getattr(node, "orelse", []), lines)


def _body_in(node: ast.FunctionDef, lines: list[str]) -> _Cut | None:
    """Return the body of a function as whole lines; None where it is short, or shares a line with something else."""
    first, end = node.body[0], (node.end_lineno or 0, node.end_col_offset or 0)
    above = min(each.lineno for each in (first, *getattr(first, "decorator_list", ()))) - 1
    body = lines[above : end[0]]
    if not body[0][: first.col_offset].isspace() or body[-1].endswith("\\") or sum(map(len, body)) < _SHORT:
        return None
    return _Cut("\n".join(body), above, end)


def _masked(text: str) -> str:
    """Return the text with its long strings and continued lines made one line each, of the same length.

    Three quotes begin a string if no other string and no comment is open there. Returns an empty text where that is
    not certain.
    """
    if any(odd in text for odd in _BEYOND):
        return ""
    parts: list[str] = []
    end = 0
    for found in _LONG_STRING.finditer(text):
        start = found.start()
        line = text.rfind("\n", end, start) + 1
        before = text[max(end, line) : start]
        if "'" in before or '"' in before or "#" in before or text[line - 2 : line] == "\\\n":
            return ""
        parts += (text[end:start], "_" * (found.end() - start))
        end = found.end()
    masked = "".join((*parts, text[end:]))
    return "" if _COMMENT_CONTINUED.search(masked) else masked.replace("\\\n", "__")


def _leave_out(tree: ast.Module, cuts: dict[int, _Cut]) -> bool:
    """Defer the reading of the functions with these heads; False where a cut is not the body of a function."""
    functions = [node for node in _functions(tree.body) if node.lineno in cuts]
    if len(functions) != len(cuts):
        return False
    for node in functions:
        only = node.body[0]
        if len(node.body) > 1 or type(only) is not ast.Pass or only.lineno != cuts[node.lineno].above + 1:
            return False
    for node in functions:
        cut = cuts[node.lineno]
        node.__class__ = Unread
        node.cut = cut  # type: ignore[attr-defined]  # it is an Unread by now
    return True


def _functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if type(node) is ast.FunctionDef:
            yield node
        if isinstance(node, _NESTING):
            yield from _functions(node.body)
            yield from _functions(getattr(node, "orelse", []))


def read_body(node: Unread) -> Any:
    """Parse the body of a function; return the function."""
    cut = node.cut
    node.__class__ = ast.FunctionDef  # type: ignore[assignment]  # what it was at first
    whole: Any
    try:
        (whole,) = with_newer_strings("\n" * (cut.above - 1) + "def _():\n" + cut.text, ast.parse).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        unreadable = UnreadableBody(lineno=cut.above, col_offset=0, end_lineno=cut.above, end_col_offset=0)
        node.body, node.end_lineno, node.end_col_offset = [unreadable], cut.above, 0
        return node
    node.body, node.end_lineno, node.end_col_offset = whole.body, whole.end_lineno, whole.end_col_offset
    _read.append(node)
    return node


MOST_READ = 1_500
"""Functions whose bodies are kept between two evaluations (about 40 MB)."""

_read: deque[Unread] = deque()
"""Functions whose bodies were read, those that were read first in front."""


def let_go_of_bodies() -> None:
    """Forget the bodies that were read first, where many were: who asks for one again has it parsed again.

    This is for the time between evaluations, which tell nodes apart.
    """
    while len(_read) > MOST_READ:
        node = _read.popleft()
        del node.body, node.end_lineno, node.end_col_offset
        node.__class__ = Unread


PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""A file may be valid for another one."""

Parser = Callable[[str], ast.Module]

_parsed: dict[tuple[str, Parser], tuple[str, ast.Module]] = {}
"""The last trees of every file, with the text they are of: proofs of fixes read mostly unchanged files again."""


def parse(path: str, text: str, parser: Parser = checked) -> ast.Module:
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
        return with_newer_strings(text, parser)
    except SyntaxError as error:
        raise Unreadable(path, error.lineno or 1, error.offset or 1, f"not valid {PYTHON}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        reason = "nested too deeply" if isinstance(error, (RecursionError, MemoryError)) else str(error)
        raise Unreadable(path, 1, 1, f"not valid {PYTHON}: {reason}") from None


def with_newer_strings(text: str, parser: Parser) -> ast.Module:
    """Return the syntax tree of a text; f-strings that only Python 3.12 reads (PEP 701) are calls of unknown result.

    They may hold quotes, backslashes and line breaks. Raises the errors of the parser.
    """
    try:
        return parser(text)
    except SyntaxError as error:
        is_about_strings = "f-string" in error.msg or "string literal" in error.msg
        older = _without_newer_strings(text) if sys.version_info < (3, 12) and is_about_strings else None
        if older is None:
            raise
    return parser(older)


def _without_newer_strings(text: str) -> str | None:
    """Replace such f-strings by calls of the same size, so that places stay; None where the text is no Python."""
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    try:
        found = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True).resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    lines = [0, *(each.end() for each in re.finditer("\r\n|\r|\n", text))]
    strings = [
        (lines[place.start.line - 1] + place.start.column, lines[place.end.line - 1] + place.end.column)
        for node, place in found.items()
        if isinstance(node, (cst.FormattedString, cst.ConcatenatedString))
    ]
    parts, end = [], 0
    for start, stop in sorted(strings, key=lambda each: (each[0], -each[1])):
        string = text[start:stop]
        if start >= end and not _is_expression(string):
            above, _, last = string.rpartition("\n")
            called, breaks = "hash(", string.count("\n")
            parts += [text[end:start], called, "\n" * breaks, ")".rjust(len(last.encode()) - len(called) * (not above))]
            end = stop
    return "".join((*parts, text[end:]))


def _is_expression(text: str) -> bool:
    try:
        ast.parse(f"({text})")
    except SyntaxError:
        return False
    return True


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


_STATEMENTS = re.compile(r"^(?=[^\s#)\]}\"'])", re.MULTILINE)
_DEFINES = re.compile(r"(?:async\s+)?(?:def|class)\b|@")
_GUARD = re.compile(r"if\b[^\n:]*__name__")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<dots>[. \t]*)(?P<module>[\w.]*)[ \t]+import\b[ \t]*(?P<names>\([^)]*\)|[^\n]*)"
    r"|import[ \t]+(?P<modules>[^\n]*))",
    re.MULTILINE,
)
_ALIAS = re.compile(r"([A-Za-z_][\w.]*)(?:\s+as\s+(\w+))?")
_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WRITES = re.compile(r"^[ \t]*(?:del\b|[A-Za-z_][\w.]*(?:\[[^\n]*\]|\.\w+)[^\n=]*=(?!=))", re.MULTILINE)
_INDIRECT = frozenset(("sys", "setattr", "delattr", "patch", "mock", "exec", "import_module", "globals"))
"""Words with which the top level of a file may change other modules without the name of one of them."""
_CLASS = re.compile(r"^[ \t]*class\b", re.MULTILINE)
_HOOKS = re.compile(
    r"\b__(?:init_subclass|set_name|prepare)__\b|\bclass\b[^\n(]*\([ \t]*(?:\w+\.)*(?:type|EnumType|\w*Meta)\b"
)
"""Text of a class that runs code where another class is defined with it: its hook, or the head of a metaclass."""
_SETS_VARIABLE = re.compile(
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

    def runs_hooks(self, path: str) -> bool:
        """Tell whether the definition of a class in a file may run code of another file."""
        return self._outline(path).classes and any(
            self._outline(each).hooks for each in self.files(path) if each != path
        )

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
